//! Misbehaving servers: every call ends within its deadline with its result or an error that states
//! the cause, its memory is bounded, and the next call succeeds.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use mcp::types::ProtocolVersion;
use mcp::{Client, ConnectMode, Over};
use mcp_transport_http::client::HttpChannel;
use mcp_transport_http::sse::SseLimits;
use serde_json::json;
use tokio::time::timeout;

use crate::raw::{Piece, Script, Server, events, json, response, text};

/// Timeout of a call that fails.
const DEADLINE: Duration = Duration::from_millis(400);
/// Timeout of a call that succeeds.
const LONG_DEADLINE: Duration = Duration::from_secs(20);
/// Tolerance for the deadline of a call on a busy machine.
const GRACE: Duration = Duration::from_secs(5);
/// Maximum size of a response in bytes.
const LIMIT: usize = 1 << 20;
/// Maximum memory of client and server together: the buffer for one event or body, which doubles while
/// it grows, and everything else.
const MEMORY: u64 = 6 << 20;

const ERAS: [ProtocolVersion; 2] = [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY];

/// A tool result that is valid in both eras.
fn result(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"ok"}}]}}}}"#
    )
}

/// The id of a request as JSON.
fn id_of(body: &str) -> String {
    let request: serde_json::Value = serde_json::from_str(body).unwrap();
    request["id"].to_string()
}

const SESSION: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
    mcp-session-id: s\r\n\r\n";

/// A well-behaved server, except that `hostile` answers calls of the tool `hostile` and GET.
async fn server(hostile: impl Fn(&str, &str) -> Script + Send + Sync + 'static) -> Server {
    Server::start(move |method, body| {
        if method == "GET" || body.contains(r#""name":"hostile""#) {
            return hostile(method, body);
        }
        if body.contains(r#""method":"initialize""#) {
            let opened = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
                id_of(body)
            );
            return vec![text(SESSION), text(opened), Piece::Close];
        }
        if body.contains(r#""method":"tools/call""#) {
            return json(&result(&id_of(body)));
        }
        vec![text("HTTP/1.1 202 Accepted\r\nconnection: close\r\n\r\n"), Piece::Close]
    })
    .await
}

/// Answers GET with 405 and everything else with `hostile`.
fn only_calls(
    hostile: impl Fn(&str) -> Script + Send + Sync + 'static,
) -> impl Fn(&str, &str) -> Script + Send + Sync + 'static {
    move |method, body| match method {
        "GET" => response("405 Method Not Allowed", "text/plain", "no"),
        _ => hostile(body),
    }
}

async fn client(server: &Server, version: ProtocolVersion, deadline: Duration) -> Client {
    let mut limits = SseLimits::default();
    (limits.event, limits.idle) = (LIMIT, 4 * LIMIT);
    let channel = HttpChannel::new(&server.url).unwrap();
    let builder = Client::builder()
        .mode(ConnectMode::Pin(version))
        .timeout(deadline);
    builder
        .connect(Over(channel.body_limit(LIMIT).event_limits(limits)))
        .await
        .unwrap()
}

/// Returns the result of the hostile call as a string, and checks that the next call succeeds.
async fn outcome(server: &Server, version: ProtocolVersion, deadline: Duration) -> String {
    let client = client(server, version, deadline).await;
    let call = client.call("hostile", json!({})).into_future();
    let result = timeout(deadline + GRACE, call).await;
    let outcome = match result.expect("the call exceeded its deadline") {
        Ok(result) => result.text().to_string(),
        Err(error) => {
            let mut outcome = String::new();
            for (is, name) in [
                (error.is_timeout(), "timeout: "),
                (error.is_closed(), "closed: "),
            ] {
                if is {
                    outcome += name;
                }
            }
            write!(outcome, "{error}").unwrap();
            outcome
        }
    };
    let good = client.call("good", json!({})).await;
    assert_eq!(good.unwrap().text(), "ok", "after {outcome}");
    client.close().await.unwrap();
    outcome
}

/// Runs client and server in one runtime and checks the memory that they allocate.
fn run(
    hostile: impl Fn(&str, &str) -> Script + Send + Sync + 'static,
    version: ProtocolVersion,
    deadline: Duration,
) -> String {
    let mut found = String::new();
    let held = measure(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        found = runtime.block_on(async {
            let server = server(hostile).await;
            outcome(&server, version, deadline).await
        });
    });
    assert!(held.bytes_max < MEMORY, "{} bytes: {found}", held.bytes_max);
    found
}

/// Checks that a call with this response fails with an error that contains all `parts`, in both eras.
#[track_caller]
fn expect(script: Script, parts: &[&str]) {
    for version in ERAS {
        let script = script.clone();
        let found = run(only_calls(move |_| script.clone()), version, DEADLINE);
        // Only silence leads to a timeout; other mistakes are reported at once.
        let waits = parts.contains(&"timeout: ");
        assert_eq!(
            found.starts_with("timeout: "),
            waits,
            "{version}: {found:?}"
        );
        for part in parts {
            assert!(
                found.contains(part),
                "{version}: {found:?} does not contain {part:?}"
            );
        }
    }
}

#[test]
fn broken_connection_is_closed_error() {
    let length = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
    expect(vec![Piece::Close], &["closed: ", "broke"]);
    expect(
        vec![text("HTTP/1.1 20"), Piece::Close],
        &["closed: ", "broke"],
    );
    expect(
        vec![text(length), text("{\"jsonrpc\""), Piece::Close],
        &["closed: ", "broke"],
    );
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = "a\r\ndata: {\n\n\r\n";
    expect(vec![text(chunked), text(event), Piece::Close], &["hostile"]);
}

#[test]
fn silent_server_is_timeout() {
    expect(vec![Piece::Silence], &["timeout: "]);
    expect(
        vec![text("HTTP/1.1 200 OK\r\n"), Piece::Silence],
        &["timeout: "],
    );
    expect(events([Piece::Silence]), &["timeout: "]);
    expect(
        events([text(": hello\n\ndata: "), Piece::Silence]),
        &["timeout: "],
    );
    expect(json(""), &["hostile"]);
    expect(response("202 Accepted", "text/plain", ""), &["hostile"]);
    expect(events([Piece::Close]), &["hostile"]);
}

#[test]
fn endless_response_is_cut_at_limit() {
    let line: Arc<[u8]> = vec![b'x'; 64 << 10].into();
    let line = |times| Piece::Repeat(times, Arc::clone(&line));
    // 64 MiB in one line.
    expect(
        events([text("data: "), line(1024), Piece::Close]),
        &["longer than 1048576 bytes"],
    );
    let head = text("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    expect(
        vec![head, text("\""), line(1024), Piece::Close],
        &["longer than 1048576 bytes"],
    );
    let length = text(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 67108864\r\n\r\n",
    );
    expect(
        vec![length, line(1024), Piece::Close],
        &["longer than 1048576 bytes"],
    );
    // Only the start of an error body is read.
    let head = text("HTTP/1.1 500 Oh\r\ncontent-type: text/plain\r\n\r\n");
    expect(
        vec![head, line(1024), Piece::Close],
        &["HTTP status 500", "xxx…"],
    );
    // Comments without end.
    let comments = format!(": {}\n", "x".repeat(125)).repeat(512);
    let comments: Arc<[u8]> = comments.into_bytes().into();
    let comments = |times| Piece::Repeat(times, Arc::clone(&comments));
    expect(
        events([comments(1024), Piece::Close]),
        &["longer than 4194304 bytes"],
    );
    // A response head without end.
    let header: Arc<[u8]> = format!("x: {}\r\n", "y".repeat(1000)).into_bytes().into();
    expect(
        vec![
            text("HTTP/1.1 200 OK\r\n"),
            Piece::Repeat(64 << 10, header),
            Piece::Close,
        ],
        &["broke"],
    );
}

#[test]
fn million_comments_before_event_are_skipped() {
    let comments: Arc<[u8]> = ":\n".repeat(1000).into_bytes().into();
    for version in ERAS {
        let comments = Arc::clone(&comments);
        let found = run(
            only_calls(move |body| {
                let data = text(format!("data: {}\n\n", result(&id_of(body))));
                events([
                    Piece::Repeat(1000, Arc::clone(&comments)),
                    data,
                    Piece::Close,
                ])
            }),
            version,
            LONG_DEADLINE,
        );
        assert_eq!(found, "ok", "{version}");
    }
}

#[test]
fn response_with_wrong_id_or_shape_is_error() {
    for id in ["\"x\"", "1.5", "{}", "[1]", "true", "null", "9999", "1e400"] {
        let response = result(id);
        expect(json(&response), &["hostile"]);
        expect(
            events([text(format!("data: {response}\n\n")), Piece::Close]),
            &["hostile"],
        );
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "{",
        "[]",
        "7",
        "null",
        "\"ok\"",
        "{}",
        "\u{0}",
        &deep,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
    ] {
        expect(json(body), &["hostile"]);
    }
    // A content block that cannot be read is a note; the rest of the result stays.
    for version in ERAS {
        let deep = deep.clone();
        let nested = only_calls(move |body| {
            let id = id_of(body);
            json(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{deep}}}}}"#
            ))
        });
        let found = run(nested, version, LONG_DEADLINE);
        assert!(found.contains("cannot be read"), "{version}: {found}");
    }
}

#[test]
fn non_protocol_response_is_error() {
    expect(vec![text("SSH-2.0-OpenSSH\r\n"), Piece::Close], &["broke"]);
    let page = response("200 OK", "text/html", "<h1>Welcome</h1>");
    expect(page, &["text/html", "<h1>Welcome</h1>"]);
    let plain = response("400 Bad Request", "text/plain", "Bad\r\n  Request\x1b[31m");
    expect(plain, &["HTTP status 400", ": Bad Request [31m"]);
    expect(
        response("500 Oh", "application/json", r#"{"error":"no"}"#),
        &["HTTP status 500"],
    );
}

#[test]
fn redirect_is_not_followed() {
    for version in ERAS {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let other = server(only_calls(|body| json(&result(&id_of(body))))).await;
            let head = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\nconnection: close\r\n\r\n",
                other.url
            );
            let hostile = only_calls(move |_| vec![text(&head), Piece::Close]);
            let found = outcome(&server(hostile).await, version, DEADLINE).await;
            assert!(
                found.contains("redirects to") && found.contains(&other.url),
                "{found}"
            );
            assert!(other.requests.lock().unwrap().is_empty());
        });
    }
}

#[test]
fn reconnect_attempts_are_bounded() {
    // A stream that closes at once and allows an immediate reconnect.
    let stream = || events([text("id: 1\nretry: 0\n\n"), Piece::Close]);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let server = server(move |_, _| stream()).await;
        let found = outcome(&server, ProtocolVersion::LATEST_LEGACY, DEADLINE).await;
        assert!(found.starts_with("timeout: "), "{found}");
        // About two requests for the call and two for the standalone stream.
        let gets = server.count("GET");
        assert!((2..=8).contains(&gets), "{gets}");
    });
}

#[test]
fn message_flood_outside_calls_is_bounded() {
    // Ten thousand requests and as many notifications while a call runs.
    let mut flood = String::new();
    for id in 0..10_000 {
        write!(
            flood,
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n\n\
             data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}}\n\n"
        )
        .unwrap();
    }
    let flood: Arc<[u8]> = flood.into_bytes().into();
    let hostile = move |method: &str, body: &str| match method {
        "GET" => events([Piece::Repeat(100, Arc::clone(&flood)), Piece::Silence]),
        _ => json(&result(&id_of(body))),
    };
    assert_eq!(
        run(hostile, ProtocolVersion::LATEST_LEGACY, LONG_DEADLINE),
        "ok"
    );
}
