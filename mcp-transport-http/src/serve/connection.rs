//! One connection: hyper, with the connection's timeouts and the server's shutdown.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::IoSlice;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{self as body, BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcp_core::BoxFuture;
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service;

use super::activity::{Activity, ConnectionTimeouts, InFlightRequest};
use crate::headers::names;
use crate::health::HealthChecks;
use crate::server::{CardService, discard};
use crate::shutdown::Shutdown;

/// Maximum size of hyper's buffers for reading and writing. A larger head is rejected.
const MAX_BUFFER_SIZE: usize = 64 << 10;

/// Time to send the last frames of streams after the drain timeout.
pub(super) const FINAL_FRAMES_TIMEOUT: Duration = Duration::from_secs(1);

/// Settings that the connections of a server share.
#[derive(Debug)]
pub(super) struct ConnectionSettings {
    /// The endpoint's path.
    pub(super) path: Arc<str>,
    /// Further paths that the service answers.
    pub(super) further_paths: Vec<String>,
    pub(super) health: Option<HealthChecks>,
    /// Documents about the server, at paths of their own.
    pub(super) cards: Option<CardService>,
    pub(super) timeouts: ConnectionTimeouts,
    pub(super) shutdown: Shutdown,
}

impl ConnectionSettings {
    /// Returns true for the endpoint's path, with or without a slash at its end, and for further
    /// paths of the service.
    fn is_endpoint(&self, path: &str) -> bool {
        // spec: HTTP-S-01
        let own = &*self.path;
        path == own
            || path.trim_end_matches('/') == own.trim_end_matches('/')
            || self.further_paths.iter().any(|further| further == path)
    }
}

/// Serves the requests of a connection until the client closes it, until it times out, or until the
/// server shuts down. `permit` counts the connection until then.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` stores its arguments twice, and each connection keeps its future"
)]
pub(super) fn serve<I, S, B>(
    stream: I,
    service: S,
    settings: Arc<ConnectionSettings>,
    permit: OwnedSemaphorePermit,
) -> impl Future<Output = ()>
where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async move {
        let _permit = &permit;
        let activity = Arc::<Activity>::default();
        let io = TokioIo::new(MonitoredIo {
            io: stream,
            activity: Arc::clone(&activity),
        });
        let service = RefCell::new(service);
        let (shared, requests) = (Arc::clone(&settings), Arc::clone(&activity));
        let service = service_fn(move |request: Request<Incoming>| {
            let in_flight = requests.start_request();
            if shared.is_endpoint(request.uri().path()) {
                call(&mut *service.borrow_mut(), request)
                    .map_ok(|response| response.map(|body| body.map_err(hold(in_flight))))
                    .map_ok(|response| response.map(body::Either::Left))
                    .left_future()
            } else {
                Box::pin(other_path(request, Arc::clone(&shared)))
                    .map(|response| response.map(|body| body.map_err(hold(in_flight))))
                    .map(|response| Ok(response.map(body::Either::Right)))
                    .right_future()
            }
        });
        let mut connection = pin!(
            http1::Builder::new()
                .max_buf_size(MAX_BUFFER_SIZE)
                .serve_connection(io, service)
        );
        // Boxed to keep the connection small: the queue below may hold two of these futures.
        let wait = |is_draining| Box::pin(wait(&activity, &settings, is_draining));
        // Polls the future after its own wake-ups only, and not at each request.
        let mut signals = FuturesUnordered::from_iter([wait(false)]);
        loop {
            match select(connection.as_mut(), signals.next()).await {
                // The client has caused the error.
                Either::Left((result, _)) => return log_error(result),
                Either::Right((Some(Signal::Draining), _)) => {
                    connection.as_mut().graceful_shutdown();
                    signals.push(wait(true));
                }
                Either::Right((Some(Signal::TimedOut), _)) => return log_timeout(),
                Either::Right((Some(Signal::Closed) | None, _)) => return,
            }
        }
    }
}

/// Calls the service. A service that is ready at once is not cloned: a clone would change a reference
/// counter that all connections share.
fn call<S, R>(
    service: &mut S,
    request: Request<Incoming>,
) -> Either<S::Future, BoxFuture<'static, Result<R, Infallible>>>
where
    S: Service<Request<Incoming>, Response = R, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let mut context = Context::from_waker(Waker::noop());
    if service.poll_ready(&mut context).is_ready() {
        return service.call(request).left_future();
    }
    // The clone replaces the service, which waits until it is ready.
    let clone = service.clone();
    let mut service = mem::replace(service, clone);
    let response = async move {
        poll_fn(|cx| service.poll_ready(cx)).await?;
        service.call(request).await
    };
    Either::Right(Box::pin(response))
}

/// Returns a conversion of body errors that changes none: with it, the body keeps its request in flight.
fn hold<E>(in_flight: InFlightRequest) -> impl FnMut(E) -> E {
    move |error| {
        let _in_flight = &in_flight;
        error
    }
}

/// Reason to end a connection.
enum Signal {
    /// The connection has exceeded a timeout.
    TimedOut,
    /// The server drains: the connection ends after its running requests.
    Draining,
    /// The drain timeout has passed.
    Closed,
}

/// Waits for a reason to end a connection.
///
/// The connection's task polls this future in a `FuturesUnordered`, after its own wake-ups only.
/// `tokio::select!` polled it at each request, and `watch::Receiver::changed` locks a list that all connections
/// share: 4 % more instructions per call (`cargo xtask bench --instructions`).
async fn wait(activity: &Activity, settings: &ConnectionSettings, is_draining: bool) -> Signal {
    let shutdown = async {
        if !is_draining {
            settings.shutdown.draining().await;
            return Signal::Draining;
        }
        settings.shutdown.closed().await;
        tokio::time::sleep(FINAL_FRAMES_TIMEOUT).await;
        Signal::Closed
    };
    tokio::select! {
        biased;
        () = activity.timed_out(&settings.timeouts) => Signal::TimedOut,
        signal = shutdown => signal,
    }
}

/// Logs a connection error. hyper has answered a malformed head with 400, and a head that is too
/// large with 431.
fn log_error(result: hyper::Result<()>) {
    if let Err(reason) = result {
        tracing::debug!(reason = %mcp_types::escaped(&reason), "connection closed");
    }
}

fn log_timeout() {
    tracing::debug!(reason = "timeout", "connection closed");
}

/// Maximum number of body bytes that are discarded.
const MAX_DISCARDED: usize = 8 << 20;

/// Responds to a request for another path: a health check, a document about the server, or 404.
async fn other_path(
    request: Request<Incoming>,
    settings: Arc<ConnectionSettings>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    discard(&head.headers, pin!(body), MAX_DISCARDED).await;
    let path = head.uri.path();
    if matches!(path, "/health" | "/ready")
        && let Some(health) = &settings.health
        && let Some(response) = health.respond(&head.method, path).await
    {
        return response;
    }
    let cards = settings.cards.as_ref();
    if let Some(response) = cards.and_then(|cards| cards.respond(&head)) {
        return response;
    }
    let path = &settings.path;
    let (method, requested) = (&head.method, head.uri.path());
    tracing::debug!(status = 404, method = %mcp_types::escaped(&method), requested, endpoint = %mcp_types::escaped(&path), "request refused");
    let message = format!("There is nothing here. The MCP endpoint is at {path}\n");
    let mut response = Response::new(Full::from(message));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
        .headers_mut()
        .insert(names::CONTENT_TYPE, names::TEXT);
    response
}

pin_project! {
    /// Socket that records its activity.
    struct MonitoredIo<I> {
        #[pin]
        io: I,
        activity: Arc<Activity>,
    }
}

impl<I: AsyncRead> AsyncRead for MonitoredIo<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.project();
        let before = buf.filled().len();
        let result = this.io.poll_read(cx, buf);
        if buf.filled().len() > before {
            this.activity.record_read();
        }
        result
    }
}

impl<I: AsyncWrite> AsyncWrite for MonitoredIo<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.project();
        let result = this.io.poll_write(cx, buf);
        this.activity.record_write(&result);
        result
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.project();
        let result = this.io.poll_write_vectored(cx, bufs);
        this.activity.record_write(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.project().io.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::ready;

    use mcp_core::{BoxFuture, Exchange, Reply, ServerProfile};
    use mcp_types::{CallToolResult, ContentBlock, Implementation, ProtocolVersion};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::server::{AnswerMode, Sessions, StreamableHttp};

    const TIMEOUTS: ConnectionTimeouts = ConnectionTimeouts {
        head: Duration::from_secs(30),
        idle: Duration::from_secs(120),
    };

    /// Pipe that counts its writes and accepts several buffers at once, as sockets do.
    struct CountingIo<I> {
        io: I,
        writes: Arc<AtomicUsize>,
    }

    impl<I: AsyncRead + Unpin> AsyncRead for CountingIo<I> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            Pin::new(&mut self.io).poll_read(cx, buf)
        }
    }

    impl<I: AsyncWrite + Unpin> AsyncWrite for CountingIo<I> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<std::io::Result<usize>> {
            let written = ready!(Pin::new(&mut self.io).poll_write(cx, buf));
            self.writes.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(written)
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<std::io::Result<usize>> {
            let whole: Vec<u8> = bufs.iter().flat_map(|buf| buf.to_vec()).collect();
            self.poll_write(cx, &whole)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Pin::new(&mut self.io).poll_flush(cx)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<std::io::Result<()>> {
            Pin::new(&mut self.io).poll_shutdown(cx)
        }
    }

    /// A service that replies at once.
    struct Greeter(Arc<ServerProfile>);

    impl mcp_core::Service for Greeter {
        fn profile(&self) -> Arc<ServerProfile> {
            self.0.clone()
        }

        fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
            let result = CallToolResult::new(vec![ContentBlock::text("hello")]);
            Box::pin(ready(result.into()))
        }
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    const CALL: &str =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet"}}"#;

    fn post(session: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{session}\r\n{body}"
        )
    }

    /// Sends a request and returns the response, which has a `Content-Length`.
    async fn send(io: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> String {
        io.write_all(request.as_bytes()).await.unwrap();
        let mut read = String::new();
        loop {
            let mut more = [0; 4096];
            let count = io.read(&mut more).await.unwrap();
            assert!(count > 0, "{read}");
            read += std::str::from_utf8(&more[..count]).unwrap();
            if let Some((head, body)) = read.split_once("\r\n\r\n") {
                let mut lines = head.lines();
                let length = lines.find_map(|line| line.strip_prefix("content-length: "));
                if body.len() == length.unwrap().parse::<usize>().unwrap() {
                    return read;
                }
            }
        }
    }

    /// Serves `service` at `path` over a pipe with `capacity`. Returns the client's end and the number of
    /// writes.
    fn connect<S, B>(service: S, path: &str, capacity: usize) -> (DuplexStream, Arc<AtomicUsize>)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (client, io) = duplex(capacity);
        let writes = Arc::new(AtomicUsize::new(0));
        let io = CountingIo {
            io,
            writes: Arc::clone(&writes),
        };
        let settings = Arc::new(ConnectionSettings {
            path: path.into(),
            further_paths: Vec::new(),
            health: None,
            cards: None,
            timeouts: TIMEOUTS,
            shutdown: Shutdown::new(),
        });
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        tokio::spawn(serve(io, service, settings, permit));
        (client, writes)
    }

    /// Some systems delay the acknowledgement of the first packet, which would delay a second one.
    #[tokio::test]
    async fn ready_response_is_sent_in_one_write() {
        for (mode, content_type) in [
            (AnswerMode::Auto, "application/json"),
            (AnswerMode::AlwaysSse, "text/event-stream"),
        ] {
            let mut profile = ServerProfile::new(Implementation::new("server", "1"));
            profile.versions = ProtocolVersion::ALL.into();
            let profile = Arc::new(profile);
            let endpoint =
                StreamableHttp::new(Greeter(profile)).sessions(Sessions::in_memory().answer(mode));
            let (mut client, writes) = connect(endpoint, "/mcp", 1 << 16);
            let opened = send(&mut client, &post("", INITIALIZE)).await;
            let mut lines = opened.lines();
            let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
            let call = post(&format!("Mcp-Session-Id: {}\r\n", id.unwrap()), CALL);
            for before in 1..5 {
                assert_eq!(writes.load(Ordering::Relaxed), before);
                let response = send(&mut client, &call).await;
                assert!(response.contains(content_type), "{response}");
                assert!(response.contains("hello"), "{response}");
            }
            assert_eq!(writes.load(Ordering::Relaxed), 5);
        }
    }

    /// A service whose response has as many bytes as the request says.
    #[derive(Clone)]
    struct Long;

    impl Service<Request<Incoming>> for Long {
        type Response = Response<Full<Bytes>>;
        type Error = Infallible;
        type Future = Ready<Result<Self::Response, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Incoming>) -> Self::Future {
            let length = request.headers()["x-length"].to_str().unwrap();
            let text = vec![b'x'; length.parse().unwrap()];
            ready(Ok(Response::new(Full::from(text))))
        }
    }

    /// A service that is ready at the second poll before each call.
    #[derive(Clone, Default)]
    struct ReadyLater {
        is_polled: bool,
    }

    impl Service<Request<Incoming>> for ReadyLater {
        type Response = Response<Full<Bytes>>;
        type Error = Infallible;
        type Future = Ready<Result<Self::Response, Infallible>>;

        fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            if mem::replace(&mut self.is_polled, true) {
                return Poll::Ready(Ok(()));
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }

        fn call(&mut self, _: Request<Incoming>) -> Self::Future {
            assert!(mem::take(&mut self.is_polled), "called before ready");
            ready(Ok(Response::new(Full::from("late"))))
        }
    }

    #[tokio::test]
    async fn service_is_called_when_it_is_ready() {
        let (mut client, _) = connect(ReadyLater::default(), "/", 1 << 16);
        for _ in 0..3 {
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
            let response = send(&mut client, request).await;
            assert!(response.ends_with("late"), "{response}");
        }
    }

    #[tokio::test]
    async fn long_response_is_sent_completely() {
        for capacity in [1 << 20, 1000] {
            let (mut client, writes) = connect(Long, "/", capacity);
            for length in [
                0,
                MAX_BUFFER_SIZE,
                MAX_BUFFER_SIZE + 1,
                4 * MAX_BUFFER_SIZE,
                1,
            ] {
                let request =
                    format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Length: {length}\r\n\r\n");
                let response = send(&mut client, &request).await;
                assert!(response.ends_with(&"x".repeat(length)));
            }
            if capacity > 8 * MAX_BUFFER_SIZE {
                assert_eq!(writes.load(Ordering::Relaxed), 5);
            }
        }
    }
}
