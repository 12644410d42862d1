//! From request to answer.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::body::Body;

/// Events that may wait for a reader.
const CHANNEL: usize = 64;
const MAX_BODY: u64 = 64 << 20;

const SERVER_INFO: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"0.0.0"}}"#;

/// A request with all that the three tools may be given, read in one pass.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Arguments<'a>,
    #[serde(borrow, rename = "_meta")]
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

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Limit {
    host: String,
    coalesce: bool,
    /// The answer to `tools/list` after the id.
    list: Bytes,
}

impl Limit {
    pub(crate) fn new(port: u16, coalesce: bool) -> Self {
        let count = std::env::var(bench::NTOOLS)
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0);
        Self {
            host: format!("127.0.0.1:{port}"),
            coalesce,
            list: list_tail(count),
        }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if let Some(status) = self.refusal(&head.method, head.uri.path(), &head.headers) {
            return refuse(status, "");
        }
        if body.size_hint().lower() > MAX_BODY {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "");
        }
        let bytes = match read(body).await {
            Ok(bytes) => bytes,
            Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        match serde_json::from_slice(&bytes) {
            Ok(message) => self.dispatch(&message),
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
        } else if !is(&ACCEPT, "application/json, text/event-stream") {
            Some(StatusCode::NOT_ACCEPTABLE)
        } else {
            None
        }
    }

    fn dispatch(&self, message: &Message<'_>) -> Response<Body> {
        let Message { id, method, params } = message;
        let id = id.get();
        match (&**method, &*params.name) {
            ("tools/call", "echo") => json_answer(text_result(id, &params.arguments.message)),
            ("tools/call", "add") => {
                let sum = params.arguments.a + params.arguments.b;
                json_answer(text_result(id, &sum.to_string()))
            }
            ("tools/call", "progress") => self.progress(id, params),
            ("tools/list", _) => {
                let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
                respond(
                    Body::two(head.into(), self.list.clone()),
                    "application/json",
                )
            }
            _ => refuse(StatusCode::NOT_FOUND, "no such method or tool"),
        }
    }

    /// Sends the reports from a task of their own through a bounded channel.
    fn progress(&self, id: &str, params: &Params<'_>) -> Response<Body> {
        let Some(token) = params.meta.progress_token else {
            return refuse(StatusCode::BAD_REQUEST, "no progressToken");
        };
        let (token, count) = (token.get().to_owned(), params.arguments.n);
        let result = text_result(id, "done");
        let (events, receiver) = mpsc::channel(CHANNEL);
        tokio::spawn(async move {
            for number in 1..=count {
                let event = report(&token, number, count);
                if events.send(event).await.is_err() {
                    return;
                }
            }
            let _ = events
                .send(Bytes::from(
                    ["data: ".as_bytes(), &result, b"\n\n"].concat(),
                ))
                .await;
        });
        respond(Body::events(receiver, self.coalesce), "text/event-stream")
    }
}

fn report(token: &str, number: u64, total: u64) -> Bytes {
    let mut event = String::with_capacity(192);
    // Writing to a string cannot fail.
    let _ = write!(
        event,
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
         {{\"progressToken\":{token},\"progress\":{number},\"total\":{total}}}}}\n\n"
    );
    event.into()
}

/// The whole answer of a tool, in one buffer.
fn text_result(id: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 256);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(
        b",\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":",
    );
    // A string is always JSON, and a vector takes every byte.
    let _ = serde_json::to_writer(&mut out, text);
    out.extend_from_slice(b"}],");
    out.extend_from_slice(SERVER_INFO.as_bytes());
    out.extend_from_slice(b"}}");
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

/// Reads a body; one that came in one piece is not copied.
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

fn json_answer(bytes: Vec<u8>) -> Response<Body> {
    respond(Body::one(bytes.into()), "application/json")
}

fn respond(body: Body, content_type: &'static str) -> Response<Body> {
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn refuse(status: StatusCode, why: &str) -> Response<Body> {
    let mut response = Response::new(Body::one(why.to_owned().into()));
    *response.status_mut() = status;
    response
}
