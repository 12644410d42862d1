//! Streams that break, and go on.

use super::*;

const MILLI: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn polling() {
    // spec: RSM-05, RSM-06, RSM-07, RSM-08
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let mut out = call(2);
    out.headers
        .insert("x-tenant", HeaderValue::from_static("a"));
    let (mut frames, asked) = begin(&channel, &mut server, out).await;
    let events = asked.events();
    events.raw("id: s_0\nretry: 500\ndata:\n\n");
    drop(events);
    let closed = Instant::now();
    let drive = async { next(&mut frames).await };
    let serve = async {
        let again = server.next().await.is("GET");
        assert_eq!(again.header(names::LAST_EVENT_ID), Some("s_0"));
        assert_eq!(again.header(names::MCP_SESSION_ID), Some(SESSION));
        assert_eq!(again.header("x-tenant".parse().unwrap()), Some("a"));
        let waited = again.at - closed;
        assert!(waited >= 500 * MILLI && waited < 600 * MILLI, "{waited:?}");
        // Not yet: it closes once more.
        again.events().raw("id: s_1\ndata:\n\n");
        let again = server.next().await.is("GET");
        assert_eq!(again.header(names::LAST_EVENT_ID), Some("s_1"));
        let events = again.events();
        events.marked("s_2", &progress(2, 1));
        events
    };
    let (first, events) = futures::join!(drive, serve);
    assert_eq!(first, progress(2, 1));
    events.marked("s_3", &result(2));
    assert_eq!(next(&mut frames).await, result(2));
    drop(events);
    assert!(frames.next().await.is_none());
    server.silence(AGES).await;
}

#[tokio::test(start_paused = true)]
async fn a_cut_between_messages() {
    // spec: RSM-03, RSM-04
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    let events = asked.events();
    events.marked("a", &progress(2, 1));
    events.marked("b", &progress(2, 2));
    events.cut();
    assert_eq!(next(&mut frames).await, progress(2, 1));
    assert_eq!(next(&mut frames).await, progress(2, 2));
    let serve = async {
        let again = server.next().await;
        assert_eq!(again.header(names::LAST_EVENT_ID), Some("b"));
        again.fail();
        let again = server.next().await;
        assert_eq!(again.header(names::LAST_EVENT_ID), Some("b"));
        // What was there is told again, and not delivered again.
        let events = again.events();
        events.marked("a", &progress(2, 1));
        events.marked("b", &progress(2, 2));
        events.marked("c", &progress(2, 3));
        events.marked("d", &result(2));
    };
    let (third, ()) = futures::join!(next(&mut frames), serve);
    assert_eq!(third, progress(2, 3));
    assert_eq!(next(&mut frames).await, result(2));
    assert!(frames.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_resumed() {
    let (channel, mut server) = connect();
    opened(&channel, &mut server).await;
    // Cut or ended, nothing says where to go on.
    for cut in [true, false] {
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        let events = asked.events();
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
    // The server does not go on.
    let (mut frames, asked) = begin(&channel, &mut server, call(3)).await;
    asked.events().raw("id: 1\n\n");
    let refuse = async { server.next().await.is("GET").status(405) };
    let (error, ()) = futures::join!(failure(&mut frames), refuse);
    let ChannelError::Broken {
        source: Some(source),
    } = error
    else {
        panic!("{error:?}")
    };
    assert!(source.to_string().contains("405"), "{source}");
    // It cannot be reached, or has forgotten everything.
    for empty in [true, false] {
        let (mut frames, asked) = begin(&channel, &mut server, call(4)).await;
        asked.events().raw("id: 1\n\n");
        let mut attempts = 0;
        let error = tokio::select! {
            error = failure(&mut frames) => error,
            () = async {
                loop {
                    let again = server.next().await.is("GET");
                    attempts += 1;
                    if empty { drop(again.events()) } else { again.fail() }
                }
            } => unreachable!(),
        };
        assert!(matches!(error, ChannelError::Broken { .. }), "{error:?}");
        assert_eq!(attempts, 9, "{empty}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_comes_while_it_waits() {
    let (channel, mut server) = connect();
    let outside = open(&channel, &mut server).await.events();
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    asked.events().raw("id: 1\nretry: 100000\n\n");
    let begun = Instant::now();
    outside.message(&result(2));
    assert_eq!(next(&mut frames).await, result(2));
    assert!(frames.next().await.is_none());
    assert!(begun.elapsed() < Duration::from_secs(1));
    server.silence(Duration::from_secs(1000)).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_read() {
    let (channel, mut server) = connect();
    let channel = channel.event_limits(crate::sse::SseLimits {
        event: 100,
        idle: 100,
    });
    opened(&channel, &mut server).await;
    for text in ["x".repeat(101), ":\n".repeat(101)] {
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        let events = asked.events();
        events.raw("id: 1\n\n");
        events.raw(text);
        // Asking for it again would bring it again.
        let error = failure(&mut frames).await;
        assert!(
            matches!(error, ChannelError::TooLarge { limit: 100 }),
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_stream_outside_of_calls() {
    // spec: HTTP-C-11
    let (channel, mut server) = connect();
    let mut inbound = channel.inbound().unwrap();
    let get = open(&channel, &mut server).await;
    assert_eq!(get.header(names::LAST_EVENT_ID), None);
    let events = get.events();
    events.raw("retry: 3000\n\n");
    events.marked("1", CHANGED);
    events.marked("2", PING);
    assert_eq!(next(&mut inbound).await, CHANGED);
    assert_eq!(next(&mut inbound).await, PING);
    events.cut();
    let cut = Instant::now();
    let again = server.next().await.is("GET");
    let waited = again.at - cut;
    assert!(
        waited >= 3000 * MILLI && waited <= 3300 * MILLI,
        "{waited:?}"
    );
    assert_eq!(again.header(names::LAST_EVENT_ID), Some("2"));
    let events = again.events();
    events.marked("2", PING);
    // What cannot be read is left out.
    let _ = events
        .0
        .send(Ok(Piece::data(Bytes::from_static(b"data: \xff\n\n"))));
    events.marked("3", CHANGED);
    assert_eq!(next(&mut inbound).await, CHANGED);
}

#[tokio::test(start_paused = true)]
async fn servers_without_a_stream_outside_of_calls() {
    for status in [400, 401, 404, 405, 406, 501] {
        let (channel, mut server) = connect();
        open(&channel, &mut server).await.status(status);
        server.silence(AGES).await;
        // Not even 404 says anything about the session here.
        let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
        asked.json(result(2));
        assert_eq!(next(&mut frames).await, result(2));
        server.silence(AGES).await;
    }
    let (channel, mut server) = connect();
    open(&channel, &mut server).await.json("{}");
    server.silence(AGES).await;

    let (channel, mut server) = connect();
    let channel = channel.standalone_stream(false);
    initialize(&channel, &mut server, SESSION).await;
    let accepted = channel.notify(note(Method::Initialized));
    let accept = async { server.next().await.status(202) };
    futures::join!(accepted, accept).0.unwrap();
    server.silence(AGES).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_long() {
    let (channel, mut server) = connect();
    let events = open(&channel, &mut server).await.events();
    events.marked("1", CHANGED);
    events.cut();
    let begun = Instant::now();
    for attempt in 0..9 {
        assert_eq!(
            server.next().await.header(names::LAST_EVENT_ID),
            Some("1"),
            "{attempt}"
        );
    }
    assert!(begun.elapsed() > Duration::from_secs(30));
    server.silence(AGES).await;
    // It is back.
    let (mut frames, asked) = begin(&channel, &mut server, call(2)).await;
    asked.json(result(2));
    next(&mut frames).await;
    let again = server.next().await.is("GET");
    assert_eq!(again.header(names::LAST_EVENT_ID), Some("1"));
    let events = again.events();
    events.marked("2", CHANGED);
    server.silence(AGES).await;
    assert!(!events.is_abandoned());
}

#[tokio::test(start_paused = true)]
async fn endless_reconnects() {
    // The server closes at once and has the client come back at once, all day long.
    let (channel, mut server) = connect();
    open(&channel, &mut server)
        .await
        .events()
        .raw("retry: 0\n\n");
    let begun = Instant::now();
    let mut connections = 0;
    while begun.elapsed() < AGES {
        server.next().await.is("GET").events().raw("retry: 0\n\n");
        connections += 1;
    }
    // Not more than two a minute by and by, or four when chance will have it.
    assert!(connections < 4 * 60 * 24 + 20, "{connections}");
}
