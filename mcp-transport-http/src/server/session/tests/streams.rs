//! Streams whose events are stored: disconnected, resumed, replaced, polled.

use mcp_core::store::MemoryEventStore;
use mcp_core::{ChangeBus as _, ChangeEvent};

use super::*;
use crate::shutdown::Shutdown;

fn keeping() -> (Endpoint, Arc<Tools>, Arc<MemoryEventStore>) {
    let (endpoint, tools) = endpoint();
    let store = Arc::new(MemoryEventStore::new().clock(clock));
    (endpoint.events(store.clone()), tools, store)
}

fn clock() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

/// Contents of the events of `steps`.
const SAID: [&str; 7] = ["1", "step", "2", "step", "3", "step", "done"];

fn said(event: &Event) -> String {
    let message = event.data.as_ref().unwrap();
    let params = &message["params"];
    if let Some(progress) = params["progress"].as_f64() {
        return progress.to_string();
    }
    let text = message["result"]["content"][0]["text"].as_str();
    text.or_else(|| params["data"].as_str()).unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn stored_stream_starts_with_an_id_and_every_event_has_one() {
    // spec: RSM-01, RSM-02, RSM-05
    let (endpoint, _, _) = keeping();
    for (version, primed) in [("2025-11-25", 1), ("2025-06-18", 0), ("2025-03-26", 0)] {
        let peer = Peer::new(&endpoint).speaking(version).begin().await;
        let events = peer.send(steps(1)).await.rest().await;
        assert_eq!(events.len(), primed + 7);
        if primed > 0 {
            assert_eq!((events[0].retry, &events[0].data), (Some(1000), &None));
        }
        let ids: std::collections::HashSet<_> =
            events.iter().map(|event| event.id.clone()).collect();
        assert_eq!(ids.len(), events.len());
        let streams = ids
            .iter()
            .flatten()
            .map(|id| id.rsplit_once('_').unwrap().0);
        assert_eq!(streams.collect::<std::collections::HashSet<_>>().len(), 1);
        assert_eq!(events[primed..].iter().map(said).collect::<Vec<_>>(), SAID);
        // A call without notifications is answered with JSON.
        assert!(!peer.tool(2, "echo").await.is_stream());
    }
}

#[tokio::test(start_paused = true)]
async fn stream_resumed_after_any_event_continues_there() {
    // spec: RSM-03, RSM-04, HTTP-SL-07
    let (endpoint, _, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    for cut in 1..=8 {
        for late in [false, true] {
            let mut got = peer.send(steps(1)).await;
            let mut seen = Vec::new();
            for _ in 0..cut {
                seen.push(got.event().await);
            }
            drop(got);
            if late {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            let last = seen.last().unwrap().id.clone().unwrap();
            let rest = peer.resume(&last).await;
            assert_eq!(
                (rest.status, rest.header("mcp-session-id")),
                (200, peer.session.clone())
            );
            seen.extend(rest.rest().await);
            assert_eq!(
                seen[1..].iter().map(said).collect::<Vec<_>>(),
                SAID,
                "{cut}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stream_resumed_after_each_event_loses_nothing() {
    let (endpoint, _, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.send(steps(1)).await;
    let mut seen = vec![got.event().await];
    while seen.len() < 8 {
        let last = seen.last().unwrap().id.clone().unwrap();
        drop(got);
        got = peer.resume(&last).await;
        assert_eq!(got.status, 200);
        seen.push(got.event().await);
    }
    assert_eq!(seen[1..].iter().map(said).collect::<Vec<_>>(), SAID);
}

#[tokio::test(start_paused = true)]
async fn resumed_standalone_stream_sends_missed_events() {
    // spec: RSM-03
    let (endpoint, tools, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.get().await;
    let primed = got.event().await;
    assert_eq!((primed.retry, &primed.data), (Some(1000), &None));
    let mut last = primed.id.unwrap();
    let uri = |n: usize| format!("file:///{n}");
    for n in 0..6 {
        let params = json!({ "uri": uri(n) });
        let subscribe = json!({
            "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params,
        });
        assert_eq!(peer.send(subscribe).await.status, 200);
    }
    let updated = |n| {
        tools
            .bus
            .publish(ChangeEvent::Resource { uri: uri(n).into() })
    };
    let uri_of = |event: &Event| event.data.as_ref().unwrap()["params"]["uri"].clone();
    for n in 0..3 {
        // The first change is sent on the open stream, the second one is missed. The client reads
        // neither before it reconnects.
        updated(2 * n);
        let seen = got.event().await;
        assert_eq!(uri_of(&seen), json!(uri(2 * n)));
        drop(got);
        updated(2 * n + 1);
        got = peer.resume(&last).await;
        assert_eq!(got.event().await, seen);
        let primed = got.event().await;
        assert_eq!(primed.data, None);
        let missed = got.event().await;
        assert_eq!(uri_of(&missed), json!(uri(2 * n + 1)));
        last = missed.id.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn released_stream_ends_and_the_client_polls() {
    // spec: RSM-06
    let (endpoint, _, _) = keeping();
    let endpoint = endpoint.reconnect_after(Duration::from_millis(500));
    let peer = Peer::open(&endpoint).await;
    let begin = tokio::time::Instant::now();
    let got = peer.tool(1, "poll").await;
    assert!(got.is_stream());
    let events = got.rest().await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert!(events.iter().all(|event| event.data.is_none()));
    assert_eq!(events.last().unwrap().retry, Some(500));
    let last = events[0].id.clone().unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let rest = peer.resume(&last).await.messages().await;
    assert_eq!(rest[0]["result"]["content"][0]["text"], "polled");
    assert_eq!(begin.elapsed(), Duration::from_millis(100));
    // Handlers have no stream control in older revisions and without an event store.
    let old = Peer::new(&endpoint).speaking("2025-06-18").begin().await;
    let bare = Peer::open(&super::endpoint().0).await;
    for peer in [old, bare] {
        let answer = peer.tool(1, "poll").await.json().await;
        assert_eq!(answer["result"]["content"][0]["text"], "no control");
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_last_event_id_is_400() {
    // spec: RSM-01, RSM-04, RSM-10
    let (endpoint, tools) = endpoint();
    let store = Arc::new(MemoryEventStore::new().max_events(4).clock(clock));
    let endpoint = endpoint.events(store);
    let (peer, other) = (Peer::open(&endpoint).await, Peer::open(&endpoint).await);
    let first = peer.send(steps(1)).await.rest().await;
    let id = |n: usize| first[n].id.clone().unwrap();
    let stream = id(0).rsplit_once('_').unwrap().0.to_owned();
    for (last, names) in [
        ("nonsense".to_owned(), "Last-Event-ID"),
        ("1_x".to_owned(), "Last-Event-ID"),
        ("unknown-1_1".to_owned(), "no such stream"),
        (id(0), "no longer kept"),
    ] {
        let got = peer.resume(&last).await;
        let status = got.status;
        let error = got.json().await["error"].clone();
        assert_eq!((status, &error["code"]), (400, &json!(-32000)), "{last}");
        assert!(
            error["message"].as_str().unwrap().contains(names),
            "{error}"
        );
    }
    // An event id is invalid in another session.
    assert_eq!(other.resume(&id(7)).await.status, 400);
    // A number beyond the end of the stream.
    let _running = peer.tool(2, "wait").await;
    assert_eq!(
        peer.resume(&format!("{stream}_{}", u64::MAX))
            .await
            .rest()
            .await,
        []
    );
    tools.go.notify_one();
    // The end of the session deletes its events.
    assert_eq!(peer.delete().await.status, 200);
    settle().await;
    assert_eq!(peer.resume(&id(7)).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn last_event_id_beyond_the_end_is_clamped() {
    let (endpoint, tools, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "wait").await;
    let id = got.event().await.id.unwrap();
    let (stream, _) = id.rsplit_once('_').unwrap();
    let beyond = peer.resume(&format!("{stream}_{}", u64::MAX)).await;
    tools.go.notify_one();
    assert_eq!(beyond.messages().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn second_reader_replaces_the_first_and_a_third_is_409() {
    let (endpoint, tools, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    let mut first = peer.tool(1, "wait").await;
    let id = first.event().await.id.unwrap();
    let second = peer.resume(&id).await;
    // The replaced stream ends without a `retry` field.
    assert_eq!(first.rest().await, []);
    let third = peer.resume(&id).await;
    assert_eq!(third.header("retry-after").as_deref(), Some("5"));
    assert_eq!(third.refusal().await, (409, -32000));
    tools.go.notify_one();
    assert_eq!(second.messages().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn resumed_stream_repeats_a_missed_server_request() {
    let (endpoint, _, _) = keeping();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "ask").await;
    let primed = got.event().await.id.unwrap();
    drop(got);
    let mut got = peer.resume(&primed).await;
    let question = got.event().await.data.unwrap();
    let answer = asking::accept(&question["id"]);
    assert_eq!(peer.send(answer).await.status, 202);
    assert_eq!(got.messages().await[0]["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn reader_that_does_not_read_does_not_block_the_call() {
    let (endpoint, _, _) = keeping();
    let kept = Peer::open(&endpoint).await;
    let got = kept.send(steps(1)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let events = got.rest().await;
    assert_eq!(events[1..].iter().map(said).collect::<Vec<_>>(), SAID);
    // Without a store, the events wait in a bounded buffer.
    let bare = Peer::open(&super::endpoint().0).await;
    let got = bare.send(steps(1)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(got.rest().await.iter().map(said).collect::<Vec<_>>(), SAID);
}

#[tokio::test(start_paused = true)]
async fn draining_server_ends_get_streams_and_close_ends_calls() {
    for keeps in [false, true] {
        let shutdown = Shutdown::new();
        let (mut endpoint, tools) = endpoint();
        if keeps {
            endpoint = endpoint.events(MemoryEventStore::new().clock(clock));
        }
        let endpoint = endpoint.shutdown_with(shutdown.clone());
        let mut streams = Vec::new();
        let mut calls = Vec::new();
        for _ in 0..25 {
            let peer = Peer::open(&endpoint).await;
            let mut stream = peer.get().await;
            stream.frame().await;
            streams.push(stream);
            calls.push(peer.tool(1, "wait").await);
        }
        tools.bus.publish(ChangeEvent::Tools);
        // Events before the shutdown are not lost.
        for stream in &mut streams {
            while stream.event().await.data.is_none() {}
        }
        shutdown.drain();
        for stream in streams {
            assert_eq!(stream.rest().await, []);
        }
        // Calls may finish until the server closes. Then they are answered with an error.
        for _ in 0..10 {
            tools.go.notify_one();
            settle().await;
        }
        assert_eq!(tools.waiting(), (15, 10));
        shutdown.close();
        let (mut done, mut ended) = (0, 0);
        for call in calls {
            let messages = call.messages().await;
            assert_eq!((messages.len(), &messages[0]["id"]), (1, &json!(1)));
            if messages[0]["error"].is_object() {
                ended += 1;
            } else {
                done += 1;
            }
        }
        assert_eq!((done, ended), (10, 15));
    }
}
