//! The end and the pipes of a process.

use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};

use mcp_core::close_signal::CloseSignal;

/// Set when a process has ended. The status is `None` when the operating system does not report it.
pub(super) type ProcessEnd = CloseSignal<Option<ExitStatus>>;

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

/// Starts the thread that waits for the end of a process, and returns the pipes.
pub(super) fn watch(
    pipes: io::Result<ProcessPipes>,
    wait: impl FnOnce() + Send + 'static,
) -> io::Result<ProcessPipes> {
    let thread = std::thread::Builder::new().name("mcp-child".to_owned());
    thread.spawn(wait).and(pipes)
}
