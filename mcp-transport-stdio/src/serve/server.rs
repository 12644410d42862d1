//! [`StdioServer`]: a server over one pipe.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{EndpointMetrics, Gate, Service, Transport, catch_panic};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::Instrument;

use super::driver::{Driver, to_io_error};
use super::io_thread;
use super::settings::ServerSettings;
use crate::message_transport::MessageTransport;
use crate::pipe::{Pipe, Task};
use crate::standard;

/// A server over one pipe: its process's standard streams, a socket, any other two byte streams, or a
/// [message transport](MessageTransport).
///
/// One pipe serves both eras: a modern request (2026-07-28) carries all metadata, and `initialize` opens a
/// session for legacy requests. A second `initialize` replaces the session: its subscriptions, log level
/// and open questions end, but its running calls continue.
///
/// Calls run concurrently, each in its own task. The server logs a line that is not a valid message, and answers it with an error. After
/// the client has closed its side, running calls may still finish and respond within
/// [`drain_timeout`](Self::drain_timeout).
///
/// # Examples
///
/// ```no_run
/// use mcp::StdioServer;
/// use mcp::core::Service;
///
/// # async fn run(service: impl Service, socket: tokio::io::DuplexStream) -> std::io::Result<()> {
/// let (reader, writer) = tokio::io::split(socket);
/// StdioServer::new(service).run_over(reader, writer).await
/// # }
/// ```
// spec: COMPAT-01, COMPAT-17, STDIO-13
#[must_use = "serves nothing until `run`, `run_over` or `run_over_messages` is awaited"]
pub struct StdioServer {
    service: Arc<dyn Service>,
    settings: ServerSettings,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl StdioServer {
    /// Creates a server for `service`.
    pub fn new(service: impl Service) -> Self {
        Self {
            service: Arc::new(service),
            settings: ServerSettings::default(),
            shutdown: Box::pin(std::future::pending()),
        }
    }

    /// Sets the line limit in bytes. A longer line is discarded and answered with an error.
    /// Default: 4 MiB, as for a request body over HTTP, so that a tool accepts the same arguments on both transports;
    /// concurrent calls hold their lines in memory.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.settings.line_limit = bytes;
        self
    }

    /// Sets the maximum number of concurrent calls, including subscriptions. The server refuses further
    /// calls. It ignores an extension's notifications while calls and notification handlers together reach
    /// this number. Default: 1,024.
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.settings.max_calls = calls;
        self
    }

    /// Sets the time in which running calls may finish after the client has closed its side. The server
    /// then cancels the remaining calls, and takes up to one more second to write the last responses. As long
    /// as the client reads responses within this time, those of finished calls are written. If it reads none, the
    /// server drops them, and the requests that wait for space in its output. Default: 10 seconds.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.settings.drain_timeout = time;
        self
    }

    /// Sets the gate that authorizes every call before it starts. The gate receives the
    /// [`Principal`](mcp_core::Principal) among the [extensions](Self::extension).
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.settings.gate = Some(Arc::new(gate));
        self
    }

    /// Adds a value to every call's extensions, for example a
    /// socket's [`Principal`](mcp_core::Principal).
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.settings.extensions.insert(value);
        self
    }

    /// Sets the transport that telemetry records, such as [`Transport::Unix`] for a Unix socket.
    /// Default: [`Transport::Pipe`].
    pub fn transport(mut self, transport: Transport) -> Self {
        self.settings.extensions.transport = Some(transport);
        self
    }

    /// Stops reading when `signal` resolves. Running calls may then finish within
    /// [`drain_timeout`](Self::drain_timeout), as when the client closes its side. A signal that panics
    /// is logged and does not stop the server.
    pub fn shutdown_on(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Box::pin(async {
            if let Err(panic) = catch_panic(signal).await {
                tracing::error!(panic = %mcp_types::escaped(&panic), "the shutdown signal panicked");
                std::future::pending().await
            }
        });
        self
    }

    /// Returns a function that reads this server's counters, such as queued bytes and refused calls, for
    /// metrics and health checks. It works before, while and after the server runs. A pipe has at most
    /// one session, and no streams.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::StdioServer;
    /// use mcp::prelude::*;
    ///
    /// let server = StdioServer::new(Server::new("clock", "1.0.0"));
    /// let metrics = server.metrics_reader();
    /// assert_eq!(metrics().queued_bytes, 0);
    /// ```
    pub fn metrics_reader(&self) -> impl Fn() -> EndpointMetrics + Send + Sync + 'static + use<> {
        let counters = self.settings.counters.clone();
        move || counters.read()
    }

    /// Serves over this process's standard streams, until the client closes its side. Can be
    /// called once per process, in a tokio runtime. Logs the start at level INFO.
    ///
    /// A thread of its own reads and writes the streams, and calls run on the runtime of the caller: handlers
    /// that block all its threads delay each other, but the server still answers pings and cancels calls.
    ///
    /// On Unix it first redirects the streams: the program's other output goes to standard error,
    /// and child processes do not inherit the streams. It does not handle signals.
    ///
    /// # Errors
    ///
    /// Returns an error when [`Service::check`] finds a mistake, when another server already uses the streams,
    /// when they cannot be duplicated, or when reading or writing fails. Returns `Ok` when the client closes its
    /// side.
    // spec: STDIO-05, STDIO-14
    pub async fn run(self) -> io::Result<()> {
        self.check()?;
        let profile = self.service.profile();
        let (name, version) = (&profile.info().name, &profile.info().version);
        tracing::info!(
            "serving {} {} at standard input and output",
            mcp_types::escaped(name),
            mcp_types::escaped(version)
        );
        let handlers = Handle::current();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = io_thread::run(async move {
            let streams = standard::take()?;
            let pipe = Pipe::open(streams.reader, streams.writer, self.settings.line_limit);
            let driver = Driver::new(self.service, self.settings, pipe, handlers);
            let stopped = Box::pin(async { drop(stopped.await) });
            tokio::select! {
                biased;
                served = driver.run(stopped) => served.map_err(to_io_error),
                // The client cannot receive responses, so running calls are cancelled.
                () = streams.hung_up => Ok(()),
            }
        });
        let mut serving = pin!(serving);
        let served = tokio::select! {
            biased;
            served = &mut serving => served,
            () = self.shutdown => {
                drop(stop);
                serving.await
            }
        };
        served.map_err(|error| {
            let message = format!("cannot serve at standard input and output: {error}");
            io::Error::new(error.kind(), message)
        })
    }

    /// Serves over a pair of byte streams, until the client closes its side. Dropping the future
    /// cancels running calls.
    ///
    /// # Errors
    ///
    /// Returns an error when [`Service::check`] finds a mistake, or when reading or writing fails. Returns `Ok`
    /// when the client closes its side.
    pub async fn run_over(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> io::Result<()> {
        self.check()?;
        let pipe = Pipe::open(reader, writer, self.settings.line_limit);
        self.drive(pipe).await
    }

    /// Serves over a message transport, until the client closes its side. Dropping the future cancels running
    /// calls. See [`MessageTransport`] for an example, and for the checks that such a transport has to make.
    ///
    /// # Errors
    ///
    /// Returns an error when [`Service::check`] finds a mistake, or when the transport fails:
    /// [`get_ref`](io::Error::get_ref) returns the transport's error. Returns `Ok` when the client closes its side.
    pub async fn run_over_messages(self, transport: impl MessageTransport) -> io::Result<()> {
        self.check()?;
        let pipe = Pipe::over_messages(transport, self.settings.line_limit);
        self.drive(pipe).await
    }

    async fn drive(self, pipe: Pipe) -> io::Result<()> {
        let driver = Driver::new(self.service, self.settings, pipe, Handle::current());
        // A separate task runs the driver on the worker threads, like the reader and the writer. If the
        // driver ran on the thread of `block_on`, each message would move between threads twice.
        let mut task = Task::spawn(driver.run(self.shutdown).in_current_span());
        task.ended().await.map_err(to_io_error)
    }

    fn check(&self) -> io::Result<()> {
        let checked = self.service.check();
        checked.map_err(|mistakes| io::Error::new(io::ErrorKind::InvalidInput, mistakes))
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
