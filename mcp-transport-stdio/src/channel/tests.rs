//! A channel against a server that the test plays line by line.

use std::time::Duration;

use futures_util::StreamExt;
use mcp_core::{
    Channel, ChannelError, CloseReason, Frames, MirroredHeaders, OneWayMessage, OutgoingRequest,
};
use mcp_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};

use super::PipeChannel;

const SECOND: Duration = Duration::from_secs(1);

struct Server {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

fn pipe(capacity: usize) -> (PipeChannel, Server) {
    let (here, there) = duplex(capacity);
    let (reader, writer) = split(here);
    let channel = PipeChannel::with_limit(reader, writer, 10_000);
    let (reader, writer) = split(there);
    let reader = BufReader::new(reader);
    (channel, Server { reader, writer })
}

impl Server {
    /// Receives the next line of the client, or `None` at the end of the input.
    async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        match timeout(60 * SECOND, read).await.unwrap().unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    async fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn respond(&mut self, id: i64) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": {} }))
            .await;
    }

    async fn progress(&mut self, token: i64, progress: i64) {
        let params = json!({ "progressToken": token, "progress": progress });
        let note =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        self.send(note).await;
    }
}

fn request(id: i64, method: &str) -> OutgoingRequest {
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string();
    let mirror = MirroredHeaders::new(ProtocolVersion::V2026_07_28, method, None);
    OutgoingRequest::new(id.into(), text, mirror)
}

/// Sends a request and returns its frames.
async fn start_call(channel: &PipeChannel, server: &mut Server, id: i64, method: &str) -> Frames {
    let mut frames = channel.call(request(id, method));
    let nothing = timeout(Duration::ZERO, frames.next()).await;
    assert!(nothing.is_err());
    assert_eq!(server.receive().await.unwrap()["id"], id);
    frames
}

async fn next(frames: &mut Frames) -> Option<Result<Value, ChannelError>> {
    let next = timeout(60 * SECOND, frames.next()).await.unwrap()?;
    Some(next.map(|frame| serde_json::from_slice(&frame.message).unwrap()))
}

async fn message(frames: &mut Frames) -> Value {
    next(frames).await.unwrap().unwrap()
}

async fn error(frames: &mut Frames) -> ChannelError {
    let error = next(frames).await.unwrap().unwrap_err();
    assert!(next(frames).await.is_none());
    error
}

#[tokio::test(start_paused = true)]
async fn responses_in_any_order_reach_their_calls() {
    let (channel, mut server) = pipe(1024);
    let mut first = start_call(&channel, &mut server, 1, "tools/call").await;
    let mut second = start_call(&channel, &mut server, 2, "tools/call").await;
    server.respond(2).await;
    server.progress(1, 1).await;
    server.respond(1).await;
    assert_eq!(message(&mut second).await["id"], 2);
    assert!(next(&mut second).await.is_none());
    assert_eq!(message(&mut first).await["params"]["progress"], 1);
    assert_eq!(message(&mut first).await["id"], 1);
    assert!(next(&mut first).await.is_none());
    drop((first, second));
    // Answered calls are not cancelled.
    channel.close().await.unwrap();
    assert_eq!(server.receive().await, None);
}

// spec: STDIO-10, CAN-10
#[tokio::test(start_paused = true)]
async fn dropped_calls_are_removed_and_cancelled() {
    // spec: CAN-01
    let (channel, mut server) = pipe(1 << 20);
    let mut calls = Vec::new();
    for id in 1..=1000 {
        calls.push(start_call(&channel, &mut server, id, "tools/call").await);
    }
    assert_eq!(channel.shared.pending.lock().len(), 1000);
    drop(calls);
    assert!(channel.shared.pending.lock().is_empty());
    for id in 1..=1000 {
        let note = server.receive().await.unwrap();
        assert_eq!(note["method"], "notifications/cancelled");
        assert_eq!(note["params"]["requestId"], id);
    }
    // Messages for dropped calls are ignored.
    server.respond(7).await;
    server.progress(8, 1).await;
    let mut frames = start_call(&channel, &mut server, 1001, "tools/call").await;
    server.respond(1001).await;
    assert_eq!(message(&mut frames).await["id"], 1001);
}

#[tokio::test(start_paused = true)]
async fn call_dropped_on_full_pipe_is_never_sent() {
    let (channel, mut server) = pipe(16);
    let stuck = OneWayMessage::new("x".repeat(500_000), request(0, "x").mirrored);
    channel.notify(stuck.clone()).await.unwrap();
    channel.notify(stuck).await.unwrap();
    let start = Instant::now();
    let mut frames = channel.call(request(1, "tools/call"));
    assert!(timeout(SECOND, frames.next()).await.is_err());
    drop(frames);
    assert_eq!(start.elapsed(), SECOND);
    assert!(channel.shared.pending.lock().is_empty());
    // A request that was never sent is not cancelled.
    let mut line = String::new();
    for _ in 0..2 {
        server.reader.read_line(&mut line).await.unwrap();
    }
    channel.close().await.unwrap();
    assert_eq!(server.receive().await, None);
}

#[tokio::test(start_paused = true)]
async fn dropped_initialize_is_not_cancelled() {
    // spec: CAN-02
    let (channel, mut server) = pipe(1024);
    drop(start_call(&channel, &mut server, 1, "initialize").await);
    channel.close().await.unwrap();
    assert_eq!(server.receive().await, None);
}

#[tokio::test(start_paused = true)]
async fn server_end_fails_all_calls() {
    let (channel, mut server) = pipe(1024);
    let mut first = start_call(&channel, &mut server, 1, "tools/call").await;
    let mut second = start_call(&channel, &mut server, 2, "tools/call").await;
    server.respond(1).await;
    drop(server);
    assert_eq!(message(&mut first).await["id"], 1);
    for frames in [&mut second, &mut channel.call(request(3, "tools/call"))] {
        let error = error(frames).await;
        assert!(
            matches!(error, ChannelError::Closed(CloseReason::Remote)),
            "{error:?}"
        );
    }
    assert_eq!(channel.closed().await, CloseReason::Remote);
}

#[tokio::test(start_paused = true)]
async fn close_fails_running_and_later_calls() {
    let (channel, mut server) = pipe(1024);
    let mut frames = start_call(&channel, &mut server, 1, "tools/call").await;
    channel.close().await.unwrap();
    let error = error(&mut frames).await;
    assert!(
        matches!(error, ChannelError::Closed(CloseReason::Local)),
        "{error:?}"
    );
    assert_eq!(channel.closed().await, CloseReason::Local);
    assert_eq!(server.receive().await, None);
    let late = OneWayMessage::new("{}", request(0, "x").mirrored);
    assert!(matches!(
        channel.notify(late).await,
        Err(ChannelError::Closed(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn dropped_channel_closes_the_server_input() {
    let (channel, mut server) = pipe(1024);
    let mut frames = start_call(&channel, &mut server, 1, "tools/call").await;
    let closed = channel.closed();
    drop(channel);
    assert!(matches!(
        error(&mut frames).await,
        ChannelError::Closed(CloseReason::Local)
    ));
    assert_eq!(closed.await, CloseReason::Local);
    assert_eq!(server.receive().await, None);
}

#[tokio::test(start_paused = true)]
async fn slow_caller_loses_oldest_notifications_only() {
    let (channel, mut server) = pipe(1024);
    let mut slow = start_call(&channel, &mut server, 1, "tools/call").await;
    let mut other = start_call(&channel, &mut server, 2, "tools/call").await;
    for step in 1..=5000 {
        server.progress(1, step).await;
    }
    server.respond(1).await;
    server.respond(2).await;
    assert_eq!(message(&mut other).await["id"], 2);
    // The newest notifications and the response are kept.
    for step in 3977..=5000 {
        assert_eq!(message(&mut slow).await["params"]["progress"], step);
    }
    assert_eq!(message(&mut slow).await["id"], 1);
}

// spec: STDIO-09, SUB-07
#[tokio::test(start_paused = true)]
async fn notifications_reach_their_subscription() {
    // spec: CAN-09
    let (channel, mut server) = pipe(1024);
    channel.set_version(ProtocolVersion::V2026_07_28);
    let mut first = start_call(&channel, &mut server, 1, "subscriptions/listen").await;
    let mut second = start_call(&channel, &mut server, 2, "subscriptions/listen").await;
    let mut call = start_call(&channel, &mut server, 3, "tools/call").await;
    let stamped = |id: i64, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    };
    let changed = "notifications/tools/list_changed";
    server.send(stamped(2, changed, json!({}))).await;
    server.send(stamped(1, changed, json!({}))).await;
    let log = json!({ "level": "info", "data": "hello" });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log });
    server.send(log).await;
    let ended = stamped(1, "notifications/cancelled", json!({ "requestId": 1 }));
    server.send(ended).await;
    assert_eq!(message(&mut first).await["method"], changed);
    assert_eq!(message(&mut second).await["method"], changed);
    assert_eq!(message(&mut call).await["params"]["data"], "hello");
    assert_eq!(message(&mut first).await["params"]["requestId"], 1);
    assert!(next(&mut first).await.is_none());
    drop((first, second));
    // A subscription that the server has ended is not cancelled.
    assert_eq!(server.receive().await.unwrap()["params"]["requestId"], 2);
}

// spec: LOG-05
#[tokio::test(start_paused = true)]
async fn logs_and_extension_notifications_reach_the_only_call_before_its_response() {
    let (log, tick) = ("notifications/message", "notifications/clock/tick");
    let versions = [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28];
    for version in versions {
        let (channel, mut server) = pipe(1024);
        channel.set_version(version);
        let mut inbound = channel.inbound().unwrap();
        let note = |method: &str| {
            let params = json!({ "level": "info", "data": method });
            json!({ "jsonrpc": "2.0", "method": method, "params": params })
        };
        let mut call = start_call(&channel, &mut server, 1, "tools/call").await;
        for method in [log, tick] {
            server.send(note(method)).await;
        }
        server.respond(1).await;
        for method in [log, tick] {
            assert_eq!(message(&mut call).await["method"], method);
        }
        assert_eq!(message(&mut call).await["id"], 1);
        // With two calls it is not known to which one they belong.
        let _first = start_call(&channel, &mut server, 2, "tools/call").await;
        let _second = start_call(&channel, &mut server, 3, "tools/call").await;
        for method in [log, tick] {
            server.send(note(method)).await;
            assert_eq!(message(&mut inbound).await["method"], method);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn messages_of_no_call_go_to_inbound() {
    let (channel, mut server) = pipe(1024);
    channel.set_version(ProtocolVersion::V2025_11_25);
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" });
    // `inbound` is not called yet, so the message is dropped.
    server.send(ask.clone()).await;
    sleep(SECOND).await;
    let mut inbound = channel.inbound().unwrap();
    assert!(channel.inbound().is_none());
    let mut call = start_call(&channel, &mut server, 1, "tools/call").await;
    server.send(ask).await;
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    server.send(changed).await;
    let taken_back = json!({ "requestId": 1 });
    let taken_back =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back });
    server.send(taken_back).await;
    server.respond(1).await;
    // Request ids of client and server are independent.
    assert_eq!(message(&mut call).await["result"], json!({}));
    assert_eq!(message(&mut inbound).await["method"], "roots/list");
    let expected = [
        "notifications/tools/list_changed",
        "notifications/cancelled",
    ];
    for method in expected {
        assert_eq!(message(&mut inbound).await["method"], method);
    }
    drop(server);
    assert!(next(&mut inbound).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn invalid_lines_are_ignored() {
    let (channel, mut server) = pipe(1024);
    let mut frames = start_call(&channel, &mut server, 1, "tools/call").await;
    for garbage in [
        "npm warn something",
        "",
        "[]",
        "{\"jsonrpc\":\"2.0\",",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"method":"sampling/createMessage"}"#,
    ] {
        server.write(garbage).await;
    }
    server
        .writer
        .write_all(b"\xff\xfe\n\xef\xbb\xbf")
        .await
        .unwrap();
    server.respond(1).await;
    assert_eq!(message(&mut frames).await["id"], 1);
    channel.close().await.unwrap();
    assert_eq!(server.receive().await, None);
}

#[tokio::test(start_paused = true)]
async fn invalid_response_is_passed_to_caller() {
    let (channel, mut server) = pipe(1024);
    let mut frames = start_call(&channel, &mut server, 1, "tools/call").await;
    let odd = r#"{"jsonrpc":"2.0","id":1,"error":"odd"}"#;
    server.write(odd).await;
    assert_eq!(message(&mut frames).await["error"], "odd");
    let mut frames = start_call(&channel, &mut server, 2, "tools/call").await;
    let nameless = json!({ "code": -32700, "message": "what?" });
    server
        .send(json!({ "jsonrpc": "2.0", "id": null, "error": nameless }))
        .await;
    assert_eq!(message(&mut frames).await["error"]["code"], -32700);
    let mut frames = start_call(&channel, &mut server, 3, "tools/call").await;
    server.write(&"x".repeat(10_001)).await;
    let error = error(&mut frames).await;
    assert!(
        matches!(error, ChannelError::TooLarge { limit: 10_000 }),
        "{error:?}"
    );
    assert!(channel.shared.pending.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn second_call_with_pending_id_fails() {
    // spec: BASE-04
    let (channel, mut server) = pipe(1024);
    let _frames = start_call(&channel, &mut server, 1, "tools/call").await;
    let mut second = channel.call(request(1, "tools/call"));
    assert!(matches!(
        error(&mut second).await,
        ChannelError::NotSendable(_)
    ));
    drop(second);
    yield_now().await;
    assert_eq!(channel.shared.pending.lock().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn response_with_foreign_id_ends_no_call() {
    let (channel, mut server) = pipe(4096);
    let mut frames = start_call(&channel, &mut server, 1, "tools/call").await;
    for id in [json!(4711), json!("01"), json!("unknown")] {
        let foreign = json!({ "jsonrpc": "2.0", "id": id, "result": { "foreign": true } });
        server.send(foreign).await;
    }
    server.respond(1).await;
    assert_eq!(message(&mut frames).await["result"], json!({}));
    assert!(next(&mut frames).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn response_that_is_not_json_fails_its_call_with_the_line() {
    for line in [
        &br#"{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}"#[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\xe9\"}}",
        br#"done {"jsonrpc":"2.0","id":1,"result":{}}"#,
        br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
    ] {
        let (channel, mut server) = pipe(10_000);
        let mut other = start_call(&channel, &mut server, 2, "tools/list").await;
        let mut frames = start_call(&channel, &mut server, 1, "tools/list").await;
        server
            .writer
            .write_all(&[line, b"\n"].concat())
            .await
            .unwrap();
        let error = frames.next().await.unwrap().unwrap_err().to_string();
        assert!(error.contains("the line begins: "), "{error}");
        assert!(error.contains(r#""jsonrpc":"2.0","id":1"#), "{error}");
        assert_eq!(channel.unread_line(), None);
        server.respond(2).await;
        assert!(other.next().await.unwrap().is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn line_that_is_no_message_is_kept_until_a_response() {
    let (channel, mut server) = pipe(10_000);
    let mut frames = start_call(&channel, &mut server, 1, "tools/list").await;
    server.write("Server started").await;
    server.write("{").await;
    assert!(timeout(SECOND, frames.next()).await.is_err());
    assert_eq!(channel.unread_line().as_deref(), Some("{"));
    server.respond(1).await;
    assert!(frames.next().await.unwrap().is_ok());
    assert_eq!(channel.unread_line(), None);
}

#[tokio::test(start_paused = true)]
async fn response_with_the_id_as_text_or_fraction_reaches_its_call() {
    let (channel, mut server) = pipe(10_000);
    for (id, text) in [(1, r#""1""#), (2, "2.0"), (3, "3e0")] {
        let mut frames = start_call(&channel, &mut server, id, "tools/list").await;
        let line = format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{}},"error":null}}"#);
        server.write(&line).await;
        assert!(frames.next().await.unwrap().is_ok(), "{text}");
    }
}
