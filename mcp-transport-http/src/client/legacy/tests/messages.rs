//! Which message belongs where.

use mcp_types::{Method, ProtocolVersion};

use super::*;

#[tokio::test(start_paused = true)]
async fn on_the_stream_of_a_call() {
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    assert!(channel.inbound().is_none());
    opened(&channel, &mut server).await;
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    for message in [
        &progress(2, 1)[..],
        PING,
        CHANGED,
        LOG,
        &progress(7, 1),
        &progress(2, 2),
    ] {
        events.message(message);
    }
    events.message(&result(2));
    for expected in [&progress(2, 1)[..], LOG, &progress(2, 2), &result(2)] {
        assert_eq!(next(&mut frames).await, expected);
    }
    for expected in [PING, CHANGED, &progress(7, 1)] {
        assert_eq!(next(&mut inbound).await, expected);
    }
    drop(events);
    assert!(frames.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn on_the_wrong_stream() {
    let (channel, mut server) = connect();
    let outside = open(&channel, &mut server).await.events();
    let (mut two, asked) = begin(&channel, &mut server, call(2)).await;
    let events_of_two = asked.events();
    let (mut three, asked) = begin(&channel, &mut server, call(3)).await;
    let _events_of_three = asked.events();
    // The stream outside of calls, and that of another call.
    outside.message(&progress(3, 1));
    assert_eq!(next(&mut three).await, progress(3, 1));
    events_of_two.message(&result(3));
    events_of_two.message(&result(2));
    assert_eq!(next(&mut two).await, result(2));
    assert_eq!(next(&mut three).await, result(3));
    // What is settled stays settled, and nobody is cancelled.
    outside.message(&result(2));
    drop((two, three));
    server.silence(Duration::from_secs(60)).await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_none() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    // The caller sees them, and says what is wrong.
    for wrong in [
        r#"{"jsonrpc":"2.0","id":"2","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        "{",
        "[]",
    ] {
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        asked.events().message(wrong);
        assert_eq!(next(&mut frames).await, wrong);
        drop(frames);
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        asked.json(wrong);
        assert_eq!(next(&mut frames).await, wrong);
        assert!(frames.next().await.is_none());
    }
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    asked.status(202);
    assert!(frames.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn several_at_once() {
    // spec: BASE-14
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let old = ProtocolVersion::V2025_03_26;
    let (mut frames, asked) =
        begin(&channel, &mut server, call_in(old, 1, Method::Initialize)).await;
    asked.json(result(1));
    next(&mut frames).await;
    channel.set_version(old);
    let (mut frames, asked) = begin(&channel, &mut server, call_in(old, 2, Method::CallTool)).await;
    asked.json(format!(
        "[{PING}, {},{CHANGED},{}]",
        progress(2, 1),
        result(2)
    ));
    assert_eq!(next(&mut frames).await, progress(2, 1));
    assert_eq!(next(&mut frames).await, result(2));
    assert_eq!(next(&mut inbound).await, PING);
    assert_eq!(next(&mut inbound).await, CHANGED);
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_them() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    for _ in 0..1000 {
        events.message(CHANGED);
    }
    events.message(&result(2));
    // They are lost, the answer is not.
    assert_eq!(next(&mut frames).await, result(2));
    let kept = channel
        .inbound()
        .unwrap()
        .take_until(tokio::time::sleep(AGES));
    assert_eq!(kept.count().await, 256);
}

#[tokio::test(start_paused = true)]
async fn a_slow_taker_holds_the_stream_back() {
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    opened(&channel, &mut server).await;
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    for _ in 0..300 {
        events.message(PING);
    }
    events.message(&result(2));
    assert!(timeout(AGES, frames.next()).await.is_err());
    let taken = async {
        for _ in 0..300 {
            assert_eq!(next(&mut inbound).await, PING);
        }
    };
    let (answer, ()) = futures::join!(next(&mut frames), taken);
    assert_eq!(answer, result(2));
}

#[tokio::test(start_paused = true)]
async fn messages_that_nobody_answers() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let send = async |server: &mut Server, answer: fn(Asked)| {
        let sent = channel.notify(note(Method::RootsChanged));
        futures::join!(sent, async { answer(server.next().await.is("POST")) }).0
    };
    // Whatever success a server finds right.
    for answer in [
        (|asked| asked.status(202)) as fn(Asked),
        |asked| asked.status(204),
        |asked| asked.json("{}"),
        |asked| asked.reply(whole(200, Some("text/plain"), "thank you")),
        |asked| drop(asked.events()),
    ] {
        send(&mut server, answer).await.unwrap();
    }
    let refused = |asked: Asked| {
        let mut reply = whole(
            429,
            Some("application/json"),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
        );
        reply
            .headers_mut()
            .insert(names::RETRY_AFTER, HeaderValue::from_static("3"));
        asked.reply(reply);
    };
    let error = send(&mut server, refused).await.unwrap_err();
    assert!(
        matches!(&error, ChannelError::Status { status, retry_after: Some(wait), .. }
            if status.as_u16() == 429 && wait.as_secs() == 3),
        "{error:?}"
    );
    // Silence is not waited for for ever.
    let sent = channel.notify(note(Method::RootsChanged));
    let asked = async { (server.next().await, tokio::time::sleep(AGES).await) };
    tokio::select! {
        error = sent => assert!(matches!(error, Err(ChannelError::Broken { .. })), "{error:?}"),
        _ = asked => panic!("it still waits"),
    }
}
