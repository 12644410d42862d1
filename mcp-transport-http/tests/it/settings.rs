//! Each setting that protects an endpoint has its effect in every order, and beside every other one.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt, Either, Full};
use mcp_core::{BoxFuture, Call, ClientContext, Fault, Gate, Principal};
use mcp_transport_http::server::Sessions;
use mcp_transport_http::{Serve, StreamableHttp};
use tokio::time::timeout;
use tower_service::Service as _;

use crate::support::{call_text, dual_endpoint, echo, within};

/// A body that never ends.
struct Endless;

impl HttpBody for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

struct WithoutSecrets;

impl Gate for WithoutSecrets {
    fn admit(&self, call: &Call, _: &ClientContext, _: Option<&Principal>) -> Result<(), Fault> {
        match call.item() {
            Some("secret") => Err(Fault::Refused("no secrets".into())),
            _ => Ok(()),
        }
    }
}

/// An endpoint whose tool `slow` never answers.
fn endpoint() -> StreamableHttp {
    dual_endpoint(|exchange| async move {
        if exchange.call.item() == Some("slow") {
            std::future::pending::<()>().await;
        }
        echo(exchange).await
    })
}

/// Sends a request and returns its status and its body.
async fn send(
    endpoint: &StreamableHttp,
    tool: &str,
    change: impl FnOnce(&mut Request<()>),
    body: Option<&str>,
) -> (StatusCode, String) {
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    let mut request = request.body(()).unwrap();
    change(&mut request);
    let request = request.map(|()| match body {
        Some(body) => Either::Left(Full::new(Bytes::from(body.to_owned()))),
        None => Either::Right(Endless),
    });
    let Ok(response) = endpoint.clone().call(request).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn call(endpoint: &StreamableHttp, tool: &str) -> (StatusCode, String) {
    send(endpoint, tool, |_| {}, Some(&call_text(tool, false))).await
}

async fn status_with(endpoint: &StreamableHttp, name: &'static str, value: &'static str) -> u16 {
    let insert = |request: &mut Request<()>| {
        request.headers_mut().insert(name, value.parse().unwrap());
    };
    let (status, _) = send(endpoint, "t", insert, Some(&call_text("t", false))).await;
    status.as_u16()
}

type Set = fn(StreamableHttp) -> StreamableHttp;
type HasEffect = fn(StreamableHttp) -> BoxFuture<'static, bool>;

/// A time that no limit of the table reaches.
const LONG: Duration = Duration::from_secs(20);

const SETTINGS: [(&str, Set, HasEffect); 7] = [
    (
        "allowed_hosts",
        |endpoint| endpoint.allowed_hosts(["localhost"]),
        |endpoint| {
            Box::pin(async move { status_with(&endpoint, "host", "127.0.0.1").await == 403 })
        },
    ),
    (
        "allowed_origins",
        |endpoint| endpoint.allowed_origins(["http://localhost:1"]),
        |endpoint| {
            Box::pin(
                async move { status_with(&endpoint, "origin", "http://localhost:2").await == 403 },
            )
        },
    ),
    (
        "body_limit",
        |endpoint| endpoint.body_limit(1000),
        |endpoint| {
            let tool: &'static str = "a-name-of-one-thousand-characters".repeat(30).leak();
            Box::pin(async move { call(&endpoint, tool).await.0 == StatusCode::PAYLOAD_TOO_LARGE })
        },
    ),
    (
        "body_timeout",
        |endpoint| endpoint.body_timeout(Duration::from_secs(2)),
        |endpoint| {
            Box::pin(async move {
                let sent = send(&endpoint, "t", |_| {}, None);
                timeout(LONG, sent)
                    .await
                    .is_ok_and(|(status, _)| status == 408)
            })
        },
    ),
    (
        "max_stream_age",
        |endpoint| endpoint.max_stream_age(Duration::from_secs(2)),
        |endpoint| {
            Box::pin(async move {
                let ended = timeout(LONG, call(&endpoint, "slow")).await;
                ended.is_ok_and(|(_, body)| body.contains("took too long"))
            })
        },
    ),
    (
        "gate",
        |endpoint| endpoint.gate(WithoutSecrets),
        |endpoint| {
            Box::pin(async move { call(&endpoint, "secret").await.0 == StatusCode::FORBIDDEN })
        },
    ),
    (
        "sessions",
        |endpoint| endpoint.sessions(Sessions::off()),
        |endpoint| {
            Box::pin(async move {
                let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
                let without_mirrors = |request: &mut Request<()>| {
                    for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
                        request.headers_mut().remove(name);
                    }
                };
                let sent = send(&endpoint, "t", without_mirrors, Some(initialize));
                sent.await.0 == StatusCode::BAD_REQUEST
            })
        },
    ),
];

async fn check(order: &[usize]) {
    let set = |endpoint, index: &usize| SETTINGS[*index].1(endpoint);
    let endpoint = order.iter().fold(endpoint(), set);
    // A clone of the endpoint, such as each connection has, is set as well.
    for (index, (name, _, has_effect)) in SETTINGS.iter().enumerate() {
        let expected = order.contains(&index);
        assert_eq!(
            has_effect(endpoint.clone()).await,
            expected,
            "{name} {order:?}"
        );
    }
    assert_eq!(call(&endpoint, "t").await.0, StatusCode::OK, "{order:?}");
}

#[tokio::test(start_paused = true)]
async fn endpoint_settings_hold_in_every_order_and_combination() {
    let all: Vec<usize> = (0..SETTINGS.len()).collect();
    check(&[]).await;
    check(&all).await;
    check(&all.iter().rev().copied().collect::<Vec<_>>()).await;
    for first in 0..SETTINGS.len() {
        for second in 0..SETTINGS.len() {
            check(&[first, second]).await;
        }
    }
}

/// The settings of the HTTP server that protect it, by what it shows, and the checks before its start.
#[tokio::test]
async fn serve_settings_hold_in_every_order() {
    type Set = fn(Serve<StreamableHttp>) -> Serve<StreamableHttp>;
    let settings: [(&str, Set); 5] = [
        ("head: 1s", |serve| {
            serve.head_timeout(Duration::from_secs(1))
        }),
        ("idle: 2s", |serve| {
            serve.idle_timeout(Duration::from_secs(2))
        }),
        ("max_connections: 3", |serve| serve.max_connections(3)),
        ("drain_timeout: 4s", |serve| {
            serve.drain_timeout(Duration::from_secs(4))
        }),
        ("path: Some(\"/own\")", |serve| serve.path("/own")),
    ];
    for start in 0..settings.len() {
        for step in 1..settings.len() {
            let mut serve = Serve::service(endpoint());
            for position in 0..settings.len() {
                let (_, set) = settings[(start + step * position) % settings.len()];
                serve = set(serve);
            }
            let shown = format!("{serve:?}");
            for (setting, _) in settings {
                assert!(shown.contains(setting), "{setting} {shown}");
            }
            // The check of the listener's address does not depend on them.
            let error = within(serve.run("0.0.0.0:0")).await.unwrap_err();
            assert!(error.to_string().contains("allowed_hosts"), "{error}");
        }
    }
}
