//! Servers of the legacy era, found out and spoken to by a client that was told nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::raw::{Piece, Script, Server, answer, events, live, text};

/// The answer to a request, as an old server gives it; `None` for what has none.
fn old(body: &str) -> Option<String> {
    let request: Value = serde_json::from_str(body).ok()?;
    let id = request.get("id")?;
    let result = match request["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }),
        "tools/call" => json!({"content": [{"type": "text", "text": "ok"}]}),
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn accepted() -> Script {
    answer("202 Accepted", "text/plain", "Accepted")
}

fn refused() -> Script {
    answer("405 Method Not Allowed", "text/plain", "no")
}

#[tokio::test]
async fn http_sse() {
    // spec: COMPAT-13
    let (says, stream) = live();
    let server = Server::start(move |verb, body| match verb {
        "GET" => {
            let endpoint = text("event: endpoint\ndata: /messages?id=1\n\n");
            events([endpoint, stream.clone(), Piece::Cut])
        }
        "POST /messages?id=1" => {
            if let Some(answer) = old(body) {
                let _ = says.send(format!("event: message\ndata: {answer}\n\n"));
            }
            accepted()
        }
        // The stream takes no POST: neither the question what it speaks nor `initialize`.
        _ => refused(),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    assert_eq!(client.protocol_version(), ProtocolVersion::V2024_11_05);
    assert_eq!(client.server_info().unwrap().name, "old");
    assert_eq!(client.call("tool", json!({})).await.unwrap().text(), "ok");
    client.close().await.unwrap();
    assert_eq!((server.count("POST"), server.count("GET")), (2, 1));
}

#[tokio::test]
async fn a_session_that_is_forgotten_while_a_tool_runs() {
    // spec: SESS-08
    let (says, stream) = live();
    let sessions = AtomicUsize::new(0);
    let server = Server::start(move |verb, body| {
        let answer_to = old(body);
        if verb != "POST" || body.contains(r#""method":"server/discover""#) {
            return refused();
        }
        if body.contains(r#""method":"initialize""#) {
            let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 mcp-session-id: s{number}\r\n\r\n"
            );
            return vec![text(head), text(answer_to.unwrap()), Piece::Cut];
        }
        let Some(result) = answer_to else {
            return accepted();
        };
        match sessions.load(Ordering::Relaxed) {
            1 if body.contains("slow") => events([stream.clone(), Piece::Cut]),
            1 => answer("404 Not Found", "text/plain", "no such session"),
            // In the new session the server asks back before it answers.
            _ => events([
                text("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n"),
                Piece::Pause,
                text(format!("data: {result}\n\n")),
                Piece::Cut,
            ]),
        }
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let (slow, taken) = (client.clone(), Arc::new(Notify::new()));
    let flag = Arc::clone(&taken);
    let slow = tokio::spawn(async move {
        let call = slow.call("slow", json!({}));
        call.on_log(move |_| flag.notify_one()).await
    });
    let log =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    says.send(format!("data: {log}\n\n")).unwrap();
    taken.notified().await;
    // This one finds out, and has not run: it runs in a new session.
    let result = client.call("tool", json!({})).await.unwrap();
    assert_eq!(result.text(), "ok");
    // That one may have run, and nothing is done twice by itself.
    let error = slow.await.unwrap().unwrap_err();
    assert!(
        error.is_closed() && error.to_string().contains("ended the session"),
        "{error}"
    );
    client.close().await.unwrap();
    assert_eq!(server.count(r#""method":"initialize""#), 2);
    assert_eq!(server.count(r#""name":"slow""#), 1);
    assert_eq!(server.count(r#""id":"p","result""#), 1);
    assert_eq!(server.count("DELETE"), 1);
}
