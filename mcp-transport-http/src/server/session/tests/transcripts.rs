//! Transcripts of a session in each legacy revision.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;

/// Returns the transcript of a session with a fixed id, and the transcript of a call that sends a
/// request to the client. `REVISION` replaces the revision in both.
async fn transcript(version: &'static str) -> (String, String) {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.session_id(|_| "id".to_owned());
    let mut peer = Peer::new(&endpoint).speaking(version);
    let (mut log, mut asking) = (String::new(), String::new());
    for message in [
        initialize(version),
        initialized(),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
        tool("a", "echo"),
        steps(2),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "nonsense" }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/subscribe", "params": { "uri": "file:///a" } }),
    ] {
        let method = message["method"].as_str().unwrap().to_owned();
        let got = peer.send(message).await;
        if peer.session.is_none() {
            peer.session = got.header("mcp-session-id");
        }
        write_response(&mut log, &method, got).await;
    }
    let got = peer.send(tool(5, "ask")).await;
    write_response(&mut asking, "tools/call", got).await;
    write_response(&mut log, "DELETE", peer.delete().await).await;
    write_response(&mut log, "DELETE", peer.delete().await).await;
    let neutral = |text: String| text.replace(version, "REVISION");
    (neutral(log), neutral(asking))
}

async fn write_response(log: &mut String, method: &str, mut got: Got) {
    let kind = got.header("content-type").unwrap_or_default();
    let session = got.header("mcp-session-id").unwrap_or_default();
    writeln!(log, "{method} -> {} {kind} {session}", got.status).unwrap();
    while let Ok(Some(frame)) = tokio::time::timeout(Duration::from_secs(1), got.frame()).await {
        for line in frame.lines().filter(|line| !line.is_empty()) {
            writeln!(log, "  {line}").unwrap();
        }
    }
}

/// Returns the transcripts of a revision.
fn transcripts(version: &'static str) -> (String, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(transcript(version))
}

#[test]
fn transcript_is_equal_in_all_legacy_revisions() {
    let expected = expect![[r#"
        initialize -> 200 application/json id
          {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"REVISION","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}},"serverInfo":{"name":"test","version":"1.0.0"}}}
        notifications/initialized -> 202  
        ping -> 200 application/json id
          {"jsonrpc":"2.0","id":1,"result":{}}
        tools/call -> 200 application/json id
          {"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"echo"}]}}
        tools/call -> 200 text/event-stream id
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"step"}}
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2}}
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"step"}}
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":3}}
          event: message
          data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"step"}}
          event: message
          data: {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
        nonsense -> 200 application/json id
          {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"method not found: nonsense"}}
        resources/subscribe -> 200 application/json id
          {"jsonrpc":"2.0","id":4,"result":{}}
        DELETE -> 200  
        DELETE -> 404 application/json 
          {"jsonrpc":"2.0","error":{"code":-32001,"message":"session not found; open another one with `initialize`"}}
    "#]];
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        expected.assert_eq(&transcripts(version).0);
    }
}

#[track_caller]
fn check_asking(versions: [&'static str; 2], expected: &Expect) {
    for version in versions {
        expected.assert_eq(&transcripts(version).1);
    }
}

#[test]
fn elicitation_is_available_since_2025_06_18() {
    check_asking(
        ["2025-11-25", "2025-06-18"],
        &expect![[r#"
        tools/call -> 200 text/event-stream id
          event: message
          data: {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":1},"message":"Go on?","requestedSchema":{"type":"object","properties":{}}}}
    "#]],
    );
    check_asking(
        ["2025-03-26", "2024-11-05"],
        &expect![[r#"
        tools/call -> 200 application/json id
          {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"the client did not answer: the client does not declare a capability that this call needs: `elicitation` (it asks the user)"}]}}
    "#]],
    );
}
