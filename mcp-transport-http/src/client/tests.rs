//! Requests and responses of modern calls, over an HTTP client made of a function.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame as Piece};
use http_body_util::{Full, StreamBody};
use mcp_core::{Channel, ChannelError, Frame, MirroredHeaders, OutgoingRequest};
use mcp_types::{Method, ProtocolVersion, RequestId};
use tower_service::Service;

use crate::client::HttpChannel;
use crate::client::request::replace_headers;
use crate::headers::names;
use crate::sse::SseLimits;

/// An HTTP client that responds with the result of a function.
#[derive(Clone)]
struct Canned<F>(F);

impl<F, B> Service<Request<Bytes>> for Canned<F>
where
    F: FnMut(Request<Bytes>) -> Response<B>,
{
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        ready(Ok((self.0)(request)))
    }
}

fn channel<B>(
    answer: impl FnMut(Request<Bytes>) -> Response<B> + Clone + Send + 'static,
) -> HttpChannel
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    HttpChannel::with_service("https://u:p@example.com/mcp?key=k", Canned(answer)).unwrap()
}

fn out() -> OutgoingRequest {
    let mirror = MirroredHeaders::new(
        ProtocolVersion::LATEST,
        Method::CallTool.as_str(),
        Some("hällo"),
    );
    OutgoingRequest::new(RequestId::from(1), r#"{"id":1}"#, mirror)
}

fn frames(channel: &HttpChannel) -> Vec<Result<Frame, ChannelError>> {
    block_on(channel.call(out()).collect())
}

fn response(status: u16, kind: Option<&'static str>, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if let Some(kind) = kind {
        response
            .headers_mut()
            .insert(names::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}

/// Returns the outcome of one response as strings: frames with their status, or the error.
fn read(status: u16, kind: Option<&'static str>, body: &'static str) -> Vec<String> {
    let channel = channel(move |_| response(status, kind, body));
    let show = |frame: Result<Frame, ChannelError>| match frame {
        Ok(frame) => {
            let text = std::str::from_utf8(&frame.message).unwrap();
            format!("{} {text}", frame.status.unwrap().as_u16())
        }
        Err(error) => error.to_string(),
    };
    frames(&channel).into_iter().map(show).collect()
}

#[test]
fn header_set_by_the_transport_is_refused_by_name() {
    for name in ["accept", "content-type", "host", "mcp-session-id"] {
        let channel = channel(|_| response(200, None, ""));
        let error = channel.header(name, "x").unwrap_err().to_string();
        let expected = format!("the transport sets the header {name} by itself");
        assert!(error.contains(&expected), "{error}");
    }
}

// spec: HTTP-C-01, HTTP-C-04, HTTP-C-05
#[test]
fn call_sends_post_with_mirrored_headers() {
    // spec: HTTP-C-02
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let channel = channel(move |request| {
        sink.lock().unwrap().push(request);
        response(200, Some("application/json"), "{}")
    })
    .header("x-common", "1")
    .unwrap()
    .header("x-tenant", "everybody")
    .unwrap();
    // spec: XHDR-10
    assert!(channel.mirrors_arguments());
    let mut call = out();
    call.mirrored.params = vec![("Region".into(), "eu".into())];
    for (name, value) in [
        ("x-tenant", "a"),
        ("x-tenant", "b"),
        ("accept", "text/html"),
        ("mcp-method", "tools/list"),
        ("mcp-name", "other"),
        ("mcp-protocol-version", "1999-01-01"),
        ("mcp-session-id", "s"),
        ("content-type", "text/plain"),
        ("content-length", "7"),
        ("host", "other.example"),
    ] {
        call.headers.append(name, HeaderValue::from_static(value));
    }
    assert_eq!(block_on(channel.call(call).count()), 1);

    let request = seen.lock().unwrap().pop().unwrap();
    assert_eq!(request.method(), http::Method::POST);
    assert_eq!(request.uri(), "https://example.com/mcp?key=k");
    assert_eq!(request.body(), r#"{"id":1}"#);
    let mut headers: Vec<_> = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    assert_eq!(
        headers,
        [
            "accept-encoding: identity",
            "accept: application/json, text/event-stream",
            "authorization: Basic dTpw",
            "content-type: application/json",
            "mcp-method: tools/call",
            "mcp-name: =?base64?aMOkbGxv?=",
            "mcp-param-region: eu",
            "mcp-protocol-version: 2026-07-28",
            "x-common: 1",
            "x-tenant: a",
            "x-tenant: b",
        ]
    );
}

#[test]
fn unpolled_call_sends_nothing() {
    let seen = Arc::new(Mutex::new(0));
    let sink = seen.clone();
    let channel = channel(move |_| {
        *sink.lock().unwrap() += 1;
        response(200, None, "{}")
    });
    drop(channel.call(out()));
    assert_eq!(*seen.lock().unwrap(), 0);
}

#[test]
fn debug_and_errors_omit_secrets() {
    let channel = channel(|_| response(200, None, ""))
        .header("authorization", "Bearer hidden")
        .unwrap();
    assert_eq!(channel.peer(), "https://example.com/mcp");
    assert_eq!(
        format!("{channel:?}"),
        r#"HttpChannel { url: "https://example.com/mcp", .. }"#
    );
    let error = channel.header("x-key", "hidden\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot send the request: the value of the header x-key is invalid"
    );
}

// spec: HTTP-C-03, HTTP-S-11
#[test]
fn responses_become_frames_or_errors() {
    let json = Some("application/json");
    let events = Some("text/event-stream; charset=utf-8");
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#;
    for (status, kind, body, expected) in [
        (200, json, "{}", vec!["200 {}"]),
        (
            200,
            Some("Application/JSON;charset=UTF-8"),
            "{}",
            vec!["200 {}"],
        ),
        (200, None, "{}", vec!["200 {}"]),
        (200, json, "", vec![]),
        (202, None, "", vec![]),
        (202, Some("text/plain"), "", vec![]),
        (204, None, "", vec![]),
        (
            200,
            Some("text/html"),
            "<h1>\n Welcome</h1>",
            vec![
                "malformed answer: its content type is \"text/html\"; is the URL that of an MCP endpoint? It begins: <h1> Welcome</h1>",
            ],
        ),
        (
            200,
            events,
            ": hi\n\ndata: 1\n\nevent: message\r\ndata: 2\r\n\r\n",
            vec!["200 1", "200 2"],
        ),
        (
            200,
            events,
            "event: ping\ndata: 1\n\nid: 7\ndata:\n\nretry: 5\n\ndata: 2\n\ndata: cut",
            vec!["200 2"],
        ),
        (200, events, "", vec![]),
        (
            400,
            json,
            error,
            vec![concat!(
                "400 ",
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#
            )],
        ),
        (
            404,
            Some("text/plain"),
            error,
            vec![concat!(
                "404 ",
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#
            )],
        ),
        (
            400,
            json,
            r#"{"error":"no"}"#,
            vec![r#"HTTP status 400 Bad Request: {"error":"no"}"#],
        ),
        (
            404,
            Some("text/html"),
            "<p>no</p>",
            vec!["HTTP status 404 Not Found"],
        ),
        (
            502,
            None,
            "\n<html>nginx</html>",
            vec!["the proxy lost the server while it worked (502 Bad Gateway)"],
        ),
        (
            502,
            Some("text/plain"),
            "no\nupstream",
            vec!["the proxy lost the server while it worked (502 Bad Gateway): no upstream"],
        ),
        (401, None, "", vec!["HTTP status 401 Unauthorized"]),
    ] {
        assert_eq!(
            read(status, kind, body),
            expected,
            "{status} {kind:?} {body}"
        );
    }
}

#[test]
fn redirect_fails_and_names_target_without_secrets() {
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    let channel = channel(move |_| {
        *counted.lock().unwrap() += 1;
        let mut response = response(307, None, "");
        let target = HeaderValue::from_static("https://u:hidden@other.example/x?t=hidden");
        response.headers_mut().insert(names::LOCATION, target);
        response
    });
    let error = frames(&channel).pop().unwrap().unwrap_err().to_string();
    assert!(error.contains("307"), "{error}");
    assert!(
        error.contains("redirects to https://other.example/x;"),
        "{error}"
    );
    assert!(!error.contains("hidden"), "{error}");
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[test]
fn retry_after_in_seconds_is_returned() {
    for (value, seconds) in [
        ("7", Some(7)),
        (" 7 ", Some(7)),
        ("Wed, 21 Oct 2026", None),
        ("-1", None),
    ] {
        let channel = channel(move |_| {
            let mut response = response(503, None, "busy");
            response
                .headers_mut()
                .insert(names::RETRY_AFTER, HeaderValue::from_static(value));
            response
        });
        let Some(Err(ChannelError::Status { retry_after, .. })) = frames(&channel).pop() else {
            panic!()
        };
        assert_eq!(retry_after.map(|wait| wait.as_secs()), seconds, "{value}");
    }
}

/// A response whose body has several chunks and no length.
fn pieces(
    kind: &'static str,
    pieces: Vec<&'static str>,
    end: Option<&'static str>,
) -> Response<impl Body<Data = Bytes, Error = std::io::Error> + Send + 'static> {
    let end = end.map(|reason| Err(std::io::Error::other(reason)));
    let pieces = pieces
        .into_iter()
        .map(|piece| Ok(Piece::data(Bytes::from_static(piece.as_bytes()))));
    let mut response = Response::new(StreamBody::new(stream::iter(pieces.chain(end))));
    response
        .headers_mut()
        .insert(names::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[test]
fn chunked_body_becomes_one_frame() {
    let json = channel(|_| pieces("application/json", vec!["", "{\"a\"", ":", "1}"], None));
    assert_eq!(
        &frames(&json)[0].as_ref().unwrap().message[..],
        br#"{"a":1}"#
    );
}

#[test]
fn response_over_limit_fails() {
    let limit = |error: &Result<Frame, ChannelError>| match error {
        Err(ChannelError::TooLarge { limit }) => *limit,
        other => panic!("{other:?}"),
    };
    let known = channel(|_| response(200, None, "0123456789")).body_limit(9);
    assert_eq!(limit(&frames(&known)[0]), 9);
    let chunked =
        channel(|_| pieces("application/json", vec!["01234", "56789"], None)).body_limit(9);
    assert_eq!(limit(&frames(&chunked)[0]), 9);
    let fits = channel(|_| pieces("application/json", vec!["01234", "56789"], None)).body_limit(10);
    assert!(frames(&fits)[0].is_ok());

    let limits = SseLimits {
        event: 20,
        ..SseLimits::default()
    };
    let events =
        |text| channel(move |_| pieces("text/event-stream", vec![text], None)).event_limits(limits);
    let found = frames(&events("data: 1\n\ndata: 0123456789012345\n\ndata: 2\n\n"));
    assert!(found[0].is_ok());
    assert_eq!(limit(&found[1]), 20);
    assert_eq!(found.len(), 2);
}

#[test]
fn broken_body_fails_with_its_error() {
    for kind in ["application/json", "text/event-stream"] {
        let channel = channel(move |_| pieces(kind, vec!["data: {"], Some("reset by the cat")));
        let error = frames(&channel).pop().unwrap().unwrap_err();
        let ChannelError::Broken {
            source: Some(source),
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(source.to_string(), "reset by the cat");
    }
    // The part of the body that has arrived is in the error.
    let refused = channel(|_| {
        let mut response = pieces("text/plain", vec!["no room"], Some("reset"));
        *response.status_mut() = StatusCode::INSUFFICIENT_STORAGE;
        response
    });
    let error = frames(&refused).pop().unwrap().unwrap_err().to_string();
    assert_eq!(error, "HTTP status 507 Insufficient Storage: no room");
}

/// A service that fails in `poll_ready` or in `call`.
#[derive(Clone)]
struct Failing(fn() -> ChannelError, bool);

impl Service<Request<Bytes>> for Failing {
    type Response = Response<Full<Bytes>>;
    type Error = ChannelError;
    type Future = Ready<Result<Self::Response, ChannelError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        Poll::Ready(if self.1 { Ok(()) } else { Err((self.0)()) })
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        ready(Err((self.0)()))
    }
}

#[test]
fn channel_error_from_service_is_returned_unchanged() {
    let connect: fn() -> ChannelError = || ChannelError::Connect {
        peer: "somebody".to_owned(),
        source: "no".into(),
    };
    for is_ready in [true, false] {
        let channel =
            HttpChannel::with_service("http://a.example/?key=hidden", Failing(connect, is_ready))
                .unwrap();
        let error = frames(&channel).pop().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "cannot connect to http://a.example/");
    }
}

#[test]
fn replace_headers_keeps_repeated_values() {
    let mut headers = HeaderMap::new();
    headers.insert("a", HeaderValue::from_static("0"));
    let mut from = HeaderMap::new();
    from.append("a", HeaderValue::from_static("1"));
    from.append("a", HeaderValue::from_static("2"));
    replace_headers(&mut headers, &from);
    let values: Vec<_> = headers.get_all("a").iter().collect();
    assert_eq!(values, ["1", "2"]);
}

#[test]
fn identity_depends_on_the_whole_url() {
    let identity = |url: &str| HttpChannel::new(url).unwrap().identity();
    let first = identity("https://example.com/mcp?tenant=1");
    assert!(first.is_some());
    assert_eq!(identity("https://example.com/mcp?tenant=1#x"), first);
    for other in [
        "https://example.com/mcp?tenant=2",
        "https://example.com/mcp",
        "https://example.com/other?tenant=1",
        "http://example.com/mcp?tenant=1",
        "https://example.com:444/mcp?tenant=1",
    ] {
        assert_ne!(identity(other), first, "{other}");
    }
    // A service of the program may reach any server.
    assert_eq!(channel(|_| response(200, None, "")).identity(), None);
}

/// Collects the lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the log of two calls to a URL with these headers.
fn logged(url: &str, headers: &[(&'static str, &'static str)]) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    tracing::subscriber::with_default(subscriber.finish(), || {
        let answer = |_: Request<Bytes>| response(200, Some("application/json"), "{}");
        let mut channel = HttpChannel::with_service(url, Canned(answer)).unwrap();
        for (name, value) in headers {
            channel = channel.header(*name, *value).unwrap();
        }
        frames(&channel);
        frames(&channel);
    });
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn token_over_plain_http_to_another_machine_is_logged_once() {
    let token = [("authorization", "Bearer hunter2")];
    for url in ["http://example.com/mcp", "http://10.0.0.1/mcp"] {
        let log = logged(url, &token);
        assert_eq!(log.matches("plain http").count(), 1, "{log}");
        assert!(log.contains("WARN") && log.contains(url), "{log}");
        assert!(!log.contains("hunter2"), "{log}");
    }
    let with_password = logged("http://u:hunter2@example.com/mcp", &[]);
    assert!(with_password.contains("plain http"));
    for url in [
        "https://example.com/mcp",
        "http://127.0.0.1:1/mcp",
        "http://localhost/mcp",
        "http://[::1]/mcp",
    ] {
        assert_eq!(logged(url, &token), "", "{url}");
    }
    assert_eq!(logged("http://example.com/mcp", &[("x-tenant", "1")]), "");
}

// spec: HTTP-C-14
#[test]
fn redirects_on_the_server_are_followed_with_method_and_body() {
    let hops = |status: u16, locations: &'static [&'static str]| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let channel = channel(move |request| {
            let mut seen = sink.lock().unwrap();
            let location = locations.get(seen.len());
            seen.push(request);
            match location {
                Some(location) => {
                    let mut redirect = response(status, None, "moved");
                    let location = HeaderValue::from_static(location);
                    redirect.headers_mut().insert(names::LOCATION, location);
                    redirect
                }
                None => response(200, Some("application/json"), "{}"),
            }
        });
        let first = frames(&channel).pop().unwrap();
        (first, std::mem::take(&mut *seen.lock().unwrap()))
    };
    for (status, locations, last) in [
        (307, &["/mcp/"][..], "https://example.com/mcp/"),
        (
            308,
            &["https://u:x@example.com:443/a#b"][..],
            "https://example.com/a",
        ),
        (307, &["/1", "2?x=y", "/3"][..], "https://example.com/3"),
    ] {
        let (frame, seen) = hops(status, locations);
        assert_eq!(frame.unwrap().message, "{}");
        assert_eq!(seen.len(), locations.len() + 1);
        let request = seen.last().unwrap();
        assert_eq!(
            (request.method(), request.uri().to_string().as_str()),
            (&http::Method::POST, last)
        );
        assert_eq!(request.body(), r#"{"id":1}"#);
        let headers = |at: usize| seen[at].headers().clone();
        assert_eq!(headers(0), headers(locations.len()));
    }
    for (status, locations) in [
        (307, &["/1", "/2", "/3", "/4"][..]),
        (307, &["http://example.com/mcp"][..]),
        (307, &["https://example.com:444/mcp"][..]),
        (308, &["https://other.example/mcp"][..]),
        (302, &["/mcp/"][..]),
        (303, &["/mcp/"][..]),
    ] {
        let (frame, seen) = hops(status, locations);
        let error = frame.unwrap_err().to_string();
        assert!(error.contains("redirects are not followed"), "{error}");
        assert_eq!(seen.len(), locations.len().min(4), "{status} {locations:?}");
    }
}

#[test]
fn byte_order_mark_before_json_is_skipped() {
    let json = Some("application/json");
    assert_eq!(read(200, json, "\u{feff}{}"), ["200 {}"]);
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#;
    let sent: &'static str = Box::leak(format!("\u{feff}{error}").into_boxed_str());
    assert_eq!(read(400, json, sent), [format!("400 {error}")]);
}
