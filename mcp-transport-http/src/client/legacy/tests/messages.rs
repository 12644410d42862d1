//! Routing of received messages.

use mcp_types::{Method, ProtocolVersion};

use super::*;

#[tokio::test(start_paused = true)]
async fn messages_on_call_stream_go_to_call_or_inbox() {
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    assert!(channel.inbound().is_none());
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
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
async fn messages_on_other_stream_reach_their_call() {
    let (channel, mut server) = connect();
    let standalone = open(&channel, &mut server).await.events();
    let (mut two, request) = start_call(&channel, &mut server, call(2)).await;
    let events_of_two = request.events();
    let (mut three, request) = start_call(&channel, &mut server, call(3)).await;
    let _events_of_three = request.events();
    // The standalone stream, and the stream of another call.
    standalone.message(&progress(3, 1));
    assert_eq!(next(&mut three).await, progress(3, 1));
    events_of_two.message(&result(3));
    events_of_two.message(&result(2));
    assert_eq!(next(&mut two).await, result(2));
    assert_eq!(next(&mut three).await, result(3));
    // A second response is ignored, and finished calls are not cancelled.
    standalone.message(&result(2));
    drop((two, three));
    server.silence(Duration::from_secs(60)).await;
}

#[tokio::test(start_paused = true)]
async fn invalid_response_is_passed_to_caller() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    // The caller receives invalid responses and reports the error.
    for wrong in [
        r#"{"jsonrpc":"2.0","id":"2","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        "{",
        "[]",
    ] {
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.events().message(wrong);
        assert_eq!(next(&mut frames).await, wrong);
        drop(frames);
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.json(wrong);
        assert_eq!(next(&mut frames).await, wrong);
        assert!(frames.next().await.is_none());
    }
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    request.status(202);
    assert!(frames.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn batch_is_split_into_messages() {
    // spec: BASE-14
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let old = ProtocolVersion::V2025_03_26;
    let (mut frames, request) =
        start_call(&channel, &mut server, call_in(old, 1, Method::Initialize)).await;
    request.json(result(1));
    next(&mut frames).await;
    channel.set_version(old);
    let (mut frames, request) =
        start_call(&channel, &mut server, call_in(old, 2, Method::CallTool)).await;
    request.json(format!(
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
async fn inbox_without_reader_drops_excess_messages() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    for _ in 0..1000 {
        events.message(CHANGED);
    }
    events.message(&result(2));
    // Notifications are dropped, the response is not.
    assert_eq!(next(&mut frames).await, result(2));
    let kept = channel
        .inbound()
        .unwrap()
        .take_until(tokio::time::sleep(FOREVER));
    assert_eq!(kept.count().await, 256);
}

#[tokio::test(start_paused = true)]
async fn full_inbox_blocks_stream_until_read() {
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    for _ in 0..300 {
        events.message(PING);
    }
    events.message(&result(2));
    assert!(timeout(FOREVER, frames.next()).await.is_err());
    let taken = async {
        for _ in 0..300 {
            assert_eq!(next(&mut inbound).await, PING);
        }
    };
    let (answer, ()) = futures::join!(next(&mut frames), taken);
    assert_eq!(answer, result(2));
}

#[tokio::test(start_paused = true)]
async fn notify_succeeds_for_any_success_status() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let send = async |server: &mut Server, answer: fn(ReceivedRequest)| {
        let sent = channel.notify(note(Method::RootsChanged));
        futures::join!(sent, async { answer(server.next().await.is("POST")) }).0
    };
    // Every success status and body is accepted.
    for answer in [
        (|request| request.status(202)) as fn(ReceivedRequest),
        |request| request.status(204),
        |request| request.json("{}"),
        |request| request.reply(whole(200, Some("text/plain"), "thank you")),
        |request| drop(request.events()),
    ] {
        send(&mut server, answer).await.unwrap();
    }
    let refused = |request: ReceivedRequest| {
        let mut reply = whole(
            429,
            Some("application/json"),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
        );
        reply
            .headers_mut()
            .insert(names::RETRY_AFTER, HeaderValue::from_static("3"));
        request.reply(reply);
    };
    let error = send(&mut server, refused).await.unwrap_err();
    assert!(
        matches!(&error, ChannelError::Status { status, retry_after: Some(wait), .. }
            if status.as_u16() == 429 && wait.as_secs() == 3),
        "{error:?}"
    );
    // A silent server leads to a timeout.
    let sent = channel.notify(note(Method::RootsChanged));
    let request = async { (server.next().await, tokio::time::sleep(FOREVER).await) };
    tokio::select! {
        error = sent => assert!(matches!(error, Err(ChannelError::Broken { .. })), "{error:?}"),
        _ = request => panic!("it still waits"),
    }
}

fn undelivered() -> ChannelError {
    let source = "HTTP status 400".into();
    ChannelError::NotDelivered { source }
}

#[tokio::test(start_paused = true)]
async fn call_whose_server_does_not_get_an_answer_ends_and_is_cancelled() {
    let (channel, mut server) = connect();
    let standalone = open(&channel, &mut server).await.events();
    let (mut two, request) = start_call(&channel, &mut server, call(2)).await;
    let events_of_two = request.events();
    let (mut three, request) = start_call(&channel, &mut server, call(3)).await;
    let events_of_three = request.events();
    let question = |id: &str| PING.replace("s1", id);
    let fail = |id: &str| channel.fail_call(&RequestId::from(id), undelivered());
    let read = async |frames: &mut Frames| timeout(FOREVER, frames.next()).await;
    // Nobody knows which call waits for this one.
    standalone.message(&question("s1"));
    events_of_two.message(&question("s2"));
    assert!(read(&mut two).await.is_err());
    fail("s1");
    fail("unknown");
    assert!(read(&mut two).await.is_err());
    assert!(read(&mut three).await.is_err());
    fail("s2");
    let error = failure(&mut two).await;
    assert!(
        matches!(error, ChannelError::NotDelivered { .. }),
        "{error}"
    );
    drop(two);
    let cancelled = server.next().await;
    assert!(cancelled.body().contains("notifications/cancelled"));
    cancelled.status(202);
    // The other call is the only one now.
    standalone.message(&question("s3"));
    assert!(read(&mut three).await.is_err());
    fail("s3");
    failure(&mut three).await;
    drop(three);
    server.next().await.status(202);
    // A call that has its response does not fail.
    let (mut four, request) = start_call(&channel, &mut server, call(4)).await;
    let events = request.events();
    events.message(&question("s4"));
    events.message(&result(4));
    assert_eq!(next(&mut four).await, result(4));
    fail("s4");
    drop((events, events_of_two, events_of_three));
    assert!(four.next().await.is_none());
}
