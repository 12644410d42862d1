//! [`ChildChannel`]: a client's channel to a server that it starts.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Connection, Frames, OneWayMessage,
    OutgoingRequest, ServerIdentity, Transport,
};
use mcp_types::ProtocolVersion;
use parking_lot::Mutex;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::Process;
use super::command::ServerCommand;
use super::stderr::{self, StderrCapture};
use crate::channel::PipeChannel;
use crate::pipe::Pipe;

/// Time to exit after standard output has ended. After that the close reason has no exit status.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A channel to a server that runs as a child process.
///
/// The channel owns the server and all processes of its process group; clones share them.
/// [`close`](Channel::close) closes the server's standard input and waits for
/// [`close_timeout`](ServerCommand::close_timeout), then sends SIGTERM and waits for
/// [`term_timeout`](ServerCommand::term_timeout), then sends SIGKILL. Dropping the last clone skips the
/// first wait and needs no runtime: a watchdog process (a `/bin/sh` in the process group) sends the
/// signals, also when this program ends at the same time, and also when it crashes or is killed.
/// Without `/bin/sh`, dropping the last clone sends SIGKILL at once. On Windows the process is
/// terminated where Unix sends SIGTERM.
///
/// Output on standard error is not an error. Its last lines are part of the close reason when the
/// server ends by itself, and part of the error when the server answers a call with an internal
/// error (-32603).
///
/// # Examples
///
/// ```no_run
/// use mcp::ServerCommand;
/// use mcp::core::ChannelError;
/// use mcp::stdio::ChildChannel;
///
/// # async fn connect() -> Result<(), ChannelError> {
/// let command = ServerCommand::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("LANG", "en");
/// let channel = ChildChannel::spawn(command)?;
/// # Ok(())
/// # }
/// ```
// spec: STDIO-01, STDIO-06, STDIO-12
#[derive(Debug, Clone)]
pub struct ChildChannel {
    shared: Arc<ChildState>,
}

#[derive(Debug)]
struct ChildState {
    command: ServerCommand,
    peer: String,
    child: Mutex<Arc<Child>>,
}

/// A started process of the server. [`Channel::reopen`] replaces it.
#[derive(Debug)]
struct Child {
    pipe: PipeChannel,
    process: Arc<Process>,
    capture: StderrCapture,
}

impl ChildChannel {
    /// Starts a server.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::Connect`] when the server cannot be started, for example because the program or the
    /// working directory does not exist. Its source says how to repair that.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime with IO enabled.
    pub fn spawn(command: ServerCommand) -> Result<Self, ChannelError> {
        let peer = command.peer();
        let child = Child::spawn(&command, &peer)?;
        Ok(Self {
            shared: Arc::new(ChildState {
                command,
                peer,
                child: Mutex::new(Arc::new(child)),
            }),
        })
    }

    /// Returns the last lines that the server's current process has written to its standard error, separated by
    /// line feeds: at most 20 lines and 8 KiB. The string is empty when there are none.
    pub fn stderr_tail(&self) -> String {
        self.shared.child().capture.text()
    }
}

impl ChildState {
    fn child(&self) -> Arc<Child> {
        self.child.lock().clone()
    }
}

impl Child {
    fn spawn(command: &ServerCommand, peer: &str) -> Result<Self, ChannelError> {
        let failed = |error: io::Error| ChannelError::Connect {
            peer: peer.to_owned(),
            source: error.into(),
        };
        let (process, pipes) = command.spawn().map_err(failed)?;
        let capture = StderrCapture::default();
        if let Some(stderr) = pipes.stderr {
            let stderr = ChildStderr::from_std(stderr).map_err(failed)?;
            tokio::spawn(stderr::read(stderr, capture.clone(), peer.to_owned()));
        }
        let close_reason = close_reason(process.clone(), capture.clone());
        let pipe = Pipe::open(
            ChildStdout::from_std(pipes.stdout).map_err(failed)?,
            ChildStdin::from_std(pipes.stdin).map_err(failed)?,
            command.line_limit,
        );
        let pipe = PipeChannel::over(pipe, command.line_limit, peer, close_reason);
        Ok(Self {
            pipe,
            process,
            capture,
        })
    }

    /// Ends the server: closes its input, then terminates it, then kills it.
    // spec: STDIO-12
    async fn close(&self, command: &ServerCommand) {
        // The server's input is closed in any case.
        let _ = self.pipe.close().await;
        let process = &self.process;
        if timeout(command.close_timeout, process.ended.closed())
            .await
            .is_ok()
        {
            return;
        }
        process.terminate();
        if timeout(command.term_timeout, process.ended.closed())
            .await
            .is_ok()
        {
            return;
        }
        process.kill();
        let _ = timeout(EXIT_TIMEOUT, process.ended.closed()).await;
    }
}

/// Ends the process without waiting for it, and without a thread that would end with this program.
impl Drop for Child {
    fn drop(&mut self) {
        if !self.process.ended.is_closed() {
            self.process.end_in_background();
        }
    }
}

/// Describes the end of the server: its exit status and its standard error's last lines.
async fn close_reason(process: Arc<Process>, capture: StderrCapture) -> CloseReason {
    let mut reason = match timeout(EXIT_TIMEOUT, process.ended.closed()).await {
        Ok(Some(status)) => format!("the server has ended with {status}"),
        Ok(None) => "the server has ended".to_owned(),
        Err(_) => "the server has closed its output".to_owned(),
    };
    let stderr = capture.final_text().await;
    if !stderr.is_empty() {
        reason.push_str("; its standard error ends with:\n");
        reason.push_str(&stderr);
    }
    CloseReason::broken(reason)
}

impl Channel for ChildChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        self.shared.child().pipe.call(out)
    }

    fn connection(&self) -> Option<Connection> {
        Some(Connection::new(Transport::Pipe))
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.shared.peer)
    }

    /// Hashes the program, its arguments, its environment and its working directory.
    fn identity(&self) -> Option<ServerIdentity> {
        Some(self.shared.command.identity())
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.shared.child().pipe.notify(out)
    }

    fn inbound(&self) -> Option<Frames> {
        self.shared.child().pipe.inbound()
    }

    fn is_pipe(&self) -> bool {
        true
    }

    fn unread_line(&self) -> Option<String> {
        self.shared.child().pipe.unread_line()
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.shared.child().pipe.set_version(version);
    }

    /// Starts a new process of the server and ends the old one.
    // spec: COMPAT-15, STDIO-15
    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let child = Arc::new(Child::spawn(&shared.command, &shared.peer)?);
            let old = std::mem::replace(&mut *shared.child.lock(), child);
            // Dropped after the lock, because dropping a child takes time.
            drop(old);
            Ok(())
        })
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        self.shared.child().pipe.closed()
    }

    fn stderr(&self) -> BoxFuture<'static, Option<String>> {
        let capture = self.shared.child().capture.clone();
        Box::pin(async move { Some(capture.settled_text().await).filter(|text| !text.is_empty()) })
    }

    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        let (shared, child) = (self.shared.clone(), self.shared.child());
        Box::pin(async move {
            child.close(&shared.command).await;
            Ok(())
        })
    }
}
