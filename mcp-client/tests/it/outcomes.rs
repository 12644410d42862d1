//! Outcomes of calls over real sockets: may the server have executed the call, and may it be repeated?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::{Client, ConnectMode, Error, Over};
use mcp_transport_http::HttpChannel;
use mcp_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::http::read_request;

/// The answer to a call.
#[derive(Clone)]
enum Reaction {
    /// These bytes, and then the end of the connection. `$ID` stands for the id of the request.
    Send(String),
    /// An open connection without an answer.
    Stall,
}

/// A server that reacts to calls one after the other. After the last reaction, calls succeed.
struct Server {
    url: String,
    calls: Arc<AtomicUsize>,
}

impl Server {
    async fn start(reactions: Vec<Reaction>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let calls = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (reactions, counter) = (reactions.clone(), Arc::clone(&counter));
                tokio::spawn(async move { serve(stream, &reactions, &counter).await });
            }
        });
        Self { url, calls }
    }

    /// A client that requests nothing before its first call.
    async fn client(&self) -> Client {
        pinned(&self.url).await
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

async fn pinned(url: &str) -> Client {
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let builder = Client::builder().mode(mode);
    builder
        .connect(HttpChannel::new(url).unwrap())
        .await
        .unwrap()
}

async fn serve(mut stream: TcpStream, reactions: &[Reaction], calls: &AtomicUsize) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    let ok = |result: Value| {
        let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        http(
            "200 OK",
            "content-type: application/json",
            &message.to_string(),
        )
    };
    let response = match request["method"].as_str().unwrap() {
        "tools/call" => match reactions.get(calls.fetch_add(1, Ordering::SeqCst)) {
            Some(Reaction::Send(response)) => response.replace("$ID", &request["id"].to_string()),
            Some(Reaction::Stall) => return std::future::pending().await,
            None => ok(json!({"content": [{"type": "text", "text": "done"}]})),
        },
        "tools/list" => ok(json!({"tools": [{
            "name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        }]})),
        "initialize" => {
            let response = ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"},
            }));
            response.replace("\r\n\r\n", "\r\nmcp-session-id: s\r\n\r\n")
        }
        _ => http("202 Accepted", "x-a: b", ""),
    };
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn http(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// The page of a proxy.
fn page(status: &str) -> Reaction {
    let body = format!("<html>\r\n<head><title>{status}</title></head><hr>nginx</html>");
    Reaction::Send(http(status, "content-type: text/html", &body))
}

/// A JSON-RPC error.
fn error(status: &str, header: &str, error: &Value) -> Reaction {
    let body = format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{error}}}"#);
    // The id has one digit.
    let length = body.len() - 2;
    Reaction::Send(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{header}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    ))
}

fn send(text: &str) -> Reaction {
    Reaction::Send(text.to_owned())
}

/// A stream that reports progress and then breaks.
fn broken_stream() -> Reaction {
    let event =
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n";
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let length = event.len();
    Reaction::Send(format!("{head}{length:x}\r\n{event}\r\n"))
}

fn outcome(error: &Error) -> (bool, bool) {
    (error.may_have_run(), error.is_retryable())
}

const NO: &str = "x-a: b";

#[tokio::test]
async fn outcome_says_whether_call_may_have_run_and_be_repeated() {
    let failed = |code: i64| json!({"code": code, "message": "no"});
    let wait = json!({"code": -32603, "message": "too many calls", "data": {"retryAfter": 2}});
    let ended_stream = http("200 OK", "content-type: text/event-stream", ": nothing\n\n");
    let cases = [
        // Refused before the call.
        ("401", page("401 Unauthorized"), (false, false)),
        ("403", page("403 Forbidden"), (false, false)),
        ("404", page("404 Not Found"), (false, false)),
        ("405", page("405 Method Not Allowed"), (false, false)),
        ("406", page("406 Not Acceptable"), (false, false)),
        ("413", page("413 Content Too Large"), (false, false)),
        ("415", page("415 Unsupported Media Type"), (false, false)),
        ("307", page("307 Temporary Redirect"), (false, false)),
        ("429", page("429 Too Many Requests"), (false, true)),
        (
            "429 JSON",
            error("429 Too Many Requests", NO, &failed(-32603)),
            (false, true),
        ),
        (
            "503 JSON",
            error("503 Service Unavailable", NO, &failed(-32603)),
            (false, true),
        ),
        (
            "400 JSON",
            error("400 Bad Request", NO, &failed(-32602)),
            (false, false),
        ),
        (
            "200 JSON, refused",
            error("200 OK", NO, &failed(-32602)),
            (false, false),
        ),
        ("200 JSON, later", error("200 OK", NO, &wait), (false, true)),
        // A proxy answers these while the server works.
        ("408", page("408 Request Timeout"), (true, true)),
        ("500", page("500 Internal Server Error"), (true, false)),
        ("502", page("502 Bad Gateway"), (true, true)),
        ("503", page("503 Service Unavailable"), (true, true)),
        ("504", page("504 Gateway Timeout"), (true, true)),
        // The server has begun to work.
        (
            "200 JSON, failed",
            error("200 OK", NO, &failed(-32603)),
            (true, false),
        ),
        ("cut", send(""), (true, true)),
        (
            "cut in the head",
            send("HTTP/1.1 200 OK\r\ncont"),
            (true, true),
        ),
        (
            "cut in the body",
            send(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
            ),
            (true, true),
        ),
        ("stream broken", broken_stream(), (true, true)),
        (
            "stream without response",
            Reaction::Send(ended_stream),
            (true, true),
        ),
        (
            "202",
            send("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"),
            (true, true),
        ),
        ("time limit", Reaction::Stall, (true, true)),
        // A response that cannot be read.
        (
            "200 HTML",
            Reaction::Send(http("200 OK", "content-type: text/html", "<html>")),
            (true, false),
        ),
        (
            "200 not JSON-RPC",
            Reaction::Send(http("200 OK", "content-type: application/json", "{}")),
            (true, false),
        ),
    ];
    let check = async |(name, reaction, expected): (&str, Reaction, (bool, bool))| {
        let server = Server::start(vec![reaction]).await;
        let call = server.client().await.call("pay", ());
        let error = call.timeout(Duration::from_millis(900)).await.unwrap_err();
        assert_eq!(outcome(&error), expected, "{name}: {error}");
        assert_eq!(server.calls(), 1, "{name}");
        let text = error.to_string();
        assert!(!text.contains("title"), "{name}: {text}");
    };
    // Boxed, because so many futures do not fit on the stack of a test.
    let checks = cases.into_iter().map(|case| Box::pin(check(case)));
    futures::future::join_all(checks).await;
}

#[tokio::test]
async fn error_names_the_lost_server_without_the_proxy_page() {
    let server = Server::start(vec![page("502 Bad Gateway"), page("504 Gateway Timeout")]).await;
    let client = server.client().await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "tools/call \"pay\" at {}: the proxy lost the server while it worked (502 Bad Gateway); the \
             server may have executed the call, so it was not repeated (allow that with `idempotent`)",
            server.url
        )
    );
    let error = client.call("pay", ()).await.unwrap_err().to_string();
    let text = "the proxy did not wait longer for the server (504 Gateway Timeout); the server may";
    assert!(error.contains(text), "{error}");
}

#[tokio::test]
async fn retry_after_in_a_refusal_is_returned() {
    let refusal = json!({"code": -32603, "message": "too many calls"});
    let server = Server::start(vec![error(
        "503 Service Unavailable",
        "retry-after: 7",
        &refusal,
    )])
    .await;
    let error = server.client().await.call("pay", ()).await.unwrap_err();
    assert!(error.fault().is_some(), "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn call_that_may_run_twice_is_repeated_after_lost_connections() {
    let lost = [
        page("502 Bad Gateway"),
        page("503 Service Unavailable"),
        page("504 Gateway Timeout"),
        send(""),
        broken_stream(),
    ];
    let checks = lost.map(async |reaction| {
        let server = Server::start(vec![reaction.clone(), reaction.clone()]).await;
        let client = server.client().await;
        client.list_tools().await.unwrap();
        assert_eq!(client.call("look", ()).await.unwrap().text(), "done");
        assert_eq!(server.calls(), 3);

        let server = Server::start(vec![reaction]).await;
        let call = server.client().await.call("pay", ()).idempotent(true);
        assert_eq!(call.await.unwrap().text(), "done");
        assert_eq!(server.calls(), 2);
    });
    futures::future::join_all(checks).await;
    // Other failures are not repeated.
    let server = Server::start(vec![page("500 Internal Server Error")]).await;
    let call = server.client().await.call("pay", ()).idempotent(true);
    call.await.unwrap_err();
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn call_may_have_run_although_its_repetition_was_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        drop(listener);
        read_request(&mut stream).await;
    });
    let call = pinned(&url).await.call("pay", ()).idempotent(true);
    let error = call.await.unwrap_err();
    assert!(error.to_string().contains("cannot connect"), "{error}");
    assert_eq!(outcome(&error), (true, true), "{error}");
}

#[tokio::test]
async fn call_without_connection_has_not_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = pinned(&format!("http://{address}/mcp")).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert_eq!(outcome(&error), (false, true), "{error}");

    // A server that does not speak TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        std::future::pending::<()>().await;
    });
    let client = pinned(&format!("https://{address}/mcp")).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert_eq!(outcome(&error), (false, false), "{error}");
}

#[tokio::test]
async fn cancelled_call_may_have_run_once_it_was_sent() {
    let server = Server::start(vec![Reaction::Stall]).await;
    let client = server.client().await;
    let call = client.call("pay", ()).cancel_on(std::future::ready(()));
    let error = call.await.unwrap_err();
    assert!(error.is_cancelled() && !error.may_have_run(), "{error}");
    let calls = Arc::clone(&server.calls);
    let sent = async move {
        while calls.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    let error = client.call("pay", ()).cancel_on(sent).await.unwrap_err();
    assert!(error.is_cancelled() && error.may_have_run(), "{error}");
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn lost_session_tells_whether_call_may_have_run() {
    let dropped = json!({"code": -32603, "message": "the session has ended"});
    let failed = json!({"code": -32001, "message": "session not found"});
    let unread = http(
        "404 Not Found",
        "content-type: application/json",
        &json!({"jsonrpc": "2.0", "id": null, "error": failed}).to_string(),
    );
    for (reaction, expected) in [
        // The node with the session dropped it while the call ran.
        (error("404 Not Found", NO, &dropped), (true, true)),
        (error("404 Not Found", NO, &failed), (false, false)),
        // The server does not know the session.
        (Reaction::Send(unread), (false, false)),
    ] {
        let server = Server::start(vec![reaction.clone(), reaction]).await;
        let builder = Client::builder().mode(ConnectMode::Legacy);
        let channel = HttpChannel::new(&server.url).unwrap();
        let client = builder.connect(Over(channel)).await.unwrap();
        let error = client.call("pay", ()).await.unwrap_err();
        assert_eq!(outcome(&error), expected, "{error}");
    }
}

// spec: COMPAT-08
#[tokio::test]
async fn success_without_answer_is_not_modern_and_a_lost_connection_is_an_error() {
    let json = "content-type: application/json";
    let events = "content-type: text/event-stream";
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    for (answer, is_legacy) in [
        (http("202 Accepted", NO, ""), true),
        (http("204 No Content", NO, ""), true),
        (http("200 OK", json, ""), true),
        (http("200 OK", NO, "ok"), true),
        (http("200 OK", "content-type: text/html", "<html>"), true),
        (http("200 OK", "content-type: text/plain", "Welcome"), true),
        (
            http("200 OK", json, "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu"),
            true,
        ),
        (http("200 OK", json, note), true),
        (
            http(
                "200 OK",
                json,
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":"no"}"#,
            ),
            true,
        ),
        (http("200 OK", events, ""), true),
        (http("200 OK", events, ": nothing\n\n"), true),
        (http("200 OK", events, &format!("data: {note}\n\n")), true),
        (
            http("200 OK", events, "data: {\"jsonrpc\":\"2.0\",\"id\":1"),
            true,
        ),
        (String::new(), false),
        (http("500 Internal Server Error", NO, ""), false),
        (
            http("502 Bad Gateway", "content-type: text/html", "<html>"),
            false,
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let response = answer.clone();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let probe = read_request(&mut stream).await.unwrap();
            assert_eq!(probe["method"], "server/discover");
            stream.write_all(response.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, &[], &AtomicUsize::new(0)).await;
            }
        });
        let connected = Client::connect(HttpChannel::new(&url).unwrap()).await;
        match connected {
            Ok(client) => {
                assert!(is_legacy, "{answer}");
                assert_eq!(client.protocol_version(), ProtocolVersion::V2025_11_25);
            }
            Err(error) => {
                assert!(!is_legacy, "{answer}: {error}");
                assert!(
                    error.to_string().starts_with("server/discover at"),
                    "{error}"
                );
            }
        }
        server.abort();
    }
}
