//! How a server is started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::{Pipes, Process, environment};
use crate::PipeChannel;

/// The command that starts a server, and how it is ended.
///
/// No shell is involved. Of the variables of this process the server gets those without which
/// hardly a program works (`PATH`, `HOME`, `LANG` and a few more), and none that may hold a
/// secret; give it others by [`env`](Self::env) or [`inherit_env`](Self::inherit_env).
// spec: STDIO-18
#[derive(Debug, Clone)]
#[must_use = "starts nothing by itself"]
pub struct ServerCommand {
    program: OsString,
    args: Vec<OsString>,
    /// `None` for variables that the server is not to have.
    env: BTreeMap<OsString, Option<OsString>>,
    inherits_all: bool,
    folder: Option<PathBuf>,
    stderr: Stderr,
    name: Option<String>,
    pub(super) line_limit: usize,
    pub(super) close_timeout: Duration,
    pub(super) term_timeout: Duration,
}

/// Where the standard error of a server goes.
// spec: STDIO-06
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stderr {
    /// Its lines become events of `tracing` (level debug), and the last of them are kept for the
    /// error that tells of the server's end.
    #[default]
    Log,
    /// To the standard error of this process.
    Inherit,
    /// Nowhere.
    Discard,
}

/// A server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("there is no program {program:?}{}", if *has_space { "; give its arguments apart from its name" } else { "; is it installed, and its folder in PATH?" })]
    NoProgram {
        /// Its name.
        program: OsString,
        /// It looks like a whole command line.
        has_space: bool,
    },
    /// The working folder does not exist.
    #[error("there is no folder {0:?} to start it in")]
    NoFolder(PathBuf),
    /// The operating system does not start it.
    #[error(transparent)]
    Io(io::Error),
}

impl ServerCommand {
    /// A program without arguments. On Windows, endings such as `.cmd` are found.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherits_all: false,
            folder: None,
            stderr: Stderr::default(),
            name: None,
            line_limit: PipeChannel::LINE_LIMIT,
            close_timeout: Duration::from_secs(2),
            term_timeout: Duration::from_secs(2),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(key.into(), Some(value.into()));
        self
    }

    /// Hands variables of this process on.
    pub fn inherit_env(mut self, keys: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        for key in keys {
            let key = key.into();
            if let Some(value) = std::env::var_os(&key) {
                self.env.insert(key, Some(value));
            }
        }
        self
    }

    /// Hands all variables of this process on, secrets among them.
    pub fn inherit_all_env(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// The folder to start it in; that of this process by default.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Where its standard error goes.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// What errors call the server; the program's file name by default. Arguments are never told:
    /// they may hold secrets.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The longest line in bytes that is taken from the server, 64 MiB by default.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// How long a closed server may take to end by itself, 2 s by default.
    pub fn close_timeout(mut self, time: Duration) -> Self {
        self.close_timeout = time;
        self
    }

    /// How long a server that was told to end (SIGTERM) may take, 2 s by default.
    pub fn term_timeout(mut self, time: Duration) -> Self {
        self.term_timeout = time;
        self
    }

    pub(super) fn peer(&self) -> String {
        let file = || {
            let name = Path::new(&self.program).file_name();
            name.unwrap_or(&self.program).to_string_lossy().into_owned()
        };
        self.name.clone().unwrap_or_else(file)
    }

    pub(super) fn spawn(&self) -> Result<(Arc<Process>, Pipes), SpawnError> {
        if let Some(folder) = &self.folder
            && !folder.is_dir()
        {
            return Err(SpawnError::NoFolder(folder.clone()));
        }
        let mut command = Command::new(self.found_program());
        command.args(&self.args);
        if !self.inherits_all {
            command.env_clear();
            command.envs(environment::safe(std::env::vars_os()));
        }
        for (key, value) in &self.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Log => Stdio::piped(),
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Discard => Stdio::null(),
        });
        Process::spawn(command).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SpawnError::NoProgram {
                program: self.program.clone(),
                has_space: self.program.to_string_lossy().contains(' '),
            },
            _ => SpawnError::Io(error),
        })
    }

    #[cfg(unix)]
    fn found_program(&self) -> &OsStr {
        &self.program
    }

    /// The operating system finds `.exe` files alone.
    #[cfg(windows)]
    fn found_program(&self) -> OsString {
        let path = match self.env.get(OsStr::new("PATH")) {
            Some(path) => path.clone(),
            None => std::env::var_os("PATH"),
        };
        let endings = std::env::var_os("PATHEXT");
        super::program::find(
            &self.program,
            path.as_deref(),
            endings.as_deref(),
            Path::is_file,
        )
        .map_or_else(|| self.program.clone(), PathBuf::into_os_string)
    }
}

/// Takes program, arguments, variables and folder. What else a command can have (its standard
/// streams, a user, code that runs before it) is not taken.
impl From<&Command> for ServerCommand {
    fn from(command: &Command) -> Self {
        let mut taken = Self::new(command.get_program()).args(command.get_args());
        taken.folder = command.get_current_dir().map(Path::to_owned);
        let variables = command.get_envs();
        taken
            .env
            .extend(variables.map(|(key, value)| (key.to_owned(), value.map(OsStr::to_owned))));
        taken
    }
}
