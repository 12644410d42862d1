//! How calls and sessions end.

use mcp_core::CloseReason;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_is_cancelled() {
    // spec: HTTP-C-12, CAN-01
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let (frames, _before_the_head) = begin(&channel, &mut server, call(2)).await;
    drop(frames);
    let cancel = server.next().await.is("POST");
    assert!(cancel.body().starts_with(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"#
    ));
    assert_eq!(cancel.header(names::MCP_SESSION_ID), Some(SESSION));
    cancel.status(202);

    let (mut frames, asked) = begin(&channel, &mut server, call(3)).await;
    let events = asked.events();
    assert!(frames.next().now_or_never().is_none());
    drop(frames);
    assert!(events.is_abandoned());
    // The server takes its time; the others wait, and some are left out.
    let _slow = server.next().await;
    for id in 10..200 {
        drop(begin(&channel, &mut server, call(id)).await.0);
    }
    let mut cancelled = 0;
    while let Ok(Some(asked)) = timeout(Duration::from_secs(60), server.0.recv()).await {
        asked.status(202);
        cancelled += 1;
    }
    assert_eq!(cancelled, 64);
}

#[tokio::test(start_paused = true)]
async fn nothing_to_cancel() {
    let (channel, mut server) = connect();
    // spec: CAN-02
    let out = call_in(LATEST, 1, Method::Initialize);
    drop(begin(&channel, &mut server, out).await);
    opened(&channel, &mut server).await;
    // Never sent.
    drop(channel.call(call(2)));
    // Answered.
    let (mut frames, asked) = begin(&channel, &mut server, call(3)).await;
    let events = asked.events();
    events.message(&result(3));
    next(&mut frames).await;
    drop(frames);
    // Failed.
    let (mut frames, asked) = begin(&channel, &mut server, call(4)).await;
    asked.fail();
    failure(&mut frames).await;
    drop(frames);
    server.silence(AGES).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_server_forgot() {
    // spec: SESS-07, SESS-08
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let outside = open(&channel, &mut server).await.events();
    let (mut running, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    assert!(running.next().now_or_never().is_none());
    let (mut on_its_way, its_way) = begin(&channel, &mut server, call(6)).await;
    let (mut refused, asked) = begin(&channel, &mut server, call(3)).await;
    asked.reply(whole(
        404,
        Some("application/json"),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#,
    ));
    let error = failure(&mut refused).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
    // What the server has taken it may have done; what is on its way gets an answer of its own.
    let error = failure(&mut running).await;
    let ChannelError::Broken {
        source: Some(source),
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(source.to_string(), "the server has ended the session");
    assert!(timeout(AGES, on_its_way.next()).await.is_err());
    its_way.status(404);
    for frames in [&mut on_its_way, &mut channel.call(call(4))] {
        let error = failure(frames).await;
        assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
    }
    for frames in [&mut refused, &mut running, &mut on_its_way] {
        assert!(frames.next().await.is_none());
    }
    let error = channel.notify(note(Method::RootsChanged)).await;
    assert!(
        matches!(error, Err(ChannelError::SessionExpired)),
        "{error:?}"
    );
    assert!(inbound.next().await.is_none());
    assert!(channel.closed().now_or_never().is_none());
    drop(events);
    // Nothing is cancelled, deleted or asked for in a session that is none.
    server.silence(AGES).await;
    assert!(outside.is_abandoned());

    // What belongs to the next session can be asked for before that is opened.
    channel.set_version(LATEST);
    let mut inbound = channel.inbound().unwrap();
    let error = failure(&mut channel.call(call(4))).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
    initialize(&channel, &mut server, "0ther").await;
    assert!(channel.inbound().is_none());
    let (mut frames, asked) = begin(&channel, &mut server, call(5)).await;
    assert_eq!(asked.header(names::MCP_SESSION_ID), Some("0ther"));
    let events = asked.events();
    events.message(PING);
    events.message(&result(5));
    assert_eq!(next(&mut frames).await, result(5));
    assert_eq!(next(&mut inbound).await, PING);
}

#[tokio::test(start_paused = true)]
async fn other_signs_of_a_forgotten_session() {
    // A stream that was there, and is not any more.
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    open(&channel, &mut server).await.events().cut();
    server.next().await.is("GET").status(404);
    assert!(timeout(AGES, inbound.next()).await.unwrap().is_none());
    let error = failure(&mut channel.call(call(2))).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");

    // A message that nobody answers.
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let sent = channel.notify(note(Method::RootsChanged));
    let (error, ()) = futures::join!(sent, async { server.next().await.status(404) });
    assert!(
        matches!(error, Err(ChannelError::SessionExpired)),
        "{error:?}"
    );

    // Without a session there is nothing to forget, and 400 is no such sign.
    let (channel, mut server) = connect();
    let (mut frames, asked) = begin(
        &channel,
        &mut server,
        call_in(LATEST, 1, Method::Initialize),
    )
    .await;
    asked.json(result(1));
    next(&mut frames).await;
    for status in [404, 400] {
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        asked.status(status);
        let error = failure(&mut frames).await;
        assert!(matches!(error, ChannelError::Status { .. }), "{error:?}");
    }
    let (mut frames, asked) = begin(&channel, &mut server, call(3)).await;
    asked.json(result(3));
    assert_eq!(next(&mut frames).await, result(3));
}

#[tokio::test(start_paused = true)]
async fn closing() {
    // spec: SESS-09, LIFE-15
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let outside = open(&channel, &mut server).await.events();
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    let closed = channel.closed();
    let delete = async {
        let delete = server.next().await.is("DELETE");
        assert_eq!(delete.header(names::MCP_SESSION_ID), Some(SESSION));
        assert_eq!(
            delete.header(names::MCP_PROTOCOL_VERSION),
            Some("2025-11-25")
        );
        delete.status(405);
    };
    // It is sent once, and everybody waits for it.
    futures::join!(channel.close(), channel.close(), delete);
    assert_eq!(closed.await, CloseReason::Local);
    for frames in [&mut frames, &mut channel.call(call(3))] {
        let error = failure(frames).await;
        assert!(
            matches!(error, ChannelError::Closed(CloseReason::Local)),
            "{error:?}"
        );
    }
    let error = channel.notify(note(Method::RootsChanged)).await;
    assert!(matches!(error, Err(ChannelError::Closed(_))), "{error:?}");
    assert!(inbound.next().await.is_none());
    drop(frames);
    assert!(outside.is_abandoned());
    drop((events, channel));
    server.silence(AGES).await;
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_silent_server() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let begun = Instant::now();
    let (_delete, ()) = futures::join!(server.next(), channel.close());
    assert!(begun.elapsed() <= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn dropping() {
    let (channel, mut server) = connect();
    let outside = open(&channel, &mut server).await.events();
    let (mut frames, _asked) = begin(&channel, &mut server, call(2)).await;
    drop(channel);
    server.next().await.is("DELETE").status(204);
    let error = failure(&mut frames).await;
    assert!(
        matches!(error, ChannelError::Closed(CloseReason::Local)),
        "{error:?}"
    );
    assert!(outside.is_abandoned());
    server.silence(AGES).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_one_replaces() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let (mut old, _asked) = begin(&channel, &mut server, call(2)).await;
    let out = call_in(LATEST, 3, Method::Initialize);
    let (mut frames, first) = begin(&channel, &mut server, out).await;
    let second = server.next().await;
    let (delete, asked) = if first.request.method() == "DELETE" {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(
        delete.is("DELETE").header(names::MCP_SESSION_ID),
        Some(SESSION)
    );
    assert_eq!(asked.header(names::MCP_SESSION_ID), None);
    asked.json(result(3));
    assert_eq!(next(&mut frames).await, result(3));
    let error = failure(&mut old).await;
    assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_without_a_session_are_closed_too() {
    let (channel, mut server) = connect();
    let out = call_in(ProtocolVersion::LATEST, 1, Method::CallTool);
    let (mut frames, asked) = begin(&channel, &mut server, out.clone()).await;
    let events = asked.events();
    channel.close().await;
    for frames in [&mut frames, &mut channel.call(out)] {
        let error = failure(frames).await;
        assert!(
            matches!(error, ChannelError::Closed(CloseReason::Local)),
            "{error:?}"
        );
        assert!(frames.next().await.is_none());
    }
    drop(frames);
    assert!(events.is_abandoned());
    server.silence(AGES).await;
}
