//! Calls over a pipe, and clients that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_core::{BoxFuture, Exchange, Reply, ServerProfile, Service};
use mcp_transport_stdio::StdioServer;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{Peer, ToolNameService, cancel, modern};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn calls_run_concurrently() {
    let mut peer = Peer::start();
    let start = Instant::now();
    for (id, tool) in [(1, "wait 3"), (2, "wait 1"), (3, "now")] {
        peer.call(id, tool).await;
    }
    assert_eq!(peer.answer(3).await, "now");
    assert_eq!(peer.answer(2).await, "wait 1");
    assert_eq!(peer.answer(1).await, "wait 3");
    assert_eq!(start.elapsed(), 3 * SECOND);
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn input_end_lets_running_calls_answer() {
    let mut peer = Peer::start();
    for id in 1..=3 {
        peer.call(id, "wait 2").await;
    }
    // The last line has no line feed.
    peer.write(modern(4, "now").to_string().as_bytes()).await;
    peer.writer.shutdown().await.unwrap();
    assert_eq!(peer.answer(4).await, "now");
    for _ in 1..=3 {
        assert_eq!(
            peer.expect().await["result"]["content"][0]["text"],
            "wait 2"
        );
    }
    assert_eq!(peer.next().await, None);
    peer.server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn input_end_without_calls_ends_server_at_once() {
    let start = Instant::now();
    Peer::start().close().await;
    assert!(start.elapsed() < SECOND);
}

#[tokio::test(start_paused = true)]
async fn drain_timeout_cancels_running_calls() {
    let mut peer = Peer::start_with(1024, |server| server.drain_timeout(5 * SECOND));
    let start = Instant::now();
    peer.call(1, "wait 100").await;
    peer.call(2, "wait 4").await;
    peer.writer.shutdown().await.unwrap();
    assert_eq!(peer.answer(2).await, "wait 4");
    assert_eq!(peer.next().await, None);
    assert_eq!(start.elapsed(), 5 * SECOND);
    assert_eq!(peer.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn shutdown_signal_ends_server() {
    let peer = Peer::start_with(1024, |server| server.shutdown_on(sleep(SECOND)));
    timeout(2 * SECOND, peer.server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

// spec: STDIO-11
#[tokio::test(start_paused = true)]
async fn cancelled_call_sends_no_response() {
    // spec: CAN-07
    let mut peer = Peer::start();
    peer.call(1, "wait 3").await;
    peer.send(cancel(1)).await;
    // The id can be used again. The end of the first call does not affect the second.
    peer.call(1, "wait 5").await;
    for stray in [
        cancel(2),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
    ] {
        peer.send(stray).await;
    }
    sleep(SECOND).await;
    assert_eq!(peer.running(), 1);
    assert_eq!(peer.answer(1).await, "wait 5");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn dropped_server_cancels_all_calls() {
    let mut peer = Peer::start();
    for id in 0..10 {
        peer.call(id, "wait 100").await;
    }
    sleep(SECOND).await;
    assert_eq!(peer.running(), 10);
    peer.server.abort();
    sleep(SECOND).await;
    assert_eq!(peer.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn closed_pipe_ends_server() {
    let Peer {
        reader,
        mut writer,
        server,
        ..
    } = Peer::start();
    writer
        .write_all(format!("{}\n", modern(1, "wait 1")).as_bytes())
        .await
        .unwrap();
    let whole = reader.into_inner().unsplit(writer);
    drop(whole);
    timeout(20 * SECOND, server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn invalid_line_is_answered_with_error() {
    let mut peer = Peer::start_with(64 * 1024, |server| server.line_limit(1000));
    let long = "x".repeat(5000);
    for (garbage, code) in [
        ("hello".as_bytes(), -32700),
        (b"{\"jsonrpc\":\"2.0\",", -32700),
        (b"\xff\xfe\xfd", -32700),
        (b"17", -32600),
        (b"{}", -32600),
        (b"[]", -32600),
        (long.as_bytes(), -32600),
    ] {
        peer.write(garbage).await;
        peer.write(b"\r\n").await;
        assert_eq!(peer.refusal(Value::Null).await, code, "{garbage:?}");
    }
    let odd = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": 7 });
    peer.send(odd).await;
    assert_eq!(peer.refusal(json!(5)).await, -32600);
    peer.call(6, "still there").await;
    assert_eq!(peer.answer(6).await, "still there");
    peer.close().await;
}

// spec: BASE-12
#[tokio::test(start_paused = true)]
async fn invalid_response_gets_no_answer() {
    // spec: CAN-07
    let mut peer = Peer::start();
    peer.write(b"\n \r\n\xef\xbb\xbf\r\n").await;
    for line in [
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"error":"odd"}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{"cut"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard/of"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
    ] {
        peer.write(format!("{line}\n").as_bytes()).await;
    }
    peer.call(1, "first").await;
    assert_eq!(peer.answer(1).await, "first");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn panicking_call_returns_error() {
    let mut peer = Peer::start();
    peer.call(1, "panic").await;
    assert_eq!(peer.refusal(json!(1)).await, -32603);
    peer.call(2, "still there").await;
    assert_eq!(peer.answer(2).await, "still there");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn call_over_limit_is_refused() {
    let mut peer = Peer::start_with(1024, |server| server.max_calls(2));
    for id in 1..=3 {
        peer.call(id, "wait 1").await;
    }
    let answer = peer.expect().await;
    assert_eq!(answer["id"], 3);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("2 calls are running"), "{message}");
    peer.answer(1).await;
    peer.answer(2).await;
    peer.call(4, "now").await;
    peer.answer(4).await;
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn second_call_with_running_id_is_refused() {
    // spec: BASE-04
    let mut peer = Peer::start();
    peer.call(1, "wait 1").await;
    peer.call(1, "now").await;
    assert_eq!(peer.refusal(json!(1)).await, -32600);
    assert_eq!(peer.answer(1).await, "wait 1");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn progress_is_sent_before_response() {
    let mut peer = Peer::start_with(256, |server| server);
    peer.call(9, "report 2000").await;
    let mut last = 0.0;
    for _ in 0..2000 {
        let note = peer.expect().await;
        assert_eq!(note["params"]["progressToken"], 9, "{note}");
        let progress = note["params"]["progress"].as_f64().unwrap();
        assert!(progress > last);
        last = progress;
    }
    assert_eq!(peer.answer(9).await, "report 2000");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn client_without_reads_blocks_no_handler() {
    let mut peer = Peer::start_with(64, |server| server);
    peer.call(1, "big 1000000").await;
    peer.call(2, "now").await;
    sleep(SECOND).await;
    assert_eq!(peer.running(), 0);
    assert_eq!(peer.answer(1).await.len(), 1_000_000);
    // Call 2 started before the pipe was full. Call 3 reports more than fits.
    peer.answer(2).await;
    peer.call(3, "report 100000").await;
    sleep(100 * SECOND).await;
    assert_eq!(peer.running(), 0);
    loop {
        let message = peer.expect().await;
        if message["id"] == 3 {
            break;
        }
    }
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn slow_pipe_delivers_every_response() {
    for size in [0, 100, 10_000, 1_000_000] {
        let mut peer = Peer::start_with(64 * 1024, |server| server);
        let Peer {
            writer,
            reader,
            server,
            ..
        } = &mut peer;
        let count = 500;
        let write = async {
            for id in 0..count {
                let call = format!("{}\n", modern(id, &format!("raw {size}")));
                writer.write_all(call.as_bytes()).await.unwrap();
            }
            writer.shutdown().await.unwrap();
        };
        let read = async {
            use tokio::io::AsyncBufReadExt;
            let mut seen = std::collections::BTreeSet::new();
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).await.unwrap() > 0 {
                assert!(line.len() > size);
                // Only the start of the line is parsed, because parsing megabytes is slow.
                let head = std::str::from_utf8(&line[..40]).unwrap();
                let id = head.split(&[':', ',']).nth(3).unwrap();
                assert!(seen.insert(id.parse::<i32>().unwrap()), "{head}");
                line.clear();
            }
            assert_eq!(seen.len(), usize::try_from(count).unwrap());
        };
        tokio::join!(write, read);
        server.await.unwrap().unwrap();
    }
}

/// Sends requests whose responses fill the pipe and the write queue, so that some requests wait.
async fn fill(peer: &mut Peer) {
    let calls: String = (1..=20)
        .map(|id| format!("{}\n", modern(id, "raw 100000")))
        .collect();
    peer.write(calls.as_bytes()).await;
    sleep(Duration::from_millis(100)).await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_server_whose_client_does_not_read() {
    let mut peer = Peer::start_with(64 * 1024, |server| {
        server.drain_timeout(SECOND).shutdown_on(sleep(10 * SECOND))
    });
    fill(&mut peer).await;
    let start = Instant::now();
    let ended = timeout(20 * SECOND, peer.server).await;
    ended.unwrap().unwrap().unwrap();
    assert!(start.elapsed() < 13 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn input_end_ends_server_whose_client_does_not_read() {
    let mut peer = Peer::start_with(64 * 1024, |server| server.drain_timeout(SECOND));
    fill(&mut peer).await;
    let start = Instant::now();
    peer.writer.shutdown().await.unwrap();
    let ended = timeout(20 * SECOND, peer.server).await;
    ended.unwrap().unwrap().unwrap();
    assert!(start.elapsed() < 3 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn client_that_reads_after_the_input_end_receives_all_responses() {
    let mut peer = Peer::start_with(64 * 1024, |server| server.drain_timeout(10 * SECOND));
    fill(&mut peer).await;
    peer.writer.shutdown().await.unwrap();
    sleep(5 * SECOND).await;
    for _ in 1..=20 {
        assert!(peer.expect().await["result"].is_object());
    }
    assert_eq!(peer.next().await, None);
    peer.server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn client_that_reads_slowly_after_the_input_end_receives_all_responses() {
    let mut peer = Peer::start_with(64 * 1024, |server| server.drain_timeout(8 * SECOND));
    fill(&mut peer).await;
    peer.writer.shutdown().await.unwrap();
    for _ in 1..=20 {
        sleep(SECOND).await;
        assert!(peer.expect().await["result"].is_object());
    }
    assert_eq!(peer.next().await, None);
    peer.server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn largest_drain_timeout_does_not_overflow() {
    let mut peer = Peer::start_with(64 * 1024, |server| server.drain_timeout(Duration::MAX));
    fill(&mut peer).await;
    peer.writer.shutdown().await.unwrap();
    sleep(1000 * SECOND).await;
    for _ in 1..=20 {
        assert!(peer.expect().await["result"].is_object());
    }
    assert_eq!(peer.next().await, None);
    peer.server.await.unwrap().unwrap();
}

/// A service whose profile panics when it is on.
struct PanickingProfile {
    inner: ToolNameService,
    is_on: Arc<AtomicBool>,
}

impl Service for PanickingProfile {
    fn profile(&self) -> Arc<ServerProfile> {
        assert!(!self.is_on.load(Ordering::SeqCst), "as told");
        self.inner.profile()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        self.inner.call(exchange)
    }
}

#[tokio::test(start_paused = true)]
async fn panic_in_service_or_signal_does_not_end_the_server() {
    let is_on = Arc::<AtomicBool>::default();
    let service = PanickingProfile {
        inner: ToolNameService::default(),
        is_on: is_on.clone(),
    };
    let server = StdioServer::new(service).shutdown_on(async { panic!("as told") });
    let mut peer = Peer::start_server(64 * 1024, server);
    for id in 1..4 {
        is_on.store(true, Ordering::SeqCst);
        peer.call(id, "now").await;
        assert_eq!(peer.refusal(json!(id)).await, -32603);
        is_on.store(false, Ordering::SeqCst);
        peer.call(id, "now").await;
        assert_eq!(peer.answer(id).await, "now");
    }
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn extension_notifications_over_the_limit_are_ignored() {
    let service = ToolNameService {
        has_extension: true,
        ..ToolNameService::default()
    };
    let server = StdioServer::new(service.clone()).max_calls(2);
    let mut peer = Peer::start_server(1024, server);
    for number in 0..100 {
        let params = json!({ "number": number });
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/x/note", "params": params }))
            .await;
    }
    // The answer comes after all notifications were read.
    peer.call(1, "now").await;
    peer.answer(1).await;
    assert_eq!(service.running.load(Ordering::SeqCst), 2);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(service.running.load(Ordering::SeqCst), 0);
    peer.call(2, "now").await;
    peer.answer(2).await;
    peer.close().await;
}
