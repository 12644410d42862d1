//! The state and pipes of a process.

use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};

use tokio::sync::watch;

/// The state of a watched process.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProcessState {
    Running,
    /// The process has ended. The status is `None` when the operating system does not report it.
    Ended(Option<ExitStatus>),
}

/// A sender for the state of a process that has just started.
pub(super) fn running() -> watch::Sender<ProcessState> {
    watch::Sender::new(ProcessState::Running)
}

/// The parent's ends of the process pipes.
pub(super) struct ProcessPipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    /// `None` when standard error is inherited or discarded.
    pub(super) stderr: Option<ChildStderr>,
}

impl ProcessPipes {
    /// # Errors
    ///
    /// Returns an error when standard input or output is not a pipe.
    pub(super) fn new(
        stdin: Option<ChildStdin>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        Ok(Self {
            stdin,
            stdout,
            stderr,
        })
    }
}
