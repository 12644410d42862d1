//! Resumption of broken streams.

use super::*;

const MILLI: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn ended_stream_is_resumed_after_retry_time() {
    // spec: RSM-05, RSM-06, RSM-07, RSM-08
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let mut out = call(2);
    out.headers
        .insert("x-tenant", HeaderValue::from_static("a"));
    let (mut frames, request) = start_call(&channel, &mut server, out).await;
    let events = request.events();
    events.raw("id: s_0\nretry: 500\ndata:\n\n");
    drop(events);
    let closed = Instant::now();
    let drive = async { next(&mut frames).await };
    let serve = async {
        let reopened = server.next().await.is("GET");
        assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("s_0"));
        assert_eq!(reopened.header(names::MCP_SESSION_ID), Some(SESSION));
        assert_eq!(reopened.header("x-tenant".parse().unwrap()), Some("a"));
        let waited = reopened.at - closed;
        assert!(waited >= 500 * MILLI && waited < 600 * MILLI, "{waited:?}");
        // The server closes the stream a second time.
        reopened.events().raw("id: s_1\ndata:\n\n");
        let reopened = server.next().await.is("GET");
        assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("s_1"));
        let events = reopened.events();
        events.message_with_id("s_2", &progress(2, 1));
        events
    };
    let (first, events) = futures::join!(drive, serve);
    assert_eq!(first, progress(2, 1));
    events.message_with_id("s_3", &result(2));
    assert_eq!(next(&mut frames).await, result(2));
    drop(events);
    assert!(frames.next().await.is_none());
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn refused_resumption_of_a_call_is_repeated_at_another_server_soon() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    events.raw("id: s_0\nretry: 1000\ndata:\n\n");
    drop(events);
    let serve = async {
        let mut resumed = server.next().await.is("GET");
        for _ in 0..4 {
            let refused = Instant::now();
            let mut reply = whole(503, None, "");
            let at_once = HeaderValue::from_static("0");
            reply.headers_mut().insert(names::RETRY_AFTER, at_once);
            resumed.reply(reply);
            resumed = server.next().await.is("GET");
            let waited = resumed.at - refused;
            assert!(waited <= 500 * MILLI, "{waited:?}");
        }
        resumed.events().message_with_id("s_1", &result(2));
    };
    let (last, ()) = futures::join!(next(&mut frames), serve);
    assert_eq!(last, result(2));
}

#[tokio::test(start_paused = true)]
async fn broken_stream_resumes_without_repeated_messages() {
    // spec: RSM-03, RSM-04
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    events.message_with_id("a", &progress(2, 1));
    events.message_with_id("b", &progress(2, 2));
    events.cut();
    assert_eq!(next(&mut frames).await, progress(2, 1));
    assert_eq!(next(&mut frames).await, progress(2, 2));
    let serve = async {
        let reopened = server.next().await;
        assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("b"));
        reopened.fail();
        let reopened = server.next().await;
        assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("b"));
        // Events that the server repeats are not delivered again.
        let events = reopened.events();
        events.message_with_id("a", &progress(2, 1));
        events.message_with_id("b", &progress(2, 2));
        events.message_with_id("c", &progress(2, 3));
        events.message_with_id("d", &result(2));
    };
    let (third, ()) = futures::join!(next(&mut frames), serve);
    assert_eq!(third, progress(2, 3));
    assert_eq!(next(&mut frames).await, result(2));
    assert!(frames.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn broken_stream_without_resumption_fails_call() {
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    // Without event ids, a stream that breaks or ends cannot be resumed.
    for cut in [true, false] {
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        let events = request.events();
        events.message(&progress(2, 1));
        if cut {
            events.cut()
        } else {
            drop(events)
        }
        next(&mut frames).await;
        let error = failure(&mut frames).await;
        assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
        assert!(frames.next().await.is_none());
    }
    // The server refuses the resumption.
    let (mut frames, request) = start_call(&channel, &mut server, call(3)).await;
    request.events().raw("id: 1\n\n");
    let refuse = async { server.next().await.is("GET").status(405) };
    let (error, ()) = futures::join!(failure(&mut frames), refuse);
    let ChannelError::Broken {
        source: Some(source),
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(source.to_string().contains("405"), "{source}");
    // The server is unreachable, or every new stream is empty.
    for empty in [true, false] {
        let (mut frames, request) = start_call(&channel, &mut server, call(4)).await;
        request.events().raw("id: 1\n\n");
        let mut attempts = 0;
        let error = tokio::select! {
            error = failure(&mut frames) => error,
            () = async {
                loop {
                    let reopened = server.next().await.is("GET");
                    attempts += 1;
                    if empty { drop(reopened.events()) } else { reopened.fail() }
                }
            } => unreachable!(),
        };
        assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
        assert_eq!(attempts, 9, "{empty}");
    }
}

#[tokio::test(start_paused = true)]
async fn response_on_other_stream_ends_resumption() {
    let (channel, mut server) = connect();
    let standalone = open(&channel, &mut server).await.events();
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    request.events().raw("id: 1\nretry: 100000\n\n");
    let start = Instant::now();
    standalone.message(&result(2));
    assert_eq!(next(&mut frames).await, result(2));
    assert!(frames.next().await.is_none());
    assert!(start.elapsed() < Duration::from_secs(1));
    server.silence(Duration::from_secs(1000)).await;
}

#[tokio::test(start_paused = true)]
async fn stream_over_limits_fails_without_resumption() {
    let (channel, mut server) = connect();
    let channel = channel.event_limits(crate::sse::SseLimits {
        event: 100,
        idle: 100,
    });
    open_without_stream(&channel, &mut server).await;
    for text in ["x".repeat(101), ":\n".repeat(101)] {
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        let events = request.events();
        events.raw("id: 1\n\n");
        events.raw(text);
        // A resumed stream would repeat the event, so the call fails.
        let error = failure(&mut frames).await;
        assert!(
            matches!(error, ChannelError::TooLarge { limit: 100 }),
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn standalone_stream_resumes_after_break() {
    // spec: HTTP-C-11
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let get = open(&channel, &mut server).await;
    assert_eq!(get.header(names::LAST_EVENT_ID), None);
    let events = get.events();
    events.raw("retry: 3000\n\n");
    events.message_with_id("1", CHANGED);
    events.message_with_id("2", PING);
    assert_eq!(next(&mut inbound).await, CHANGED);
    assert_eq!(next(&mut inbound).await, PING);
    events.cut();
    let cut = Instant::now();
    let reopened = server.next().await.is("GET");
    let waited = reopened.at - cut;
    assert!(
        waited >= 3000 * MILLI && waited <= 3300 * MILLI,
        "{waited:?}"
    );
    assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("2"));
    let events = reopened.events();
    events.message_with_id("2", PING);
    // An event that is not UTF-8 is skipped.
    let _ = events
        .0
        .send(Ok(Piece::data(Bytes::from_static(b"data: \xff\n\n"))));
    events.message_with_id("3", CHANGED);
    assert_eq!(next(&mut inbound).await, CHANGED);
}

// spec: HTTP-C-11
#[tokio::test(start_paused = true)]
async fn refused_standalone_stream_is_not_retried() {
    for status in [400, 401, 404, 405, 406, 501] {
        let (channel, mut server) = connect();
        open(&channel, &mut server).await.status(status);
        server.silence(FOREVER).await;
        // 404 for the first GET does not expire the session.
        let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
        request.json(result(2));
        assert_eq!(next(&mut frames).await, result(2));
        server.silence(FOREVER).await;
    }
    let (channel, mut server) = connect();
    open(&channel, &mut server).await.json("{}");
    server.silence(FOREVER).await;

    let (channel, mut server) = connect();
    let channel = channel.standalone_stream(false);
    initialize(&channel, &mut server, SESSION).await;
    let accepted = channel.notify(note(Method::Initialized));
    let accept = async { server.next().await.status(202) };
    futures::join!(accepted, accept).0.unwrap();
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn standalone_stream_reopens_after_next_response() {
    let (channel, mut server) = connect();
    let events = open(&channel, &mut server).await.events();
    events.message_with_id("1", CHANGED);
    events.cut();
    let start = Instant::now();
    for attempt in 0..9 {
        assert_eq!(
            server.next().await.header(names::LAST_EVENT_ID),
            Some("1"),
            "{attempt}"
        );
    }
    assert!(start.elapsed() > Duration::from_secs(30));
    server.silence(FOREVER).await;
    // The server is reachable again.
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    request.json(result(2));
    next(&mut frames).await;
    let reopened = server.next().await.is("GET");
    assert_eq!(reopened.header(names::LAST_EVENT_ID), Some("1"));
    let events = reopened.events();
    events.message_with_id("2", CHANGED);
    server.silence(FOREVER).await;
    assert!(!events.is_closed_by_client());
}

#[tokio::test(start_paused = true)]
async fn immediate_stream_ends_slow_reconnects_down() {
    // The server ends each stream at once and sets a retry time of zero, for a day.
    let (channel, mut server) = connect();
    open(&channel, &mut server)
        .await
        .events()
        .raw("retry: 0\n\n");
    let start = Instant::now();
    let mut connections = 0;
    while start.elapsed() < FOREVER {
        server.next().await.is("GET").events().raw("retry: 0\n\n");
        connections += 1;
    }
    // Backoff leads to two connections per minute, or four with the smallest jitter.
    assert!(connections < 4 * 60 * 24 + 20, "{connections}");
}

#[tokio::test(start_paused = true)]
async fn response_with_foreign_id_does_not_end_stream() {
    // spec: BASE-06
    let (channel, mut server) = connect();
    open_without_stream(&channel, &mut server).await;
    let (mut frames, request) = start_call(&channel, &mut server, call(2)).await;
    let events = request.events();
    let with_text_id = result(2).replace(r#""id":2"#, r#""id":"2""#);
    let foreign = [result(4711), with_text_id];
    // The client ignores them, but the stream goes on until the own response has come.
    for text in &foreign {
        events.message(text);
        assert_eq!(next(&mut frames).await, *text);
    }
    events.message(&result(2));
    assert_eq!(next(&mut frames).await, result(2));
    drop(events);
    assert!(frames.next().await.is_none());
}
