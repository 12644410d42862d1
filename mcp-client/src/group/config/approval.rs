//! Approval of a configuration file's commands: a program asks its user before it runs one.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_core::{BoxFuture, ServerIdentity, catch_panic};
use parking_lot::Mutex;

use crate::error::{Error, ErrorKind};

/// A command of a configuration file before it is run: the argument of the hook in
/// [`GroupConfig::approve`](super::GroupConfig::approve).
///
/// A program that asks its user should show all fields: arguments and environment variables decide
/// what is run as much as the name of the program does.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingCommand {
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
    /// Creates a command without arguments.
    pub fn new(server: impl Into<Arc<str>>, command: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
        }
    }

    /// Returns a hash of program, arguments, environment variables and working directory, in
    /// hexadecimal digits. A program that remembers approvals stores this value: a command that
    /// changes after its approval has another one.
    pub fn fingerprint(&self) -> String {
        self.identity().to_string()
    }

    fn identity(&self) -> ServerIdentity {
        let count = self.args.len().to_string();
        let cwd = self.cwd.as_deref().unwrap_or_default();
        let mut parts = vec![&*self.command, cwd, &count];
        parts.extend(self.args.iter().map(String::as_str));
        for (name, value) in &self.env {
            parts.extend([name.as_str(), value]);
        }
        ServerIdentity::from_parts("config", parts)
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

/// The approval hook of a configuration file and its decisions. Clones share the decisions. Without
/// a hook every command is approved.
#[derive(Clone, Default)]
pub struct Approval(Option<Arc<ApprovalState>>);

type ApprovalHook = Box<dyn Fn(PendingCommand) -> BoxFuture<'static, bool> + Send + Sync>;

struct ApprovalState {
    hook: ApprovalHook,
    /// The decision about each server's last command.
    decisions: Mutex<HashMap<Arc<str>, (ServerIdentity, bool)>>,
}

impl Approval {
    pub(super) fn with_hook<F, Fut>(hook: F) -> Self
    where
        F: Fn(PendingCommand) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        Self(Some(Arc::new(ApprovalState {
            hook: Box::new(move |command| Box::pin(hook(command))),
            decisions: Mutex::default(),
        })))
    }

    /// Checks that a command may be run. The hook is called for a server's first command, and
    /// again when the command has changed. A hook that panics refuses.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the hook refuses the command.
    pub async fn check(&self, command: PendingCommand) -> Result<(), Error> {
        let Some(state) = &self.0 else {
            return Ok(());
        };
        let (server, identity) = (command.server.clone(), command.identity());
        let known = state.decisions.lock().get(&server).copied();
        let is_approved = match known {
            Some((decided, is_approved)) if decided == identity => is_approved,
            _ => {
                // The hook is called inside the block, so that a panic before its first await is
                // caught.
                let asking = async { (state.hook)(command).await };
                let is_approved = catch_panic(asking).await.unwrap_or(false);
                let mut decisions = state.decisions.lock();
                decisions.insert(server, (identity, is_approved));
                is_approved
            }
        };
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
            .field("has_hook", &self.0.is_some())
            .finish_non_exhaustive()
    }
}
