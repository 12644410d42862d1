//! Serving over a pipe: both eras, any number of calls at once.

mod calls;
mod driver;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{BoxFuture, Extensions, Gate, Service};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::Instrument;

use crate::pipe::{Pipe, Task};
use crate::standard;
use driver::Driver;

/// A server over one pipe: the standard streams of its process, a socket, or any other pair of
/// byte streams.
///
/// It serves clients of both eras, and the same client in both: a modern request carries all it
/// needs, `initialize` opens a session for all others. Calls run at the same time; each is polled
/// once at once, and moves to a task of its own when it is not ready then.
///
/// It ends in good order when the client closes its side: running calls are finished, for
/// [`drain_timeout`](Self::drain_timeout) at the most, and their answers are written. A line that
/// is no message is logged and does no harm.
///
/// ```no_run
/// use mcp_core::Service;
/// use mcp_transport_stdio::StdioServer;
///
/// # async fn run(service: impl Service, socket: tokio::io::DuplexStream) -> std::io::Result<()> {
/// let (reader, writer) = tokio::io::split(socket);
/// StdioServer::new(service).serve(reader, writer).await
/// # }
/// ```
// spec: COMPAT-01, COMPAT-17, STDIO-13
#[must_use = "serves when `serve` is awaited"]
pub struct StdioServer {
    service: Arc<dyn Service>,
    settings: Settings,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

struct Settings {
    line_limit: usize,
    max_calls: usize,
    drain_timeout: Duration,
    gate: Option<Arc<dyn Gate>>,
    extensions: Extensions,
    guard: bool,
}

impl StdioServer {
    /// A server for `service`.
    pub fn new(service: impl Service) -> Self {
        Self {
            service: Arc::new(service),
            settings: Settings {
                line_limit: 4 * 1024 * 1024,
                max_calls: 1024,
                drain_timeout: Duration::from_secs(10),
                gate: None,
                extensions: Extensions::new(),
                guard: true,
            },
            stop: Box::pin(std::future::pending()),
        }
    }

    /// The longest line in bytes, 4 MiB by default. A longer one is left out and answered with an
    /// error.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.settings.line_limit = bytes;
        self
    }

    /// How many calls run at a time, 1,024 by default; subscriptions count, too. More of them are
    /// refused.
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.settings.max_calls = calls;
        self
    }

    /// How long running calls may go on after the client has closed its side, 10 s by default.
    /// What still runs then is cancelled.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.settings.drain_timeout = time;
        self
    }

    /// Asks `gate` about every call before it is begun. A [`Principal`](mcp_core::Principal) among
    /// the [extensions](Self::extension) is shown to it.
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.settings.gate = Some(Arc::new(gate));
        self
    }

    /// Gives every call a value, such as the [`Principal`](mcp_core::Principal) behind a socket.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.settings.extensions.insert(value);
        self
    }

    /// Stops reading when `stop` is ready, and ends like after the client has closed its side.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop = Box::pin(stop);
        self
    }

    /// Leaves standard output and input where they are when [`serve_stdio`](Self::serve_stdio)
    /// takes them. Whatever the program prints then is read by the client as a message.
    pub fn without_guard(mut self) -> Self {
        self.settings.guard = false;
        self
    }

    /// Serves over the standard streams of this process, until the client closes its side or takes
    /// nothing any more. Possible once in the life of a process, inside of a tokio runtime with IO.
    ///
    /// On Unix nothing else reaches the streams from then on: what the program prints goes to the
    /// standard error, and programs that it starts inherit neither of them. Signals are left alone.
    ///
    /// # Errors
    ///
    /// When the streams cannot be had, or fail in another way than by being closed.
    // spec: STDIO-03, STDIO-05, STDIO-14
    pub fn serve_stdio(self) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(async move {
            let streams = standard::take(self.settings.guard)?;
            let served = self.serve(streams.reader, streams.writer);
            tokio::select! {
                biased;
                served = served => served,
                // There is nobody to answer: what runs is cancelled.
                () = streams.hung_up => Ok(()),
            }
        })
    }

    /// Serves over a pair of byte streams, until the client closes its side or takes nothing any
    /// more. Dropping the future cancels all that runs.
    ///
    /// # Errors
    ///
    /// When the pipe fails in another way than by being closed.
    pub async fn serve(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> io::Result<()> {
        let pipe = Pipe::open(reader, writer, self.settings.line_limit);
        self.drive(pipe).ended().await
    }

    /// A task like those that read and write, so that a message goes from one to the next on one
    /// thread: whoever waits for it may be on another.
    fn drive(self, pipe: Pipe) -> Task {
        let driver = Driver::new(self.service, self.settings, pipe);
        Task::spawn(driver.run(self.stop).in_current_span())
    }
}

impl std::fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdioServer")
            .field("line_limit", &self.settings.line_limit)
            .field("max_calls", &self.settings.max_calls)
            .field("drain_timeout", &self.settings.drain_timeout)
            .finish_non_exhaustive()
    }
}
