//! Servers that misbehave: every call ends within its deadline, in an error that says why or in
//! the answer, holds little memory meanwhile, and the next call is served.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use mcp::types::ProtocolVersion;
use mcp::{Client, ConnectMode};
use mcp_transport_http::client::HttpChannel;
use mcp_transport_http::sse::SseLimits;
use serde_json::json;

use crate::raw::{Piece, Script, Server, answer, events, json, text};

/// How long a call may take.
const DEADLINE: Duration = Duration::from_millis(400);
/// How long a call may take that gets an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// What an answer may have, in bytes.
const LIMIT: usize = 1 << 20;
/// What a call may hold at a time, whatever the server sends: the buffer of one event or body,
/// doubled while it grows, and the rest.
const MEMORY: u64 = 6 << 20;

const ERAS: [ProtocolVersion; 2] = [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY];

/// The result of a call of a tool, in both eras.
fn result(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"ok"}}]}}}}"#
    )
}

/// The id of a request, as it stands in the text.
fn id_of(body: &str) -> String {
    let request: serde_json::Value = serde_json::from_str(body).unwrap();
    request["id"].to_string()
}

const SESSION: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
    mcp-session-id: s\r\n\r\n";

/// A server that behaves but for what `hostile` does with the tool of that name, and with GET.
async fn server(hostile: impl Fn(&str, &str) -> Script + Send + Sync + 'static) -> Server {
    Server::start(move |verb, body| {
        if verb == "GET" || body.contains(r#""name":"hostile""#) {
            return hostile(verb, body);
        }
        if body.contains(r#""method":"initialize""#) {
            let opened = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
                id_of(body)
            );
            return vec![text(SESSION), text(opened), Piece::Cut];
        }
        if body.contains(r#""method":"tools/call""#) {
            return json(&result(&id_of(body)));
        }
        vec![text("HTTP/1.1 202 Accepted\r\nconnection: close\r\n\r\n"), Piece::Cut]
    })
    .await
}

/// Only the call is hostile: there is no stream outside of it.
fn only_calls(
    hostile: impl Fn(&str) -> Script + Send + Sync + 'static,
) -> impl Fn(&str, &str) -> Script + Send + Sync + 'static {
    move |verb, body| match verb {
        "GET" => answer("405 Method Not Allowed", "text/plain", "no"),
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
        .over(channel.body_limit(LIMIT).event_limits(limits))
        .await
        .unwrap()
}

/// What becomes of the hostile call, as text; the good one after it succeeds.
async fn outcome(server: &Server, version: ProtocolVersion, deadline: Duration) -> String {
    let client = client(server, version, deadline).await;
    let begun = Instant::now();
    let outcome = match client.call("hostile", json!({})).await {
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
    let took = begun.elapsed();
    assert!(
        took < deadline + Duration::from_secs(5),
        "{took:?}: {outcome}"
    );
    let good = client.call("good", json!({})).await;
    assert_eq!(good.unwrap().text(), "ok", "after {outcome}");
    client.close().await.unwrap();
    outcome
}

/// Runs in a thread of its own, client and server together, and counts what they hold.
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

/// Holds what becomes of an answer, in both eras, against what its error has to say.
#[track_caller]
fn expect(script: Script, says: &[&str]) {
    for version in ERAS {
        let script = script.clone();
        let found = run(only_calls(move |_| script.clone()), version, DEADLINE);
        // What can be told at once is not waited for.
        let waits = says.contains(&"timeout: ");
        assert_eq!(
            found.starts_with("timeout: "),
            waits,
            "{version}: {found:?}"
        );
        for part in says {
            assert!(
                found.contains(part),
                "{version}: {found:?} does not say {part:?}"
            );
        }
    }
}

#[test]
fn servers_that_die() {
    let length = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
    expect(vec![Piece::Cut], &["closed: ", "broke"]);
    expect(
        vec![text("HTTP/1.1 20"), Piece::Cut],
        &["closed: ", "broke"],
    );
    expect(
        vec![text(length), text("{\"jsonrpc\""), Piece::Cut],
        &["closed: ", "broke"],
    );
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = "a\r\ndata: {\n\n\r\n";
    expect(vec![text(chunked), text(event), Piece::Cut], &["hostile"]);
}

#[test]
fn servers_that_say_nothing() {
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
    expect(answer("202 Accepted", "text/plain", ""), &["hostile"]);
    expect(events([Piece::Cut]), &["hostile"]);
}

#[test]
fn servers_that_never_stop() {
    let line: Arc<[u8]> = vec![b'x'; 64 << 10].into();
    let line = |times| Piece::Times(times, Arc::clone(&line));
    // 64 MiB in one line.
    expect(
        events([text("data: "), line(1024), Piece::Cut]),
        &["longer than 1048576 bytes"],
    );
    let head = text("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    expect(
        vec![head, text("\""), line(1024), Piece::Cut],
        &["longer than 1048576 bytes"],
    );
    let length = text(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 67108864\r\n\r\n",
    );
    expect(
        vec![length, line(1024), Piece::Cut],
        &["longer than 1048576 bytes"],
    );
    // Of an error only the beginning is looked at.
    let head = text("HTTP/1.1 500 Oh\r\ncontent-type: text/plain\r\n\r\n");
    expect(
        vec![head, line(1024), Piece::Cut],
        &["HTTP status 500", "xxx…"],
    );
    // Comments without end …
    let comments = format!(": {}\n", "x".repeat(125)).repeat(512);
    let comments: Arc<[u8]> = comments.into_bytes().into();
    let comments = |times| Piece::Times(times, Arc::clone(&comments));
    expect(
        events([comments(1024), Piece::Cut]),
        &["longer than 4194304 bytes"],
    );
    // … and a head without one.
    let header: Arc<[u8]> = format!("x: {}\r\n", "y".repeat(1000)).into_bytes().into();
    expect(
        vec![
            text("HTTP/1.1 200 OK\r\n"),
            Piece::Times(64 << 10, header),
            Piece::Cut,
        ],
        &["broke"],
    );
}

#[test]
fn a_million_comments() {
    let comments: Arc<[u8]> = ":\n".repeat(1000).into_bytes().into();
    for version in ERAS {
        let comments = Arc::clone(&comments);
        let found = run(
            only_calls(move |body| {
                let data = text(format!("data: {}\n\n", result(&id_of(body))));
                events([Piece::Times(1000, Arc::clone(&comments)), data, Piece::Cut])
            }),
            version,
            PATIENCE,
        );
        assert_eq!(found, "ok", "{version}");
    }
}

#[test]
fn answers_to_something_else() {
    for id in ["\"1\"", "1.5", "{}", "[1]", "true", "null", "9999", "1e400"] {
        let answer = result(id);
        expect(json(&answer), &["hostile"]);
        expect(
            events([text(format!("data: {answer}\n\n")), Piece::Cut]),
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
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":{deep}}}}}"#),
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
    ] {
        expect(json(body), &["hostile"]);
    }
}

#[test]
fn answers_that_are_no_answers() {
    expect(vec![text("SSH-2.0-OpenSSH\r\n"), Piece::Cut], &["broke"]);
    let page = answer("200 OK", "text/html", "<h1>Welcome</h1>");
    expect(page, &["text/html", "<h1>Welcome</h1>"]);
    let plain = answer("400 Bad Request", "text/plain", "Bad\r\n  Request\x1b[31m");
    expect(plain, &["HTTP status 400", ": Bad Request [31m"]);
    expect(
        answer("500 Oh", "application/json", r#"{"error":"no"}"#),
        &["HTTP status 500"],
    );
}

#[test]
fn redirects_to_somewhere_else() {
    for version in ERAS {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let other = server(only_calls(|body| json(&result(&id_of(body))))).await;
            let head = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\nconnection: close\r\n\r\n",
                other.url
            );
            let hostile = only_calls(move |_| vec![text(&head), Piece::Cut]);
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
fn endless_reconnects() {
    // A stream that closes at once, and has the client come back at once.
    let again = || events([text("id: 1\nretry: 0\n\n"), Piece::Cut]);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let server = server(move |_, _| again()).await;
        let found = outcome(&server, ProtocolVersion::LATEST_LEGACY, DEADLINE).await;
        assert!(found.starts_with("timeout: "), "{found}");
        // Twice for the call, twice for the stream outside of it, or so.
        let gets = server.count("GET");
        assert!((2..=8).contains(&gets), "{gets}");
    });
}

#[test]
fn floods_outside_of_calls() {
    // Ten thousand requests and as many notifications, and a call in between.
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
    let hostile = move |verb: &str, body: &str| match verb {
        "GET" => events([Piece::Times(100, Arc::clone(&flood)), Piece::Silence]),
        _ => json(&result(&id_of(body))),
    };
    assert_eq!(run(hostile, ProtocolVersion::LATEST_LEGACY, PATIENCE), "ok");
}
