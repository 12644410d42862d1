//! Sessions against a server that the test plays by hand, in paused time.

mod ends;
mod http_sse;
mod messages;
mod standalone;
mod streams;

use std::future::ready;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame as Piece;
use http_body_util::StreamBody;
use mcp_core::{
    BoxFuture, Channel, ChannelError, Frame, Frames, MirroredHeaders, OneWayMessage,
    OutgoingRequest,
};
use mcp_types::{Method, ProtocolVersion, RequestId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tower_service::Service;

use crate::client::HttpChannel;
use crate::headers::names;

type Pieces = BoxStream<'static, std::io::Result<Piece<Bytes>>>;
type Reply = Response<StreamBody<Pieces>>;

/// An HTTP client that passes every request to the test.
#[derive(Clone)]
struct ManualServer(mpsc::UnboundedSender<ReceivedRequest>);

/// A request that the test answers.
struct ReceivedRequest {
    request: Request<Bytes>,
    at: Instant,
    reply: oneshot::Sender<std::io::Result<Reply>>,
}

impl Service<Request<Bytes>> for ManualServer {
    type Response = Reply;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Reply, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (reply, replied) = oneshot::channel();
        let at = Instant::now();
        let sent = self.0.send(ReceivedRequest { request, at, reply });
        Box::pin(async move {
            sent.map_err(|_| "the test is over")?;
            Ok(replied.await.map_err(|_| "hung up")??)
        })
    }
}

/// The server side of the test.
struct Server(mpsc::UnboundedReceiver<ReceivedRequest>);

/// A day: longer than every timeout of the channel.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);

impl Server {
    async fn next(&mut self) -> ReceivedRequest {
        timeout(FOREVER, self.0.recv())
            .await
            .expect("nothing was sent")
            .unwrap()
    }

    /// Asserts that no request arrives within `time`.
    async fn silence(&mut self, time: Duration) {
        if let Ok(Some(request)) = timeout(time, self.0.recv()).await {
            panic!("{:?}", request.request);
        }
    }
}

impl ReceivedRequest {
    fn is(self, verb: &str) -> Self {
        assert_eq!(self.request.method(), verb, "{:?}", self.request);
        self
    }

    fn header(&self, name: http::HeaderName) -> Option<&str> {
        self.request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap())
    }

    fn body(&self) -> &str {
        std::str::from_utf8(self.request.body()).unwrap()
    }

    fn reply(self, reply: Reply) {
        let _ = self.reply.send(Ok(reply));
    }

    fn status(self, status: u16) {
        self.reply(whole(status, None, ""));
    }

    fn json(self, text: impl Into<String>) {
        self.reply(whole(200, Some("application/json"), text));
    }

    fn fail(self) {
        let _ = self
            .reply
            .send(Err(std::io::Error::other("connection lost")));
    }

    /// Responds with an event stream that the test writes.
    fn events(self) -> Events {
        let (pieces, body) = mpsc::unbounded_channel();
        let body = stream::unfold(body, async |mut body| Some((body.recv().await?, body)));
        self.reply(with_body(200, Some("text/event-stream"), body.boxed()));
        Events(pieces)
    }
}

/// An event stream. Dropping it ends the response normally.
struct Events(mpsc::UnboundedSender<std::io::Result<Piece<Bytes>>>);

impl Events {
    fn raw(&self, text: impl Into<String>) {
        let _ = self.0.send(Ok(Piece::data(Bytes::from(text.into()))));
    }

    fn message(&self, text: &str) {
        self.raw(format!("data: {text}\n\n"));
    }

    fn message_with_id(&self, id: &str, text: &str) {
        self.raw(format!("id: {id}\ndata: {text}\n\n"));
    }

    fn cut(self) {
        let _ = self.0.send(Err(std::io::Error::other("cut")));
    }

    fn is_closed_by_client(&self) -> bool {
        self.0.is_closed()
    }
}

fn with_body(status: u16, kind: Option<&'static str>, pieces: Pieces) -> Reply {
    let mut reply = Response::new(StreamBody::new(pieces));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap();
    if let Some(kind) = kind {
        let kind = HeaderValue::from_static(kind);
        reply.headers_mut().insert(names::CONTENT_TYPE, kind);
    }
    reply
}

fn whole(status: u16, kind: Option<&'static str>, text: impl Into<String>) -> Reply {
    let text = text.into();
    let piece = (!text.is_empty()).then(|| Ok(Piece::data(Bytes::from(text))));
    with_body(status, kind, stream::iter(piece).boxed())
}

fn connect() -> (HttpChannel, Server) {
    let (requests, server) = mpsc::unbounded_channel();
    let url = "https://example.com/mcp?key=hidden";
    let channel = HttpChannel::with_service(url, ManualServer(requests)).unwrap();
    (channel, Server(server))
}

const LATEST: ProtocolVersion = ProtocolVersion::LATEST_LEGACY;
const SESSION: &str = "5e55107";

fn body_of(id: i64, method: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn call_in(version: ProtocolVersion, id: i64, method: Method) -> OutgoingRequest {
    let mirror = MirroredHeaders::new(version, method.as_str(), None);
    OutgoingRequest::new(RequestId::from(id), body_of(id, method.as_str()), mirror)
}

fn call(id: i64) -> OutgoingRequest {
    call_in(LATEST, id, Method::CallTool)
}

fn note(method: Method) -> OneWayMessage {
    let text = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, method.as_str());
    OneWayMessage::new(text, MirroredHeaders::new(LATEST, method.as_str(), None))
}

fn result(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

fn progress(token: i64, progress: u8) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
    )
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"s1","method":"ping"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;

fn text(frame: Frame) -> String {
    String::from_utf8(frame.message.to_vec()).unwrap()
}

async fn next(frames: &mut Frames) -> String {
    let next = timeout(FOREVER, frames.next()).await.expect("nothing came");
    text(next.expect("the end").unwrap())
}

async fn failure(frames: &mut Frames) -> ChannelError {
    let next = timeout(FOREVER, frames.next()).await.expect("nothing came");
    next.expect("the end").unwrap_err()
}

/// Sends a call and returns its frames with the request at the server.
async fn start_call(
    channel: &HttpChannel,
    server: &mut Server,
    out: OutgoingRequest,
) -> (Frames, ReceivedRequest) {
    let mut frames = channel.call(out);
    assert!(frames.next().now_or_never().is_none());
    (frames, server.next().await)
}

/// Opens a session and returns the GET for its standalone stream.
async fn open(channel: &HttpChannel, server: &mut Server) -> ReceivedRequest {
    initialize(channel, server, SESSION).await;
    let accepted = channel.notify(note(Method::Initialized));
    let accept = async {
        let request = server.next().await.is("POST");
        assert_eq!(request.header(names::MCP_SESSION_ID), Some(SESSION));
        request.status(202);
    };
    futures::join!(accepted, accept).0.unwrap();
    server.next().await.is("GET")
}

async fn initialize(channel: &HttpChannel, server: &mut Server, session: &'static str) {
    let out = call_in(LATEST, 1, Method::Initialize);
    let (mut frames, request) = start_call(channel, server, out).await;
    assert_eq!(request.header(names::MCP_SESSION_ID), None);
    assert_eq!(request.header(names::MCP_PROTOCOL_VERSION), None);
    let mut reply = whole(200, Some("application/json"), result(1));
    let session = HeaderValue::from_static(session);
    reply.headers_mut().insert(names::MCP_SESSION_ID, session);
    request.reply(reply);
    assert_eq!(next(&mut frames).await, result(1));
    assert!(frames.next().await.is_none());
    channel.set_version(LATEST);
}

/// Opens a session whose server refuses the standalone stream.
async fn open_without_stream(channel: &HttpChannel, server: &mut Server) {
    open(channel, server).await.status(405);
    server.silence(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn requests_in_a_session_carry_id_and_version() {
    // spec: SESS-05, HTTP-C-02, HTTP-C-09, HTTP-C-10, HTTP-C-01, SESS-04
    let (channel, mut server) = connect();
    let channel = channel.header("x-common", "1").unwrap();
    let get = open(&channel, &mut server).await;
    let shown = |request: &ReceivedRequest| {
        let mut lines: Vec<_> = request
            .request
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort_unstable();
        lines
    };
    let session = [
        "mcp-protocol-version: 2025-11-25",
        "mcp-session-id: 5e55107",
        "x-common: 1",
    ];
    let mut expected = vec!["accept-encoding: identity", "accept: text/event-stream"];
    expected.extend(session);
    assert_eq!(shown(&get), expected);
    assert!(get.request.headers()[names::MCP_SESSION_ID].is_sensitive());
    get.status(405);

    let mut out = call(2);
    out.headers
        .insert("x-tenant", HeaderValue::from_static("a"));
    let (_frames, post) = start_call(&channel, &mut server, out).await;
    let mut expected = vec![
        "accept-encoding: identity",
        "accept: application/json, text/event-stream",
    ];
    expected.push("content-type: application/json");
    expected.extend(session);
    expected.push("x-tenant: a");
    assert_eq!(shown(&post), expected);

    // A modern request carries no session id, even after a session was opened.
    let (_frames, modern) = start_call(
        &channel,
        &mut server,
        call_in(ProtocolVersion::LATEST, 3, Method::ListTools),
    )
    .await;
    assert_eq!(modern.header(names::MCP_SESSION_ID), None);
    assert_eq!(
        modern.header(names::MCP_PROTOCOL_VERSION),
        Some("2026-07-28")
    );
    assert!(!format!("{channel:?}").contains(SESSION));
}

#[tokio::test(start_paused = true)]
async fn requests_after_set_version_carry_that_version() {
    let (channel, mut server) = connect();
    // ReceivedRequest in one revision, answered in an old one that has no header for itself.
    channel.set_version(LATEST);
    let (mut frames, request) = start_call(
        &channel,
        &mut server,
        call_in(LATEST, 1, Method::Initialize),
    )
    .await;
    assert_eq!(request.header(names::MCP_PROTOCOL_VERSION), None);
    request.json(result(1));
    next(&mut frames).await;
    let old = ProtocolVersion::V2025_03_26;
    channel.set_version(old);
    let (_frames, request) =
        start_call(&channel, &mut server, call_in(old, 2, Method::ListTools)).await;
    assert_eq!(request.header(names::MCP_PROTOCOL_VERSION), None);
    assert_eq!(request.header(names::MCP_SESSION_ID), None);
    channel.set_version(LATEST);
    let (_frames, request) = start_call(&channel, &mut server, call(3)).await;
    assert_eq!(
        request.header(names::MCP_PROTOCOL_VERSION),
        Some("2025-11-25")
    );
    // The server turns out to be modern.
    channel.set_version(ProtocolVersion::LATEST);
    let (_frames, request) = start_call(
        &channel,
        &mut server,
        call_in(LATEST, 4, Method::Initialize),
    )
    .await;
    assert_eq!(request.header(names::MCP_PROTOCOL_VERSION), None);
}

#[tokio::test(start_paused = true)]
async fn provided_headers_replace_fixed_and_yield_to_call_headers() {
    let (channel, mut server) = connect();
    let count = std::sync::atomic::AtomicU8::new(0);
    let channel = channel
        .header("x-b", "fixed")
        .unwrap()
        .headers_from(move || {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let mut headers = http::HeaderMap::new();
            headers.insert("x-a", u16::from(number).into());
            headers.insert("x-b", HeaderValue::from_static("provided"));
            headers.insert("x-c", HeaderValue::from_static("provided"));
            headers.insert(names::MCP_METHOD, HeaderValue::from_static("other"));
            ready(if number < 2 {
                Ok(headers)
            } else {
                Err("the vault is locked")
            })
        });
    for expected in ["0", "1"] {
        let mut out = call_in(ProtocolVersion::LATEST, 1, Method::ListTools);
        out.headers
            .insert("x-c", HeaderValue::from_static("of the call"));
        let (_frames, request) = start_call(&channel, &mut server, out).await;
        assert_eq!(request.header("x-a".parse().unwrap()), Some(expected));
        assert_eq!(request.header("x-b".parse().unwrap()), Some("provided"));
        assert_eq!(request.header("x-c".parse().unwrap()), Some("of the call"));
        assert_eq!(request.header(names::MCP_METHOD), Some("tools/list"));
    }
    let error = failure(&mut channel.call(call(1))).await;
    assert_eq!(
        error.to_string(),
        "cannot send the request: the header provider failed: the vault is locked"
    );
}

#[tokio::test(start_paused = true)]
async fn second_call_with_pending_id_fails() {
    // spec: BASE-04
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (frames, _asked) = start_call(&channel, &mut server, call(2)).await;
    let error = failure(&mut channel.call(call(2))).await;
    assert!(matches!(error, ChannelError::NotSendable(_)), "{error:?}");
    drop(frames);
    assert!(
        server
            .next()
            .await
            .body()
            .contains("notifications/cancelled")
    );
    let (_frames, request) = start_call(&channel, &mut server, call(2)).await;
    assert!(request.body().contains("tools/call"));
}
