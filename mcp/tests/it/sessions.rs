//! Servers of legacy revisions, and a client with the default `ConnectMode`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::raw::{Piece, Script, Server, events, live, response, text};

/// The response of a 2024-11-05 server; `None` for notifications and unknown methods.
fn legacy_response(body: &str) -> Option<String> {
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
    response("202 Accepted", "text/plain", "Accepted")
}

fn refused() -> Script {
    response("405 Method Not Allowed", "text/plain", "no")
}

#[tokio::test]
async fn client_falls_back_to_http_sse() {
    // spec: COMPAT-13
    let (events_sender, stream) = live();
    let server = Server::start(move |method, body| match method {
        "GET" => {
            let endpoint = text("event: endpoint\ndata: /messages?id=1\n\n");
            events([endpoint, stream.clone(), Piece::Close])
        }
        "POST /messages?id=1" => {
            if let Some(response) = legacy_response(body) {
                let _ = events_sender.try_send(format!("event: message\ndata: {response}\n\n"));
            }
            accepted()
        }
        // The endpoint of the stream accepts no POST, neither `server/discover` nor `initialize`.
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
async fn expired_session_is_reopened_and_running_call_fails() {
    // spec: SESS-08
    let (events_sender, stream) = live();
    let sessions = AtomicUsize::new(0);
    let pong = Arc::new(Notify::new());
    let server = Server::start(move |method, body| {
        let answer = legacy_response(body);
        if body.contains(r#""id":"p","result""#) {
            pong.notify_one();
        }
        if method != "POST" || body.contains(r#""method":"server/discover""#) {
            return refused();
        }
        if body.contains(r#""method":"initialize""#) {
            let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 mcp-session-id: s{number}\r\n\r\n"
            );
            return vec![text(head), text(answer.unwrap()), Piece::Close];
        }
        let Some(result) = answer else {
            return accepted();
        };
        match sessions.load(Ordering::Relaxed) {
            1 if body.contains("slow") => events([stream.clone(), Piece::Close]),
            1 => response("404 Not Found", "text/plain", "no such session"),
            // In the new session, the server pings the client and waits for its response first.
            _ => events([
                text("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n"),
                Piece::Wait(pong.clone()),
                text(format!("data: {result}\n\n")),
                Piece::Close,
            ]),
        }
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let (slow, logged) = (client.clone(), Arc::new(Notify::new()));
    let flag = Arc::clone(&logged);
    let slow = tokio::spawn(async move {
        let call = slow.call("slow", json!({}));
        call.on_log(move |_| flag.notify_one()).await
    });
    let log =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let event = format!("data: {log}\n\n");
    events_sender.send(event).await.unwrap();
    logged.notified().await;
    // The server did not run this call: the client opens a new session and repeats it.
    let result = client.call("tool", json!({})).await.unwrap();
    assert_eq!(result.text(), "ok");
    // The running call may have been executed, so the client does not repeat it.
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
