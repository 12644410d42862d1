//! What sessions cost in memory, counted: those that are abandoned give all of it back, and a first
//! message that is refused leaves nothing.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use mcp_core::{BoxFuture, Exchange, Reply, ResultBody, ServerProfile, Service};
use mcp_transport_http::server::{Body, Sessions, StreamableHttp};
use mcp_types::{Implementation, ProtocolVersion};
use tower_service::Service as _;

/// Bytes that an idle session holds, the tables around it and its share of their spare room
/// counted.
const IDLE_SESSION: i64 = 2_100;

const SESSIONS: usize = 2_000;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
/// It belongs to a session, and none is named.
const HOMELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

struct Silent(Arc<ServerProfile>);

impl Service for Silent {
    fn profile(&self) -> Arc<ServerProfile> {
        self.0.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(ready(ResultBody::Empty.into()))
    }
}

type Endpoint = StreamableHttp<Silent>;

fn endpoint() -> Endpoint {
    let profile = ServerProfile::new(Implementation::new("server", "1"));
    let profile = profile.versions(ProtocolVersion::ALL);
    let sessions = Sessions::in_memory().init_timeout(Duration::from_secs(60));
    StreamableHttp::new(Silent(Arc::new(profile))).sessions(sessions)
}

async fn post(endpoint: &mut Endpoint, body: &'static str) -> StatusCode {
    let request = Request::post("http://localhost/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Full::new(Bytes::from_static(body.as_bytes())));
    let (head, body): (_, Body) = match endpoint.call(request.unwrap()).await {
        Ok(response) => Response::into_parts(response),
        Err(never) => match never {},
    };
    body.collect().await.unwrap();
    head.status
}

/// What is held after `work` and was not before.
fn held(runtime: &tokio::runtime::Runtime, work: impl Future<Output = ()>) -> i64 {
    measure(|| runtime.block_on(work)).bytes_current
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
}

// spec: SESS-13
#[test]
fn abandoned_sessions_give_everything_back() {
    let runtime = paused();
    let mut endpoint = endpoint();
    let mut round = || {
        let open = async {
            for _ in 0..SESSIONS {
                assert_eq!(post(&mut endpoint, INITIALIZE).await, StatusCode::OK);
            }
        };
        let opened = held(&runtime, open);
        assert_eq!(endpoint.session_count(), SESSIONS);
        let abandoned = held(&runtime, async {
            tokio::time::sleep(Duration::from_secs(180)).await
        });
        assert_eq!(endpoint.session_count(), 0);
        (opened, opened + abandoned)
    };
    // What is made once is made in the first round.
    let (_, kept) = round();
    println!("kept after the first round: {kept} bytes");
    for _ in 0..3 {
        let (opened, left) = round();
        let each = opened / SESSIONS as i64;
        println!("{each} bytes per idle session, {left} left");
        assert!(each <= IDLE_SESSION, "{each}");
        assert!(left <= 0, "{left} bytes are left of {SESSIONS} sessions");
    }
}

#[test]
fn a_refused_first_message_leaves_nothing() {
    let runtime = paused();
    let mut endpoint = endpoint();
    let mut refused = || {
        held(&runtime, async {
            let status = post(&mut endpoint, HOMELESS).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
        })
    };
    refused();
    assert_eq!(refused(), 0);
    assert_eq!(endpoint.session_count(), 0);
}
