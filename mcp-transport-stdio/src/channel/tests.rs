//! A channel against a server that is written by hand, line by line.

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

fn pipe(room: usize) -> (PipeChannel, Server) {
    let (here, there) = duplex(room);
    let (reader, writer) = split(here);
    let channel = PipeChannel::with_limit(reader, writer, 10_000);
    let (reader, writer) = split(there);
    let reader = BufReader::new(reader);
    (channel, Server { reader, writer })
}

impl Server {
    /// The next line of the client; `None` at the end of its input.
    async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        match timeout(60 * SECOND, read).await.unwrap().unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    async fn say(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    async fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, id: i64) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "result": {} }))
            .await;
    }

    async fn progress(&mut self, token: i64, progress: i64) {
        let params = json!({ "progressToken": token, "progress": progress });
        let note =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        self.say(note).await;
    }
}

fn request(id: i64, method: &str) -> OutgoingRequest {
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string();
    let mirror = MirroredHeaders::new(ProtocolVersion::V2026_07_28, method, None);
    OutgoingRequest::new(id.into(), text, mirror)
}

/// Sends a request, whose stream comes back.
async fn sent(channel: &PipeChannel, server: &mut Server, id: i64, method: &str) -> Frames {
    let mut frames = channel.call(request(id, method));
    let nothing = timeout(Duration::ZERO, frames.next()).await;
    assert!(nothing.is_err());
    assert_eq!(server.hear().await.unwrap()["id"], id);
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
async fn answers_find_their_calls() {
    let (channel, mut server) = pipe(1024);
    let mut first = sent(&channel, &mut server, 1, "tools/call").await;
    let mut second = sent(&channel, &mut server, 2, "tools/call").await;
    server.answer(2).await;
    server.progress(1, 1).await;
    server.answer(1).await;
    assert_eq!(message(&mut second).await["id"], 2);
    assert!(next(&mut second).await.is_none());
    assert_eq!(message(&mut first).await["params"]["progress"], 1);
    assert_eq!(message(&mut first).await["id"], 1);
    assert!(next(&mut first).await.is_none());
    drop((first, second));
    // Nothing is cancelled that was answered.
    channel.close().await;
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn dropped_calls_leave_an_empty_table_and_are_cancelled() {
    let (channel, mut server) = pipe(1 << 20);
    let mut calls = Vec::new();
    for id in 1..=1000 {
        calls.push(sent(&channel, &mut server, id, "tools/call").await);
    }
    assert_eq!(channel.shared.pending.lock().len(), 1000);
    drop(calls);
    assert!(channel.shared.pending.lock().is_empty());
    for id in 1..=1000 {
        let note = server.hear().await.unwrap();
        assert_eq!(note["method"], "notifications/cancelled");
        assert_eq!(note["params"]["requestId"], id);
    }
    // What nobody waits for any more does no harm.
    server.answer(7).await;
    server.progress(8, 1).await;
    let mut frames = sent(&channel, &mut server, 1001, "tools/call").await;
    server.answer(1001).await;
    assert_eq!(message(&mut frames).await["id"], 1001);
}

#[tokio::test(start_paused = true)]
async fn no_call_waits_for_a_pipe_that_is_stuck() {
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
    // It was never sent, so there is nothing to cancel.
    let mut line = String::new();
    for _ in 0..2 {
        server.reader.read_line(&mut line).await.unwrap();
    }
    channel.close().await;
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn initialize_is_never_cancelled() {
    let (channel, mut server) = pipe(1024);
    drop(sent(&channel, &mut server, 1, "initialize").await);
    channel.close().await;
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn every_call_learns_that_the_server_has_gone() {
    let (channel, mut server) = pipe(1024);
    let mut first = sent(&channel, &mut server, 1, "tools/call").await;
    let mut second = sent(&channel, &mut server, 2, "tools/call").await;
    server.answer(1).await;
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
async fn every_call_learns_that_the_channel_is_closed() {
    let (channel, mut server) = pipe(1024);
    let mut frames = sent(&channel, &mut server, 1, "tools/call").await;
    channel.close().await;
    let error = error(&mut frames).await;
    assert!(
        matches!(error, ChannelError::Closed(CloseReason::Local)),
        "{error:?}"
    );
    assert_eq!(channel.closed().await, CloseReason::Local);
    assert_eq!(server.hear().await, None);
    let late = OneWayMessage::new("{}", request(0, "x").mirrored);
    assert!(matches!(
        channel.notify(late).await,
        Err(ChannelError::Closed(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_channel_ends_the_input_of_the_server() {
    let (channel, mut server) = pipe(1024);
    let mut frames = sent(&channel, &mut server, 1, "tools/call").await;
    let closed = channel.closed();
    drop(channel);
    assert!(matches!(
        error(&mut frames).await,
        ChannelError::Closed(CloseReason::Local)
    ));
    assert_eq!(closed.await, CloseReason::Local);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn who_takes_nothing_holds_up_nobody() {
    let (channel, mut server) = pipe(1024);
    let mut slow = sent(&channel, &mut server, 1, "tools/call").await;
    let mut other = sent(&channel, &mut server, 2, "tools/call").await;
    for step in 1..=5000 {
        server.progress(1, step).await;
    }
    server.answer(1).await;
    server.answer(2).await;
    assert_eq!(message(&mut other).await["id"], 2);
    // The newest are there, and the answer.
    for step in 3977..=5000 {
        assert_eq!(message(&mut slow).await["params"]["progress"], step);
    }
    assert_eq!(message(&mut slow).await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn subscriptions_get_what_is_theirs() {
    let (channel, mut server) = pipe(1024);
    channel.set_version(ProtocolVersion::V2026_07_28);
    let mut first = sent(&channel, &mut server, 1, "subscriptions/listen").await;
    let mut second = sent(&channel, &mut server, 2, "subscriptions/listen").await;
    let mut call = sent(&channel, &mut server, 3, "tools/call").await;
    let stamped = |id: i64, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    };
    let changed = "notifications/tools/list_changed";
    server.say(stamped(2, changed, json!({}))).await;
    server.say(stamped(1, changed, json!({}))).await;
    let log = json!({ "level": "info", "data": "hello" });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log });
    server.say(log).await;
    let ended = stamped(1, "notifications/cancelled", json!({ "requestId": 1 }));
    server.say(ended).await;
    assert_eq!(message(&mut first).await["method"], changed);
    assert_eq!(message(&mut second).await["method"], changed);
    assert_eq!(message(&mut call).await["params"]["data"], "hello");
    assert_eq!(message(&mut first).await["params"]["requestId"], 1);
    assert!(next(&mut first).await.is_none());
    drop((first, second));
    // The one that the server has ended needs no cancelling.
    assert_eq!(server.hear().await.unwrap()["params"]["requestId"], 2);
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_no_call_is_heard_apart() {
    let (channel, mut server) = pipe(1024);
    channel.set_version(ProtocolVersion::V2025_11_25);
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" });
    // Nobody listens yet.
    server.say(ask.clone()).await;
    sleep(SECOND).await;
    let mut inbound = channel.inbound().unwrap();
    assert!(channel.inbound().is_none());
    let mut call = sent(&channel, &mut server, 1, "tools/call").await;
    server.say(ask).await;
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    server.say(changed).await;
    let taken_back = json!({ "requestId": 1 });
    let taken_back =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back });
    server.say(taken_back).await;
    server.answer(1).await;
    // The ids of the two sides have nothing to do with each other.
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
async fn garbage_is_survived_and_answered_by_nobody() {
    let (channel, mut server) = pipe(1024);
    let mut frames = sent(&channel, &mut server, 1, "tools/call").await;
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
    server.answer(1).await;
    assert_eq!(message(&mut frames).await["id"], 1);
    channel.close().await;
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_is_an_answer() {
    let (channel, mut server) = pipe(1024);
    let mut frames = sent(&channel, &mut server, 1, "tools/call").await;
    let odd = r#"{"jsonrpc":"2.0","id":1,"error":"odd"}"#;
    server.write(odd).await;
    assert_eq!(message(&mut frames).await["error"], "odd");
    let mut frames = sent(&channel, &mut server, 2, "tools/call").await;
    let nameless = json!({ "code": -32700, "message": "what?" });
    server
        .say(json!({ "jsonrpc": "2.0", "id": null, "error": nameless }))
        .await;
    assert_eq!(message(&mut frames).await["error"]["code"], -32700);
    let mut frames = sent(&channel, &mut server, 3, "tools/call").await;
    server.write(&"x".repeat(10_001)).await;
    let error = error(&mut frames).await;
    assert!(
        matches!(error, ChannelError::TooLarge { limit: 10_000 }),
        "{error:?}"
    );
    assert!(channel.shared.pending.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_id_is_used_by_one_call_at_a_time() {
    let (channel, mut server) = pipe(1024);
    let _frames = sent(&channel, &mut server, 1, "tools/call").await;
    let mut second = channel.call(request(1, "tools/call"));
    assert!(matches!(
        error(&mut second).await,
        ChannelError::Unsendable(_)
    ));
    drop(second);
    yield_now().await;
    assert_eq!(channel.shared.pending.lock().len(), 1);
}
