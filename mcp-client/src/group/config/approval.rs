//! Approval of a configuration file's commands: a program asks its user before it runs one.

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, catch_panic};
use serde_json::json;

use crate::error::{Error, ErrorKind};
use crate::group::consents::{Consents, Subject};

/// A command of a configuration file before it is run: the argument of the hook in
/// [`GroupConfig::approve`](super::GroupConfig::approve).
///
/// A program that asks its user should show all fields: arguments and environment variables decide
/// what is run as much as the name of the program does.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingCommand {
    /// The file, if it was [read](super::GroupConfig::read).
    pub file: Option<Arc<str>>,
    /// The server's name in the file.
    pub server: Arc<str>,
    /// The program.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The environment variables of the entry and of its `envFile`.
    pub env: Vec<(String, String)>,
    /// The working directory, if the entry sets one.
    pub cwd: Option<String>,
}

impl PendingCommand {
    /// Returns the subject of the user's answer. Its definition has everything that decides what is run.
    pub fn subject(&self) -> Subject {
        let file = self.file.as_deref().unwrap_or_default();
        let definition = json!({
            "command": self.command,
            "args": self.args,
            "env": self.env,
            "cwd": self.cwd,
        });
        Subject::new("command", file, &*self.server, definition)
    }
}

/// Omits the values of arguments and variables, which may be secrets.
impl fmt::Debug for PendingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("PendingCommand")
            .field("server", &self.server)
            .field("command", &program_name(&self.command))
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// Returns the program of a command for `Debug`. A whole command line in its place is cut at its first
/// space, because its arguments may be secrets.
pub(super) fn program_name(command: &str) -> &str {
    let first = command.split_once(char::is_whitespace);
    first.map_or(command, |(first, _)| first)
}

/// The approval hook of a configuration file and its decisions. Without a hook every command is approved.
#[derive(Clone, Default)]
pub(in crate::group) struct Approval {
    pub(super) hook: Option<ApprovalHook>,
    pub(super) agreed: Consents,
    /// Commands that the hook has refused, so that a restart does not ask again.
    pub(super) refused: Consents,
}

pub(super) type ApprovalHook =
    Arc<dyn Fn(PendingCommand) -> BoxFuture<'static, bool> + Send + Sync>;

#[cfg_attr(
    not(feature = "stdio"),
    expect(dead_code, reason = "only child processes need an approval")
)]
impl Approval {
    pub(in crate::group) async fn check(&self, command: PendingCommand) -> Result<(), Error> {
        let Some(hook) = &self.hook else {
            return Ok(());
        };
        let subject = command.subject();
        if self.agreed.contains(&subject) {
            return Ok(());
        }
        if self.refused.contains(&subject) {
            return Err(ErrorKind::NotApproved.into());
        }
        // The hook is called inside the block, so that a panic before its first await is caught.
        let asking = async { hook(command).await };
        let is_approved = catch_panic(asking).await.unwrap_or(false);
        let store = if is_approved {
            &self.agreed
        } else {
            &self.refused
        };
        store.insert(&subject).await;
        if is_approved {
            Ok(())
        } else {
            Err(ErrorKind::NotApproved.into())
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("has_hook", &self.hook.is_some())
            .finish_non_exhaustive()
    }
}
