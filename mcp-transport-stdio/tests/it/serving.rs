//! Calls over a pipe, and what a client may do to it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{Peer, cancel, modern};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn calls_run_at_the_same_time() {
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
async fn answers_are_written_after_the_client_has_closed_its_side() {
    let mut peer = Peer::start();
    for id in 1..=3 {
        peer.call(id, "wait 2").await;
    }
    // No line feed after the last one.
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
async fn ends_at_once_when_nothing_runs() {
    let start = Instant::now();
    Peer::start().close().await;
    assert!(start.elapsed() < SECOND);
}

#[tokio::test(start_paused = true)]
async fn what_runs_too_long_is_cancelled_at_the_end() {
    let mut peer = Peer::start_with(1024, |server| server.drain_timeout(5 * SECOND));
    let start = Instant::now();
    peer.call(1, "wait 100").await;
    peer.call(2, "wait 4").await;
    peer.writer.shutdown().await.unwrap();
    assert_eq!(peer.answer(2).await, "wait 4");
    assert_eq!(peer.next().await, None);
    assert_eq!(start.elapsed(), 5 * SECOND);
    assert_eq!(peer.busy(), 0);
}

#[tokio::test(start_paused = true)]
async fn is_told_to_stop() {
    let peer = Peer::start_with(1024, |server| server.shutdown_on(sleep(SECOND)));
    timeout(2 * SECOND, peer.server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_says_nothing_more() {
    let mut peer = Peer::start();
    peer.call(1, "wait 3").await;
    peer.say(cancel(1)).await;
    // The same id may be used again, by a call that is not touched by the end of the first.
    peer.call(1, "wait 5").await;
    for stray in [
        cancel(2),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
    ] {
        peer.say(stray).await;
    }
    sleep(SECOND).await;
    assert_eq!(peer.busy(), 1);
    assert_eq!(peer.answer(1).await, "wait 5");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn every_call_is_cancelled_with_the_server() {
    let mut peer = Peer::start();
    for id in 0..10 {
        peer.call(id, "wait 100").await;
    }
    sleep(SECOND).await;
    assert_eq!(peer.busy(), 10);
    peer.server.abort();
    sleep(SECOND).await;
    assert_eq!(peer.busy(), 0);
}

#[tokio::test(start_paused = true)]
async fn ends_when_nobody_reads_any_more() {
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
async fn garbage_is_answered_once_and_survived() {
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
    peer.say(odd).await;
    assert_eq!(peer.refusal(json!(5)).await, -32600);
    peer.call(6, "still there").await;
    assert_eq!(peer.answer(6).await, "still there");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_answered_to_an_answer() {
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
async fn a_panic_is_an_error_of_its_call() {
    let mut peer = Peer::start();
    peer.call(1, "panic").await;
    assert_eq!(peer.refusal(json!(1)).await, -32603);
    peer.call(2, "still there").await;
    assert_eq!(peer.answer(2).await, "still there");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn so_many_calls_and_no_more() {
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
async fn two_calls_have_two_ids() {
    let mut peer = Peer::start();
    peer.call(1, "wait 1").await;
    peer.call(1, "now").await;
    assert_eq!(peer.refusal(json!(1)).await, -32600);
    assert_eq!(peer.answer(1).await, "wait 1");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn reports_come_before_the_answer() {
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
async fn a_client_that_does_not_read_freezes_no_handler() {
    let mut peer = Peer::start_with(64, |server| server);
    peer.call(1, "big 1000000").await;
    peer.call(2, "now").await;
    sleep(SECOND).await;
    assert_eq!(peer.busy(), 0);
    assert_eq!(peer.answer(1).await.len(), 1_000_000);
    // This one was begun before the pipe was full, and has far more to say than fits.
    peer.answer(2).await;
    peer.call(3, "report 100000").await;
    sleep(100 * SECOND).await;
    assert_eq!(peer.busy(), 0);
    loop {
        let message = peer.expect().await;
        if message["id"] == 3 {
            break;
        }
    }
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn every_answer_arrives_over_a_slow_pipe() {
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
                // The id stands at the beginning; reading all of it takes too long here.
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
