//! Servers with the HTTP+SSE transport of 2024-11-05.

use mcp_core::CloseReason;

use super::*;

const R1: ProtocolVersion = ProtocolVersion::V2024_11_05;

/// Refuses the POST of `initialize` and returns the GET that follows.
async fn refused(
    channel: &HttpChannel,
    server: &mut Server,
    status: u16,
) -> (Frames, ReceivedRequest) {
    let out = call_in(LATEST, 1, Method::Initialize);
    let (mut frames, request) = start_call(channel, server, out).await;
    request.is("POST").status(status);
    assert!(frames.next().now_or_never().is_none());
    (frames, server.next().await.is("GET"))
}

#[tokio::test(start_paused = true)]
async fn refused_initialize_falls_back_to_http_sse() {
    // spec: COMPAT-13, SSE-01, SSE-02, SSE-03, SSE-04
    for status in [400, 404, 405] {
        let (channel, mut server) = connect();
        let mut inbound = channel.inbound().unwrap();
        let (mut frames, get) = refused(&channel, &mut server, status).await;
        assert_eq!(get.header(names::ACCEPT), Some("text/event-stream"));
        let events = get.events();
        events.raw(": hello\nretry: 5\n\nevent: endpoint\ndata: /messages?sessionId=1\n\n");
        assert!(frames.next().now_or_never().is_none());
        let post = server.next().await.is("POST");
        assert_eq!(
            post.request.uri(),
            "https://example.com/messages?sessionId=1"
        );
        assert!(post.body().contains("initialize"));
        post.reply(whole(202, None, "Accepted"));
        events.raw(format!("event: message\ndata: {}\n\n", result(1)));
        assert_eq!(next(&mut frames).await, result(1));
        assert!(frames.next().await.is_none());
        channel.set_version(R1);
        let accepted = channel.notify(note(Method::Initialized));
        futures::join!(accepted, async { server.next().await.status(202) })
            .0
            .unwrap();

        // Responses arrive in any order, even before the POST is accepted.
        let (mut two, post_two) =
            start_call(&channel, &mut server, call_in(R1, 2, Method::CallTool)).await;
        let (mut three, post_three) =
            start_call(&channel, &mut server, call_in(R1, 3, Method::CallTool)).await;
        assert_eq!(
            post_two.request.uri(),
            "https://example.com/messages?sessionId=1"
        );
        assert_eq!(post_two.header(names::MCP_PROTOCOL_VERSION), None);
        for message in [PING, &progress(2, 1), &result(3), &result(2)] {
            events.message(message);
        }
        assert_eq!(next(&mut three).await, result(3));
        post_three.status(202);
        post_two.status(202);
        assert_eq!(next(&mut two).await, progress(2, 1));
        assert_eq!(next(&mut two).await, result(2));
        assert_eq!(next(&mut inbound).await, PING);

        // A dropped call is cancelled. A refused call fails.
        let (dropped, _post) =
            start_call(&channel, &mut server, call_in(R1, 4, Method::CallTool)).await;
        drop(dropped);
        let cancel = server.next().await;
        assert!(cancel.body().contains("notifications/cancelled"));
        assert_eq!(
            cancel.request.uri(),
            "https://example.com/messages?sessionId=1"
        );
        cancel.status(202);
        let (mut frames, post) =
            start_call(&channel, &mut server, call_in(R1, 5, Method::CallTool)).await;
        post.status(404);
        let error = failure(&mut frames).await;
        assert!(matches!(error, ChannelError::Status { .. }), "{error:?}");

        // The end of the stream closes the channel.
        let (mut frames, post) =
            start_call(&channel, &mut server, call_in(R1, 6, Method::CallTool)).await;
        post.status(202);
        assert!(frames.next().now_or_never().is_none());
        drop(events);
        let error = failure(&mut frames).await;
        assert!(
            matches!(error, ChannelError::Closed(CloseReason::Remote)),
            "{error:?}"
        );
        assert_eq!(channel.closed().await, CloseReason::Remote);
        assert!(inbound.next().await.is_none());
        server.silence(FOREVER).await;
    }
}

#[tokio::test(start_paused = true)]
async fn close_with_http_sse_closes_stream() {
    let (channel, mut server) = connect();
    let (mut frames, get) = refused(&channel, &mut server, 405).await;
    let events = get.events();
    events.raw("event: endpoint\ndata: https://example.com:443/m\n\n");
    assert!(frames.next().now_or_never().is_none());
    let post = server.next().await;
    assert_eq!(
        post.request.uri(),
        "https://example.com:443/m".replace(":443", "").as_str()
    );
    post.status(202);
    events.message(&result(1));
    next(&mut frames).await;
    channel.close().await.unwrap();
    tokio::task::yield_now().await;
    assert!(events.is_closed_by_client());
    server.silence(FOREVER).await;
}

#[tokio::test(start_paused = true)]
async fn endpoint_event_with_other_origin_fails() {
    // spec: SSE-03
    for endpoint in [
        "https://evil.example/m",
        "//evil.example/m",
        "http://example.com/m",
        "https://example.com:8443/m",
        "https://example.com@evil.example/m?token=hidden",
        "data:text/plain,hello",
    ] {
        let (channel, mut server) = connect();
        let (mut frames, get) = refused(&channel, &mut server, 404).await;
        get.events()
            .raw(format!("event: endpoint\ndata: {endpoint}\n\n"));
        let error = failure(&mut frames).await;
        let ChannelError::Malformed(reason) = &error else {
            panic!("{error:?}")
        };
        assert!(
            reason.contains("another origin") && !reason.contains("hidden"),
            "{reason}"
        );
        server.silence(FOREVER).await;
    }
}

#[tokio::test(start_paused = true)]
async fn fallback_without_endpoint_event_returns_first_error() {
    // The error is that of the POST, not that of the GET.
    for answer in [
        (|get| get.status(405)) as fn(ReceivedRequest),
        |get| get.json("{}"),
        |get| drop(get.events()),
        |get| get.events().message(PING),
        |get| get.fail(),
        |get| {
            let events = get.events();
            tokio::spawn(async move { (tokio::time::sleep(FOREVER).await, events) });
        },
    ] {
        let (channel, mut server) = connect();
        let (mut frames, get) = refused(&channel, &mut server, 404).await;
        answer(get);
        let error = failure(&mut frames).await;
        assert!(
            matches!(&error, ChannelError::Status { status, .. } if status.as_u16() == 404),
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn refusal_with_other_status_or_message_skips_fallback() {
    for (status, tries) in [(401, true), (500, true), (406, true), (404, false)] {
        let (channel, mut server) = connect();
        let channel = channel.http_sse(tries);
        let out = call_in(LATEST, 1, Method::Initialize);
        let (mut frames, request) = start_call(&channel, &mut server, out).await;
        request.status(status);
        let error = failure(&mut frames).await;
        assert!(matches!(error, ChannelError::Status { .. }), "{error:?}");
        server.silence(FOREVER).await;
    }
    // A server that responds with a JSON-RPC message speaks Streamable HTTP.
    let (channel, mut server) = connect();
    let (mut frames, request) = start_call(
        &channel,
        &mut server,
        call_in(LATEST, 1, Method::Initialize),
    )
    .await;
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#;
    request.reply(whole(400, Some("application/json"), text));
    assert_eq!(next(&mut frames).await, text);
    server.silence(FOREVER).await;
}
