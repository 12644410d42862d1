//! [`ServerCommand`]: the command that starts a server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Once};
use std::time::Duration;

use mcp_core::ServerIdentity;

use super::process::ProcessPipes;
use super::{Process, environment};
use crate::channel::PipeChannel;

/// The command that starts a server, and the timeouts of its end.
///
/// The program is started without a shell. It inherits the environment variables that most programs
/// need (`PATH`, `HOME`, `LANG`, those of proxies and certificates such as `HTTPS_PROXY`, and a few more) and no
/// variable that may contain a secret: a proxy's URL with a password is [withheld](Self::withheld_env). Pass
/// others with [`env`](Self::env) or [`inherit_env`](Self::inherit_env).
///
/// A program without a path is looked up in `PATH` alone.
// spec: STDIO-18
#[derive(Clone)]
#[must_use = "starts nothing by itself"]
pub struct ServerCommand {
    program: OsString,
    args: Vec<OsString>,
    /// `None` removes the variable.
    env: BTreeMap<OsString, Option<OsString>>,
    inherits_all: bool,
    folder: Option<PathBuf>,
    stderr: Stderr,
    name: Option<String>,
    pub(super) line_limit: usize,
    pub(super) close_timeout: Duration,
    pub(super) term_timeout: Duration,
}

/// The destination of a server's standard error.
// spec: STDIO-06
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stderr {
    /// Lines become `tracing` events (target `mcp::server_stderr`, level debug). The last ones are
    /// kept for the close reason.
    #[default]
    Log,
    /// This process's standard error.
    Inherit,
    /// Discarded.
    Discard,
}

impl ServerCommand {
    /// Creates a command without arguments. On Windows, extensions such as `.cmd` may be omitted.
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

    /// Sets an environment variable.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(key.into(), Some(value.into()));
        self
    }

    /// Passes on variables of this process.
    pub fn inherit_env(mut self, keys: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        for key in keys {
            let key = key.into();
            if let Some(value) = std::env::var_os(&key) {
                self.env.insert(key, Some(value));
            }
        }
        self
    }

    /// Passes on all variables of this process, including secrets.
    pub fn inherit_all_env(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// Returns the names of this process's proxy variables that the server does not get, because their URLs contain a
    /// user or a password. [`inherit_env`](Self::inherit_env) passes them on.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::ServerCommand;
    ///
    /// for name in ServerCommand::new("files").withheld_env() {
    ///     eprintln!("{name}: its password is not passed on");
    /// }
    /// ```
    pub fn withheld_env(&self) -> Vec<String> {
        if self.inherits_all {
            return Vec::new();
        }
        let withheld = environment::withheld(std::env::vars_os());
        let withheld = withheld.filter(|name| !self.env.contains_key(name));
        withheld
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Sets the working directory. Default: that of this process.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the destination of standard error. Default: [`Stderr::Log`].
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Sets the server's name in errors. Default: the program's file name. Errors never show
    /// arguments, which may be secrets.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the line limit in bytes. Longer lines of the server are discarded. Default: 64 MiB.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets the time to exit after standard input is closed. Default: 2 seconds.
    pub fn close_timeout(mut self, time: Duration) -> Self {
        self.close_timeout = time;
        self
    }

    /// Sets the time to exit after SIGTERM. Default: 2 seconds.
    pub fn term_timeout(mut self, time: Duration) -> Self {
        self.term_timeout = time;
        self
    }

    pub(super) fn peer(&self) -> String {
        let file = || {
            let program = self.shown_program();
            let name = Path::new(&program).file_name();
            name.unwrap_or(&program).to_string_lossy().into_owned()
        };
        self.name.clone().unwrap_or_else(file)
    }

    /// Returns the server's identity: everything that decides which program runs and what it
    /// receives.
    pub(super) fn identity(&self) -> ServerIdentity {
        let inherits: &[u8] = if self.inherits_all { b"all" } else { b"some" };
        let folder = self
            .folder
            .as_ref()
            .map_or(OsStr::new(""), |name| name.as_os_str());
        let count = self.args.len().to_le_bytes();
        let (program, folder) = (self.program.as_encoded_bytes(), folder.as_encoded_bytes());
        let mut parts = vec![inherits, program, folder, &count];
        parts.extend(self.args.iter().map(|arg| arg.as_encoded_bytes()));
        for (key, value) in &self.env {
            parts.push(key.as_encoded_bytes());
            match value {
                Some(value) => parts.extend([b"set" as &[u8], value.as_encoded_bytes()]),
                None => parts.push(b"removed"),
            }
        }
        ServerIdentity::from_parts("command", parts)
    }

    /// Returns a hash of everything that decides what runs: program, arguments, variables and working directory, and
    /// the size and modification time of files among them. A program that remembers
    /// something about a server stores this value: an updated server has another one.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::ServerCommand;
    ///
    /// let files = ServerCommand::new("files").arg("/tmp");
    /// assert_eq!(files.fingerprint(), files.clone().fingerprint());
    /// assert_ne!(files.fingerprint(), ServerCommand::new("files").fingerprint());
    /// ```
    pub fn fingerprint(&self) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let is_name = Path::new(&self.program).components().count() == 1;
        let folders = std::env::split_paths(&path).filter(|_| is_name);
        let program = folders
            .map(|folder| folder.join(&self.program))
            .find(|file| file.is_file());
        let arguments = self.args.iter().map(|argument| folder.join(argument));
        let files = program
            .into_iter()
            .chain([folder.join(&self.program)])
            .chain(arguments);
        let mut parts = vec![self.identity().to_string()];
        parts.extend(files.filter_map(|file| {
            let file = std::fs::metadata(file).ok().filter(Metadata::is_file)?;
            Some(format!("{} {:?}", file.len(), file.modified().ok()))
        }));
        ServerIdentity::from_parts("program", &parts).to_string()
    }

    /// Returns the program for messages. A whole command line that was passed as the program is cut
    /// at its first space, because its arguments may be secrets.
    fn shown_program(&self) -> OsString {
        let text = self.program.to_string_lossy();
        match text.split_once(char::is_whitespace) {
            Some((first, _)) if !Path::new(&self.program).is_file() => first.into(),
            _ => self.program.clone(),
        }
    }

    /// Starts a process.
    ///
    /// # Errors
    ///
    /// Returns an error whose message says how to repair it.
    pub(super) fn spawn(&self) -> io::Result<(Arc<Process>, ProcessPipes)> {
        let not_found = |message| io::Error::new(io::ErrorKind::NotFound, message);
        if let Some(folder) = &self.folder
            && !folder.is_dir()
        {
            return Err(not_found(format!(
                "there is no folder {folder:?} to start the server in"
            )));
        }
        let no_program = || {
            let cure = if self.program.to_string_lossy().contains(' ') {
                "; pass its arguments apart from its name"
            } else {
                "; is it installed, and its folder in PATH?"
            };
            not_found(format!(
                "there is no program {:?}{cure}",
                self.shown_program()
            ))
        };
        let mut command = Command::new(self.resolve_program().ok_or_else(no_program)?);
        command.args(&self.args);
        if !self.inherits_all {
            command.env_clear();
            command.envs(environment::inherited(std::env::vars_os()));
        }
        self.report_withheld();
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
        Process::spawn(command, self.term_timeout).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => no_program(),
            _ => error,
        })
    }

    /// Logs a variable that the server does not get, once for all servers.
    fn report_withheld(&self) {
        static REPORT: Once = Once::new();

        let variables = self.withheld_env();
        if !variables.is_empty() {
            REPORT.call_once(|| {
                tracing::warn!(
                    ?variables,
                    "the URL of a proxy contains a password: only servers whose settings list the variable get it"
                );
            });
        }
    }

    #[cfg(unix)]
    fn resolve_program(&self) -> Option<&OsStr> {
        Some(&self.program)
    }

    /// Windows itself finds only `.exe` files, and also looks in folders outside of `PATH`.
    #[cfg(windows)]
    fn resolve_program(&self) -> Option<OsString> {
        let mut given = self.env.iter();
        let path = match given.find(|(name, _)| name.eq_ignore_ascii_case("PATH")) {
            Some((_, path)) => path.clone(),
            None => std::env::var_os("PATH"),
        };
        let extensions = std::env::var_os("PATHEXT");
        super::program::find(
            &self.program,
            path.as_deref(),
            extensions.as_deref(),
            Path::is_file,
        )
        .map(PathBuf::into_os_string)
    }
}

/// Shows how many arguments there are and which variables are set. Their values may be secrets.
impl fmt::Debug for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<_> = self.env.keys().collect();
        f.debug_struct("ServerCommand")
            .field("program", &self.shown_program())
            .field("args", &self.args.len())
            .field("env", &set)
            .field("inherits_all", &self.inherits_all)
            .field("folder", &self.folder)
            .field("stderr", &self.stderr)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Copies program, arguments, environment variables and working directory. Other settings of the
/// command (standard streams, user, `pre_exec`) are ignored.
impl From<&Command> for ServerCommand {
    fn from(command: &Command) -> Self {
        let mut copy = Self::new(command.get_program()).args(command.get_args());
        copy.folder = command.get_current_dir().map(Path::to_owned);
        let variables = command.get_envs();
        copy.env
            .extend(variables.map(|(key, value)| (key.to_owned(), value.map(OsStr::to_owned))));
        copy
    }
}
