//! A server as a child process: started, watched, ended.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

mod command;
mod environment;
#[cfg(any(windows, test))]
mod program;
mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::borrow::Cow;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Frames, OneWayMessage, OutgoingRequest,
};
use mcp_types::ProtocolVersion;
use parking_lot::Mutex;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::PipeChannel;
pub use command::{ServerCommand, SpawnError, Stderr};
pub use stderr::LastWords;
use stderr::Tail;
#[cfg(unix)]
use unix::Process;
#[cfg(windows)]
use windows::Process;

/// After its output has ended, how long a server may take to exit before its end is told without
/// an exit status.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// A channel to a server that runs as a child process.
///
/// The server ends with the channel, and everything that it has started in its process group with
/// it: [`close`](Channel::close) ends its input and waits, then asks it to end (SIGTERM), then
/// ends it (SIGKILL). Dropping the channel does the same without the first wait, and without a
/// runtime: a thread does the last step. On Windows both end it at once, after the first wait.
///
/// What it writes to its standard error is no error; the last lines of it are told when it ends by
/// itself.
///
/// ```no_run
/// use mcp_core::ChannelError;
/// use mcp_transport_stdio::{ChildChannel, ServerCommand};
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
#[derive(Debug)]
pub struct ChildChannel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    command: ServerCommand,
    peer: String,
    words: LastWords,
    child: Mutex<Arc<Child>>,
}

/// One life of the server.
#[derive(Debug)]
struct Child {
    pipe: PipeChannel,
    process: Arc<Process>,
    close_timeout: Duration,
    term_timeout: Duration,
}

/// What a watched process is like.
#[derive(Debug, Clone, Copy)]
enum Life {
    Running,
    /// The status is unknown when the operating system does not tell.
    Ended(Option<ExitStatus>),
}

/// The ends of the three pipes of a process.
struct Pipes {
    stdin: std::process::ChildStdin,
    stdout: std::process::ChildStdout,
    stderr: Option<std::process::ChildStderr>,
}

impl Pipes {
    /// Takes the pipes of a process that was spawned with all of them.
    fn take(
        stdin: Option<std::process::ChildStdin>,
        stdout: Option<std::process::ChildStdout>,
        stderr: Option<std::process::ChildStderr>,
    ) -> std::io::Result<Self> {
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(std::io::Error::other("the process has no pipes"));
        };
        Ok(Self {
            stdin,
            stdout,
            stderr,
        })
    }
}

impl ChildChannel {
    /// Starts a server. Has to be called inside of a tokio runtime with IO.
    ///
    /// # Errors
    ///
    /// [`ChannelError::Connect`] with a [`SpawnError`] when it cannot be started.
    pub fn spawn(command: ServerCommand) -> Result<Self, ChannelError> {
        let peer = command.peer();
        let words = LastWords::default();
        let child = Child::spawn(&command, &peer, &words)?;
        Ok(Self {
            shared: Arc::new(Shared {
                command,
                peer,
                words,
                child: Mutex::new(Arc::new(child)),
            }),
        })
    }

    /// The last lines that the server has written to its standard error.
    pub fn last_words(&self) -> LastWords {
        self.shared.words.clone()
    }
}

impl Shared {
    fn child(&self) -> Arc<Child> {
        self.child.lock().clone()
    }
}

impl Child {
    fn spawn(command: &ServerCommand, peer: &str, words: &LastWords) -> Result<Self, ChannelError> {
        let failed = |error: SpawnError| ChannelError::Connect {
            peer: peer.to_owned(),
            source: error.into(),
        };
        let (process, pipes) = command.spawn().map_err(failed)?;
        let failed = |error: std::io::Error| failed(SpawnError::Io(error));
        let tail = Tail::new(words.clone());
        if let Some(stderr) = pipes.stderr {
            let stderr = tokio::process::ChildStderr::from_std(stderr).map_err(failed)?;
            tokio::spawn(stderr::drain(stderr, tail.clone(), peer.to_owned()));
        }
        let epitaph = epitaph(process.clone(), tail);
        let pipe = PipeChannel::of_child(
            ChildStdout::from_std(pipes.stdout).map_err(failed)?,
            ChildStdin::from_std(pipes.stdin).map_err(failed)?,
            command.line_limit,
            peer,
            Box::pin(epitaph),
        );
        Ok(Self {
            pipe,
            process,
            close_timeout: command.close_timeout,
            term_timeout: command.term_timeout,
        })
    }

    /// Ends the server step by step.
    // spec: STDIO-12
    async fn close(&self) {
        self.pipe.close().await;
        let process = &self.process;
        if timeout(self.close_timeout, ended(process)).await.is_ok() {
            return;
        }
        process.terminate();
        if timeout(self.term_timeout, ended(process)).await.is_ok() {
            return;
        }
        process.kill();
        let _ = timeout(LAST_MOMENT, ended(process)).await;
    }
}

/// The pipe ends with the channel, its server has to know at once.
impl Drop for Child {
    fn drop(&mut self) {
        if matches!(*self.process.life().borrow(), Life::Ended(_)) {
            return;
        }
        self.process.terminate();
        let (process, patience) = (self.process.clone(), self.term_timeout);
        let name = "mcp-child-end".to_owned();
        let thread = std::thread::Builder::new().name(name);
        let ends = thread.spawn(move || {
            std::thread::sleep(patience);
            process.kill();
        });
        if ends.is_err() {
            self.process.kill();
        }
    }
}

async fn ended(process: &Process) -> Option<ExitStatus> {
    let mut life = process.life().subscribe();
    match life.wait_for(|life| matches!(life, Life::Ended(_))).await {
        Ok(life) => match *life {
            Life::Ended(status) => status,
            Life::Running => None,
        },
        Err(_) => None,
    }
}

/// Why the server has ended: how it exited, and what it said last.
async fn epitaph(process: Arc<Process>, tail: Tail) -> CloseReason {
    let mut text = match timeout(LAST_MOMENT, ended(&process)).await {
        Ok(Some(status)) => format!("the server has ended with {status}"),
        Ok(None) => "the server has ended".to_owned(),
        Err(_) => "the server has closed its output".to_owned(),
    };
    let words = tail.last().await;
    if !words.is_empty() {
        text.push_str("; its last words:\n");
        text.push_str(&words);
    }
    CloseReason::Broken(text)
}

impl Channel for ChildChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        self.shared.child().pipe.call(out)
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.shared.peer)
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

    fn set_version(&self, version: ProtocolVersion) {
        self.shared.child().pipe.set_version(version);
    }

    /// Starts the server anew; the one before is ended.
    // spec: COMPAT-15, STDIO-15
    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let child = Arc::new(Child::spawn(&shared.command, &shared.peer, &shared.words)?);
            let mut current = shared.child.lock();
            let before = std::mem::replace(&mut *current, child);
            drop(current);
            drop(before);
            Ok(())
        })
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        self.shared.child().pipe.closed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let child = self.shared.child();
        Box::pin(async move { child.close().await })
    }
}

/// The sender of a life that has just begun.
fn born() -> watch::Sender<Life> {
    watch::Sender::new(Life::Running)
}
