//! Memory of sessions and connections, counted by the allocator: upper bounds while they are idle, and
//! nothing after their end.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

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

/// Maximum bytes of an idle session, including its id and its entry in the eviction queue.
const IDLE_SESSION: i64 = 690;
/// Maximum bytes of an idle session whose client differs from that of the previous session. Equal
/// consecutive clients share memory.
const IDLE_SESSION_OF_ANOTHER_CLIENT: i64 = 890;

const SESSIONS: usize = 2_000;
/// Many more sessions than those for which an endpoint keeps its tables.
const PEAK: usize = 10_000;
/// Maximum bytes that an endpoint keeps after its sessions have ended, however many they were.
const KEPT_BY_ENDPOINT: i64 = 256 * 1024;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZE_OTHER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"d","version":"1"}}}"#;
/// A message of a session without a session id.
const WITHOUT_SESSION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

struct Silent(Arc<ServerProfile>);

impl Service for Silent {
    fn profile(&self) -> Arc<ServerProfile> {
        self.0.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(ready(ResultBody::Empty.into()))
    }
}

type Endpoint = StreamableHttp;

fn endpoint() -> Endpoint {
    let mut profile = ServerProfile::new(Implementation::new("server", "1"));
    profile.versions = ProtocolVersion::ALL.into();
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

/// Returns the number of bytes that `work` allocates and does not free.
fn retained_bytes(runtime: &tokio::runtime::Runtime, work: impl Future<Output = ()>) -> i64 {
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
fn abandoned_sessions_free_all_memory() {
    check_abandoned([INITIALIZE; 2], IDLE_SESSION);
    check_abandoned(
        [INITIALIZE, INITIALIZE_OTHER],
        IDLE_SESSION_OF_ANOTHER_CLIENT,
    );
}

/// Opens sessions with alternating messages, abandons them, and checks their memory.
fn check_abandoned(messages: [&'static str; 2], budget: i64) {
    let runtime = paused();
    let mut endpoint = endpoint();
    let mut round = || {
        let open = async {
            for message in messages.into_iter().cycle().take(SESSIONS) {
                assert_eq!(post(&mut endpoint, message).await, StatusCode::OK);
            }
        };
        let opened = retained_bytes(&runtime, open);
        assert_eq!(endpoint.metrics().sessions, SESSIONS as u64);
        let abandoned = retained_bytes(&runtime, async {
            tokio::time::sleep(Duration::from_secs(180)).await
        });
        assert_eq!(endpoint.metrics().sessions, 0);
        (opened, opened + abandoned)
    };
    // The first round allocates what is allocated once.
    let (_, kept) = round();
    println!("kept after the first round: {kept} bytes");
    for _ in 0..3 {
        let (opened, left) = round();
        let each = opened / SESSIONS as i64;
        println!("{each} bytes per idle session, {left} left");
        assert!(each <= budget, "{each}");
        assert!(left <= 0, "{left} bytes are left of {SESSIONS} sessions");
    }
}

#[test]
fn memory_is_given_back_after_a_session_peak() {
    let runtime = paused();
    let mut endpoint = endpoint();
    let kept = retained_bytes(&runtime, async {
        for _ in 0..PEAK {
            assert_eq!(post(&mut endpoint, INITIALIZE).await, StatusCode::OK);
        }
        assert_eq!(endpoint.metrics().sessions, PEAK as u64);
        tokio::time::sleep(Duration::from_secs(180)).await;
        assert_eq!(endpoint.metrics().sessions, 0);
    });
    println!("kept after {PEAK} sessions: {kept} bytes");
    assert!(kept <= KEPT_BY_ENDPOINT, "{kept}");
}

/// Connections with an open GET stream and its session, over sockets.
#[cfg(feature = "serve")]
mod streams {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};

    use mcp_transport_http::{Serve, Shutdown};
    use tokio::sync::oneshot;

    use super::{INITIALIZE, endpoint, retained_bytes};

    /// Size of hyper's buffers for reading and for response heads. Most of their pages are not touched
    /// while the connection is idle.
    const BUFFERS: i64 = 2 * 8192;
    /// Maximum bytes of an open GET stream without these buffers, including session and connection.
    const OPEN_STREAM: i64 = 5_600;
    /// Maximum bytes without these buffers of a connection between two requests.
    const IDLE_CONNECTION: i64 = 2_400;

    const STREAMS: usize = 200;

    fn ask(stream: &mut TcpStream, verb: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let text = format!(
            "{verb} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut head = vec![0; 4096];
        let mut read = 0;
        while !head[..read].windows(4).any(|four| four == b"\r\n\r\n") {
            read += stream.read(&mut head[read..]).unwrap();
        }
        head.truncate(read);
        String::from_utf8(head).unwrap()
    }

    fn open(addr: SocketAddr, listens: bool) -> TcpStream {
        let mut stream = TcpStream::connect(addr).unwrap();
        let answer = ask(&mut stream, "POST", "", INITIALIZE);
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let header = format!("Mcp-Session-Id: {}\r\n", id.unwrap());
        if listens {
            let answer = ask(&mut stream, "GET", &header, "");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        } else {
            let answer = ask(&mut stream, "DELETE", &header, "");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        stream
    }

    /// Returns the bytes per connection, with or without an open GET stream.
    fn bytes_per_connection(listens: bool) -> i64 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let shutdown = Shutdown::new();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let addr = listener.local_addr().unwrap();
        let serve = Serve::service(endpoint()).shutdown_with(shutdown.clone());
        let serving = runtime.spawn(serve.run(listener));
        let mut opened = Vec::new();
        let mut bytes = 0;
        // The first round allocates what is allocated once.
        for _ in 0..2 {
            let (done, all_open) = oneshot::channel();
            let client = std::thread::spawn(move || {
                let streams: Vec<_> = (0..STREAMS).map(|_| open(addr, listens)).collect();
                done.send(()).unwrap();
                streams
            });
            bytes = retained_bytes(&runtime, async { all_open.await.unwrap() });
            opened.push(client.join().unwrap());
        }
        shutdown.close();
        drop((serving, opened));
        bytes / STREAMS as i64
    }

    #[test]
    fn idle_connection_and_open_stream_stay_below_their_budgets() {
        let (idle, listening) = (
            bytes_per_connection(false) - BUFFERS,
            bytes_per_connection(true) - BUFFERS,
        );
        println!("{idle} bytes per idle connection, {listening} with a stream");
        assert!(idle <= IDLE_CONNECTION, "{idle}");
        assert!(listening <= OPEN_STREAM, "{listening}");
    }
}

#[test]
fn rejected_first_message_frees_all_memory() {
    let runtime = paused();
    let mut endpoint = endpoint();
    let mut refused = || {
        retained_bytes(&runtime, async {
            let status = post(&mut endpoint, WITHOUT_SESSION).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
        })
    };
    refused();
    assert_eq!(refused(), 0);
    assert_eq!(endpoint.metrics().sessions, 0);
}
