//! Parsing of requests, the tools, and encoding of responses.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bench::era::Era;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::body::Body;

/// Capacity of the channel between a tool and its event stream.
const CHANNEL: usize = 64;
const MAX_BODY: u64 = 64 << 20;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Start of an event.
const EVENT_START: &str = "event: message\ndata: ";
/// End of an event.
const EVENT_END: &str = "\n\n";

/// Accepted values of the header `Accept`.
const ACCEPTED: [&str; 2] = [
    "application/json, text/event-stream",
    "text/event-stream, application/json",
];

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench-server","version":"0.0.0"}}}"#;
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench-server","version":"0.0.0"}}"#;
const SERVER_INFO: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench-server","version":"0.0.0"}}"#;

/// A request or notification. [`Arguments`] has the fields of all three tools, so that the message is
/// parsed in one pass.
#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    /// `None` for notifications.
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Arguments<'a>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Default, Deserialize)]
struct Arguments<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(default)]
    a: f64,
    #[serde(default)]
    b: f64,
    #[serde(default)]
    n: u64,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// The open sessions.
#[derive(Debug, Default)]
struct Sessions {
    last: AtomicU64,
    open: Mutex<HashSet<HeaderValue>>,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashSet<HeaderValue>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> HeaderValue {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        // 36 digits: as long as a UUID.
        let id = HeaderValue::from_str(&format!("{number:036}"));
        let id = id.unwrap_or(HeaderValue::from_static("0"));
        self.lock().insert(id.clone());
        id
    }

    fn context<'h>(
        &self,
        headers: &'h HeaderMap,
        sse: bool,
    ) -> Result<RequestContext<'h>, StatusCode> {
        let session = headers.get(SESSION);
        let era = match session {
            Some(id) if self.lock().contains(id) => Era::Session,
            Some(_) => return Err(StatusCode::NOT_FOUND),
            None => match headers.get(VERSION) {
                Some(version) if version.as_bytes() == bench::era::MODERN.as_bytes() => Era::Modern,
                _ => Era::Stateless,
            },
        };
        Ok(RequestContext {
            era,
            session,
            events: sse && era != Era::Modern,
        })
    }

    fn close(&self, headers: &HeaderMap) -> Response<Body> {
        let known = headers
            .get(SESSION)
            .is_some_and(|id| self.lock().remove(id));
        refuse(
            if known {
                StatusCode::OK
            } else {
                StatusCode::NOT_FOUND
            },
            "",
        )
    }
}

/// Properties of a request that determine the form of its response.
#[derive(Clone, Copy)]
struct RequestContext<'h> {
    era: Era,
    /// The session id, which the response repeats.
    session: Option<&'h HeaderValue>,
    /// The response is an event stream.
    events: bool,
}

impl RequestContext<'_> {
    fn response(self, body: Body, content_type: &'static str) -> Response<Body> {
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if content_type == EVENTS {
            headers.insert(
                CACHE_CONTROL,
                HeaderValue::from_static("no-store, no-transform"),
            );
            headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
        }
        if let Some(session) = self.session {
            headers.insert(SESSION, session.clone());
        }
        response
    }

    /// Returns the bytes before the response message.
    fn prefix(self) -> &'static str {
        if self.events { EVENT_START } else { "" }
    }

    /// Creates the response from `text`: the [`prefix`](Self::prefix), followed by the message.
    fn message(self, mut text: Vec<u8>) -> Response<Body> {
        if !self.events {
            return self.response(Body::one(text.into()), JSON);
        }
        text.extend_from_slice(EVENT_END.as_bytes());
        self.response(Body::one(text.into()), EVENTS)
    }
}

/// The server.
#[derive(Debug)]
pub(crate) struct Limit {
    host: String,
    coalesce: bool,
    /// Calls within a session are answered with event streams.
    sse: bool,
    sessions: Sessions,
    /// The part of the response to `tools/list` that follows the id.
    list: Bytes,
}

impl Limit {
    pub(crate) fn new(port: u16, coalesce: bool, sse: bool) -> Self {
        let count = bench::number(bench::NTOOLS).unwrap_or(0);
        Self {
            host: format!("127.0.0.1:{port}"),
            coalesce,
            sse,
            sessions: Sessions::default(),
            list: list_tail(count),
        }
    }

    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if head.method == Method::DELETE && head.uri.path() == bench::PATH {
            return self.sessions.close(&head.headers);
        }
        if let Some(status) = self.refusal(&head.method, head.uri.path(), &head.headers) {
            return refuse(status, "");
        }
        let context = match self.sessions.context(&head.headers, self.sse) {
            Ok(context) => context,
            Err(status) => return refuse(status, "no such session"),
        };
        if body.size_hint().lower() > MAX_BODY {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "");
        }
        let bytes = match read(body).await {
            Ok(bytes) => bytes,
            Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        match serde_json::from_slice(&bytes) {
            Ok(message) => self.dispatch(&message, context),
            Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        }
    }

    fn refusal(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<StatusCode> {
        let is = |name: &HeaderName, expected: &str| {
            headers
                .get(name)
                .is_some_and(|value| value.as_bytes() == expected.as_bytes())
        };
        if method != Method::POST || path != bench::PATH {
            Some(StatusCode::NOT_FOUND)
        } else if !is(&HOST, &self.host) {
            Some(StatusCode::FORBIDDEN)
        } else if !is(&CONTENT_TYPE, "application/json") {
            Some(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        } else if !ACCEPTED.iter().any(|accepted| is(&ACCEPT, accepted)) {
            Some(StatusCode::NOT_ACCEPTABLE)
        } else {
            None
        }
    }

    fn dispatch(&self, message: &Message<'_>, context: RequestContext<'_>) -> Response<Body> {
        let Message { id, method, params } = message;
        let Some(id) = id.map(RawValue::get) else {
            return refuse(StatusCode::ACCEPTED, "");
        };
        match (&**method, &*params.name) {
            ("tools/call", "progress") => self.progress(id, params, context),
            ("tools/call", _) => match call_tool(context.prefix(), id, params, context.era) {
                Some(text) => context.message(text),
                None => refuse(StatusCode::NOT_FOUND, "no such tool"),
            },
            ("tools/list", _) => {
                let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
                context.response(Body::two(head.into(), self.list.clone()), JSON)
            }
            ("server/discover", _) => context.message(result(context.prefix(), id, DISCOVERED)),
            ("initialize", _) => {
                let session = Some(&self.sessions.open());
                let text = result(context.prefix(), id, INITIALIZED);
                RequestContext { session, ..context }.message(text)
            }
            _ => refuse(StatusCode::NOT_FOUND, "no such method or tool"),
        }
    }

    /// Spawns a task that sends the progress notifications to the event stream through a bounded
    /// channel.
    fn progress(
        &self,
        id: &str,
        params: &Params<'_>,
        context: RequestContext<'_>,
    ) -> Response<Body> {
        let Some(token) = params.meta.progress_token else {
            return refuse(StatusCode::BAD_REQUEST, "no progressToken");
        };
        let (token, count) = (token.get().to_owned(), params.arguments.n);
        let mut result = text_result(EVENT_START, id, "done", context.era);
        result.extend_from_slice(EVENT_END.as_bytes());
        let (events, receiver) = mpsc::channel(CHANNEL);
        tokio::spawn(async move {
            for number in 1..=count {
                let event = report(&token, number, count);
                if events.send(event).await.is_err() {
                    return;
                }
            }
            let _ = events.send(result.into()).await;
        });
        context.response(Body::events(receiver, self.coalesce), EVENTS)
    }
}

fn report(token: &str, number: u64, total: u64) -> Bytes {
    let mut event = String::with_capacity(192);
    // Writing to a string cannot fail.
    let _ = write!(
        event,
        "{EVENT_START}{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
         {{\"progressToken\":{token},\"progress\":{number},\"total\":{total}}}}}{EVENT_END}"
    );
    event.into()
}

/// Calls `echo` or `add`. Returns `prefix`, followed by the response, or `None` for any other tool.
fn call_tool(prefix: &str, id: &str, params: &Params<'_>, era: Era) -> Option<Vec<u8>> {
    let Arguments { message, a, b, .. } = &params.arguments;
    match &*params.name {
        "echo" => Some(text_result(prefix, id, message, era)),
        "add" => Some(text_result(prefix, id, &(a + b).to_string(), era)),
        _ => None,
    }
}

/// Returns the response to one line from standard input, or `None` if the line gets no response.
/// `initialize` changes `era`.
pub(crate) fn respond_line(text: &[u8], era: &mut Era) -> Option<Vec<u8>> {
    let message: Message<'_> = serde_json::from_slice(text).ok()?;
    let id = message.id?.get();
    match &*message.method {
        "tools/call" => call_tool("", id, &message.params, *era),
        "initialize" => {
            *era = Era::Session;
            Some(result("", id, INITIALIZED))
        }
        "server/discover" => Some(result("", id, DISCOVERED)),
        _ => None,
    }
}

fn result(prefix: &str, id: &str, result: &str) -> Vec<u8> {
    format!("{prefix}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}

/// Encodes `prefix` and the response to a tool call with one text block, in one buffer.
fn text_result(prefix: &str, id: &str, text: &str, era: Era) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 256);
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":{");
    if era == Era::Modern {
        out.extend_from_slice(b"\"resultType\":\"complete\",");
        out.extend_from_slice(SERVER_INFO.as_bytes());
        out.push(b',');
    }
    out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    // Serializing a string into a vector cannot fail.
    let _ = serde_json::to_writer(&mut out, text);
    out.extend_from_slice(b"}]}}");
    out
}

fn list_tail(count: usize) -> Bytes {
    let number = json!({"type": "number"});
    let object = |properties: serde_json::Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    let mut tools = vec![
        json!({"name": "echo", "description": "Says the message again.",
               "inputSchema": object(json!({"message": {"type": "string"}}), &["message"])}),
        json!({"name": "add", "description": "Adds two numbers.",
               "inputSchema": object(json!({"a": number, "b": number}), &["a", "b"])}),
        json!({"name": "progress", "description": "Reports progress n times.",
               "inputSchema": object(json!({"n": {"type": "integer"}}), &["n"])}),
    ];
    tools.extend(bench::listed_tools(count));
    let tools = serde_json::Value::from(tools);
    let head = "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"public\"";
    format!("{head},\"tools\":{tools},{SERVER_INFO}}}}}").into()
}

/// Reads a body. A body that arrives in one frame is not copied.
async fn read(mut body: Incoming) -> Result<Bytes, hyper::Error> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if whole.is_empty() && data.len() >= expected {
            return Ok(data);
        }
        whole.reserve(expected.saturating_sub(whole.len()));
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

fn refuse(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::one(message.to_owned().into()));
    *response.status_mut() = status;
    response
}
