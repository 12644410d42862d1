//! Cancellation, expiry and closing.

use mcp_core::CloseReason;

use super::*;

#[tokio::test(start_paused = true)]
async fn dropped_call_sends_cancelled_up_to_queue_limit() {
    // spec: HTTP-C-12, CAN-01, HTTP-SL-07
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (frames, _before_the_head) = start_call(&channel, &mut server, call(2)).await;
    drop(frames);
    let cancel = server.next().await.is("POST");
    assert!(cancel.body().starts_with(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"#
    ));
    assert_eq!(cancel.header(names::MCP_SESSION_ID), Some(SESSION));
    cancel.status(202);

    let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
    let events = request.events();
    assert!(frames.next().now_or_never().is_none());
    drop(frames);
    assert!(events.is_closed_by_client());
    // The server holds one cancellation: 64 others are queued, the rest is dropped.
    let _slow = server.next().await;
    for id in 10..200 {
        drop(start_call(&channel, &mut server, call(id)).await.0);
    }
    let mut cancelled = 0;
    while let Ok(Some(request)) = timeout(Duration::from_secs(60), server.0.recv()).await {
        request.status(202);
        cancelled += 1;
    }
    assert_eq!(cancelled, 64);
}

#[tokio::test(start_paused = true)]
async fn finished_or_unsent_call_dropped_sends_nothing() {
    let (channel, mut server) = connect();
    // spec: CAN-02
    let out = call_in(LATEST, 1, Method::Initialize);
    // The client sets the revision that it asks for.
    channel.set_version(LATEST);
    let (mut frames, request) = start_call(&channel, &mut server, out).await;
    // The session sends cancellations from now on, and the result is missing.
    let _events = request.events();
    assert!(frames.next().now_or_never().is_none());
    drop(frames);
    server.silence(Duration::from_secs(1)).await;
    open_without_stream(&channel, &mut server).await;
    // The request was never sent.
    drop(channel.call(call(2)));
    // The response has arrived.
    let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
    let events = request.events();
    events.message(&result(3));
    next(&mut frames).await;
    drop(frames);
    // The call has failed.
    let (mut frames, request) = start_call(&channel, &mut server, call(4)).await;
    request.fail();
    failure(&mut frames).await;
    drop(frames);
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn status_404_expires_session_until_initialize() {
    // spec: SESS-08
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let standalone = open(&channel, &mut server).await.events();
    let (mut running, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    assert!(running.next().now_or_never().is_none());
    let (mut on_its_way, its_way) = start_call(&channel, &mut server, call(6)).await;
    let (mut refused, request) = start_call(&channel, &mut server, call(3)).await;
    request.reply(whole(
        404,
        Some("application/json"),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#,
    ));
    let error = failure(&mut refused).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
    // The running call may have been executed. The call in transit waits for its own response.
    let error = failure(&mut running).await;
    let ChannelError::Broken {
        source: Some(source),
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(source.to_string(), "the server has ended the session");
    assert!(timeout(FOREVER, on_its_way.next()).await.is_err());
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
    // An expired session sends no cancellation, DELETE or GET.
    server.silence(FOREVER).await;
    assert!(standalone.is_closed_by_client());

    // The inbox of the next session is available before `initialize`.
    channel.set_version(LATEST);
    let mut inbound = channel.inbound().unwrap();
    let error = failure(&mut channel.call(call(4))).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
    initialize(&channel, &mut server, "0ther").await;
    assert!(channel.inbound().is_none());
    let (mut frames, request) = start_call(&channel, &mut server, call(5)).await;
    assert_eq!(request.header(names::MCP_SESSION_ID), Some("0ther"));
    let events = request.events();
    events.message(PING);
    events.message(&result(5));
    assert_eq!(next(&mut frames).await, result(5));
    assert_eq!(next(&mut inbound).await, PING);
}

#[tokio::test(start_paused = true)]
async fn status_404_with_the_call_id_fails_the_call_as_accepted() {
    // spec: SESS-08
    let error = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"the session has ended"}}}}"#
        )
    };
    for (body, accepted) in [
        (error("2"), true),
        (error("null"), false),
        (error("3"), false),
        (error("2").replace("-32603", "-32001"), false),
        (error("\"server-error\""), false),
        (String::new(), false),
        ("Not Found".to_owned(), false),
        (error("2") + &" ".repeat(100 << 10), false),
    ] {
        let (channel, mut server) = connect();
        open_without_stream(&channel, &mut server).await;
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.reply(whole(404, Some("application/json"), &body));
        let error = failure(&mut frames).await;
        if accepted {
            assert!(matches!(error, ChannelError::Broken { .. }), "{body}")
        } else {
            assert!(matches!(error, ChannelError::SessionExpired), "{body}")
        }
        // The next call needs another session in any case.
        let error = failure(&mut channel.call(call(3))).await;
        assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
        server.silence(FOREVER).await;
    }

    // The end of the body is lost, and the id of the error with it.
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let pieces = [
        Ok(Piece::data(Bytes::from("{"))),
        Err(std::io::Error::other("cut")),
    ];
    request.reply(with_body(404, None, stream::iter(pieces).boxed()));
    let error = failure(&mut frames).await;
    assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn status_404_on_stream_or_notification_expires_session() {
    // 404 for a standalone stream that was open before.
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    open(&channel, &mut server).await.events().cut();
    server.next().await.is("GET").status(404);
    assert!(timeout(FOREVER, inbound.next()).await.unwrap().is_none());
    let error = failure(&mut channel.call(call(2))).await;
    assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");

    // 404 for a notification.
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let sent = channel.notify(note(Method::RootsChanged));
    let (error, ()) = futures::join!(sent, async { server.next().await.status(404) });
    assert!(
        matches!(error, Err(ChannelError::SessionExpired)),
        "{error:?}"
    );

    // 404 without a session id, and 400, do not expire the session.
    let (channel, mut server) = connect();
    let (mut frames, request) = start_call(
        &channel,
        &mut server,
        call_in(LATEST, 1, Method::Initialize),
    )
    .await;
    request.json(result(1));
    next(&mut frames).await;
    for status in [404, 400] {
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.status(status);
        let error = failure(&mut frames).await;
        assert!(matches!(error, ChannelError::Status { .. }), "{error:?}");
    }
    let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
    request.json(result(3));
    assert_eq!(next(&mut frames).await, result(3));
}

#[tokio::test(start_paused = true)]
async fn close_deletes_session_once_and_fails_calls() {
    // spec: SESS-09, LIFE-15
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let standalone = open(&channel, &mut server).await.events();
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    let closed = channel.closed();
    let delete = async {
        let delete = server.next().await.is("DELETE");
        assert_eq!(delete.header(names::MCP_SESSION_ID), Some(SESSION));
        assert_eq!(
            delete.header(names::MCP_PROTOCOL_VERSION),
            Some("2025-11-25")
        );
        // Released Go servers demand it.
        assert_eq!(
            delete.header(names::ACCEPT),
            Some("application/json, text/event-stream")
        );
        delete.status(405);
    };
    // DELETE is sent once, and both callers wait for it.
    let (first, second, ()) = futures::join!(channel.close(), channel.close(), delete);
    assert!(first.is_ok() && second.is_ok());
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
    assert!(standalone.is_closed_by_client());
    drop((events, channel));
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn close_reports_refused_delete() {
    // spec: SESS-09
    for (status, is_closed) in [
        (200, true),
        (202, true),
        (204, true),
        (404, true),
        (405, true),
        (400, false),
        (403, false),
        (500, false),
        (503, false),
    ] {
        let (channel, mut server) = connect();
        open_without_stream(&channel, &mut server).await;
        let delete = async { server.next().await.is("DELETE").status(status) };
        let (closed, ()) = futures::join!(channel.close(), delete);
        match closed {
            Ok(()) => assert!(is_closed, "{status}"),
            Err(ChannelError::Status { status: given, .. }) => {
                assert!(!is_closed && given == status, "{status}");
            }
            Err(error) => panic!("{status}: {error:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn close_waits_for_a_silent_server_until_its_caller_gives_up() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let close = timeout(FOREVER, channel.close());
    let (_delete, closed) = futures::join!(server.next(), close);
    assert!(closed.is_err());
}

#[tokio::test(start_paused = true)]
async fn dropped_channel_deletes_session() {
    let (channel, mut server) = connect();
    let standalone = open(&channel, &mut server).await.events();
    let (mut frames, _asked) = start_call(&channel, &mut server, call(2)).await;
    drop(channel);
    server.next().await.is("DELETE").status(204);
    let error = failure(&mut frames).await;
    assert!(
        matches!(error, ChannelError::Closed(CloseReason::Local)),
        "{error:?}"
    );
    assert!(standalone.is_closed_by_client());
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn second_initialize_replaces_first_session() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut old, _asked) = start_call(&channel, &mut server, call(2)).await;
    let out = call_in(LATEST, 3, Method::Initialize);
    let (mut frames, first) = start_call(&channel, &mut server, out).await;
    let second = server.next().await;
    let (delete, request) = if first.request.method() == "DELETE" {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(
        delete.is("DELETE").header(names::MCP_SESSION_ID),
        Some(SESSION)
    );
    assert_eq!(request.header(names::MCP_SESSION_ID), None);
    request.json(result(3));
    assert_eq!(next(&mut frames).await, result(3));
    let error = failure(&mut old).await;
    assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn close_fails_modern_calls() {
    let (channel, mut server) = connect();
    let out = call_in(ProtocolVersion::LATEST, 1, Method::CallTool);
    let (mut frames, request) = start_call(&channel, &mut server, out.clone()).await;
    let events = request.events();
    channel.close().await.unwrap();
    for frames in [&mut frames, &mut channel.call(out)] {
        let error = failure(frames).await;
        assert!(
            matches!(error, ChannelError::Closed(CloseReason::Local)),
            "{error:?}"
        );
        assert!(frames.next().await.is_none());
    }
    drop(frames);
    assert!(events.is_closed_by_client());
    server.silence(FOREVER).await;
}

/// An error response to the request `id`.
fn refusal(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn status_400_for_unknown_session_opens_one_new_session() {
    // spec: SESS-08
    for body in [
        refusal("null", -32000, "Bad Request: No valid session ID provided"),
        refusal("2", -32000, "Bad Request: Session not found"),
        "Invalid session".to_owned(),
        String::new(),
    ] {
        let (channel, mut server) = connect();
        open_without_stream(&channel, &mut server).await;
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.reply(whole(400, Some("application/json"), &body));
        let error = failure(&mut frames).await;
        assert!(
            matches!(error, ChannelError::SessionExpired),
            "{body}: {error:?}"
        );

        // The new session is refused, too: the request has another fault.
        initialize(&channel, &mut server, "0ther").await;
        let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
        request.reply(whole(400, Some("application/json"), &body));
        match frames.next().await.unwrap() {
            Ok(frame) => assert_eq!(frame.message, body),
            Err(error) => assert!(matches!(error, ChannelError::Status { .. }), "{error:?}"),
        }
        // The next call has a new session all the same.
        let error = failure(&mut channel.call(call(4))).await;
        assert!(matches!(error, ChannelError::SessionExpired), "{error:?}");
        initialize(&channel, &mut server, "third").await;
        let (mut frames, request) = start_call(&channel, &mut server, call(5)).await;
        request.json(result(5));
        assert_eq!(next(&mut frames).await, result(5));
    }
}

#[tokio::test(start_paused = true)]
async fn status_400_with_a_response_to_the_request_keeps_the_session() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let body = refusal("2", -32602, "no such tool");
    request.reply(whole(400, Some("application/json"), &body));
    assert_eq!(next(&mut frames).await, body);
    let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
    assert_eq!(request.header(names::MCP_SESSION_ID), Some(SESSION));
    request.json(result(3));
    assert_eq!(next(&mut frames).await, result(3));
}

#[tokio::test(start_paused = true)]
async fn status_410_and_session_error_fail_the_call_and_end_the_session() {
    let session_error = refusal("2", -32600, "Session not found");
    let other_error = refusal("2", -32600, "no");
    for (status, body, ends) in [
        (410, "gone", true),
        (200, &*session_error, true),
        (200, &*other_error, false),
    ] {
        let (channel, mut server) = connect();
        open_without_stream(&channel, &mut server).await;
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.reply(whole(status, Some("application/json"), body));
        match frames.next().await.unwrap() {
            Ok(frame) => assert_eq!(frame.message, body),
            Err(error) => assert!(matches!(error, ChannelError::Status { .. }), "{error:?}"),
        }
        let mut frames = channel.call(call(3));
        if ends {
            let error = failure(&mut frames).await;
            assert!(
                matches!(error, ChannelError::SessionExpired),
                "{body}: {error:?}"
            );
        } else {
            assert!(frames.next().now_or_never().is_none());
        }
    }
}
