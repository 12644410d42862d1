//! Streams of events that mend themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use mcp::events::{EventClient, EventQuery, EventStream, EventUpdate, Events};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp_testing::Pair;

use crate::kit::{Order, Ping, client_of, code, plain_events, server};

async fn next_number(stream: &mut EventStream) -> u64 {
    match stream.next().await.unwrap().unwrap() {
        EventUpdate::Event(event) => event.data["number"].as_u64().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The number of the events that show that a stream has started.
const START: u64 = 100;

/// Publishes until the stream has started and receives an event.
async fn start(events: &Events, stream: &mut EventStream) {
    loop {
        events.publish(&Order { number: START }).await.unwrap();
        let first = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
        if first.is_ok() {
            break;
        }
    }
}

/// Returns the number of the next event that is not from `start`.
async fn next_after_start(stream: &mut EventStream) -> u64 {
    loop {
        match next_number(stream).await {
            START => {}
            number => return number,
        }
    }
}

async fn check_stream(pair: Pair, events: &Events) {
    let pair = pair
        .client(Client::builder().extension(Events::new()))
        .connect()
        .await
        .unwrap();
    let client = EventClient::new(&pair.client).unwrap();
    let query = || EventQuery::new("order.placed").argument("number", 2);
    let mut stream = client.stream(query());
    let mut second = client.stream(EventQuery::new("order.placed").argument("number", 50));
    start(events, &mut stream).await;
    start(events, &mut second).await;
    for number in [1, 2, 51] {
        events.publish(&Order { number }).await.unwrap();
    }
    assert_eq!(next_after_start(&mut stream).await, 2);
    assert_eq!(next_after_start(&mut stream).await, 51);
    assert_eq!(next_after_start(&mut second).await, 51);
}

#[tokio::test]
async fn streams_over_http_receive_their_own_events() {
    let events = plain_events();
    check_stream(Pair::http(server(&events)), &events).await;
}

#[tokio::test]
async fn streams_over_one_pipe_receive_their_own_events() {
    let events = plain_events();
    check_stream(Pair::stdio(server(&events)), &events).await;
}

#[tokio::test]
async fn stream_in_a_session_polls() {
    let events = plain_events().limits(|limits| limits.poll_interval = Duration::from_millis(100));
    let pair = Pair::http(server(&events)).revision(ProtocolVersion::V2025_11_25);
    check_stream(pair, &events).await;
}

#[tokio::test(start_paused = true)]
async fn stream_continues_at_a_cursor_and_reports_a_gap() {
    let events = plain_events();
    let client = client_of(server(&events)).await;
    let query = EventQuery::new("order.placed").argument("number", 0);
    let cursor = client.poll(query.clone()).await.unwrap().cursor.unwrap();
    events.publish(&Order { number: 1 }).await.unwrap();
    let mut stream = client.stream(query.clone().cursor(&cursor));
    assert_eq!(next_number(&mut stream).await, 1);

    let mut stream = client.stream(query.cursor("from-another-process"));
    assert_eq!(stream.next().await.unwrap().unwrap(), EventUpdate::Gap);
    assert_eq!(next_number(&mut stream).await, 1);
}

#[tokio::test(start_paused = true)]
async fn stream_of_a_polled_type_polls() {
    let events = plain_events();
    let client = client_of(server(&events)).await;
    let cursor = client
        .poll(EventQuery::new("ping"))
        .await
        .unwrap()
        .cursor
        .unwrap();
    let mut stream = client.stream(EventQuery::new("ping").cursor(cursor));
    events.publish(&Ping {}).await.unwrap();
    assert!(matches!(
        stream.next().await,
        Some(Ok(EventUpdate::Event(_)))
    ));
}

#[tokio::test(start_paused = true)]
async fn stream_polls_for_at_most_as_many_events_as_the_program_wants() {
    let (events, requests) = (plain_events(), Arc::new(AtomicUsize::new(0)));
    let counter = requests.clone();
    let count = move |exchange: Exchange, next: Next| {
        counter.fetch_add(1, Ordering::Relaxed);
        next.run(exchange)
    };
    let client = client_of(server(&events).layer(from_fn(count))).await;
    let query = EventQuery::new("ping").max_events(1);
    let cursor = client.poll(query.clone()).await.unwrap().cursor.unwrap();
    for _ in 0..9 {
        events.publish(&Ping {}).await.unwrap();
    }
    let before = requests.load(Ordering::Relaxed);
    let mut stream = client.stream(query.cursor(cursor));
    for _ in 0..9 {
        assert!(matches!(
            stream.next().await,
            Some(Ok(EventUpdate::Event(_)))
        ));
    }
    assert!(requests.load(Ordering::Relaxed) - before >= 9);
}

#[tokio::test(start_paused = true)]
async fn slow_program_receives_all_events_once() {
    let events = plain_events();
    let client = client_of(server(&events)).await;
    let query = EventQuery::new("order.placed").argument("number", 0);
    let cursor = client.poll(query.clone()).await.unwrap().cursor.unwrap();
    for number in 0..1000 {
        events.publish(&Order { number }).await.unwrap();
    }
    let mut stream = client.stream(query.cursor(cursor));
    tokio::time::sleep(Duration::from_secs(10)).await;
    for number in 0..1000 {
        assert_eq!(next_number(&mut stream).await, number);
    }
}

#[tokio::test(start_paused = true)]
async fn error_that_does_not_pass_ends_the_stream() {
    let client = client_of(server(&plain_events())).await;
    let mut stream = client.stream(EventQuery::new("nothing"));
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(code(&error), -32023);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn streams_beyond_the_limit_are_refused_until_one_ends() {
    let events = plain_events().limits(|limits| limits.streams = 1);
    let client = client_of(server(&events)).await;
    let query = EventQuery::new("order.placed").argument("number", 0);
    let cursor = client.poll(query.clone()).await.unwrap().cursor.unwrap();
    events.publish(&Order { number: 1 }).await.unwrap();
    let mut first = client.stream(query.clone().cursor(&cursor));
    assert_eq!(next_number(&mut first).await, 1);
    let mut second = client.stream(query.cursor(&cursor));
    let waiting = tokio::time::timeout(Duration::from_secs(30), second.next()).await;
    assert!(waiting.is_err());
    drop(first);
    assert_eq!(next_number(&mut second).await, 1);
}

#[tokio::test(start_paused = true)]
async fn stream_ends_when_its_event_type_is_removed() {
    let events = plain_events();
    let client = client_of(server(&events)).await;
    let query = EventQuery::new("order.placed").argument("number", 0);
    let cursor = client.poll(query.clone()).await.unwrap().cursor.unwrap();
    events.publish(&Order { number: 1 }).await.unwrap();
    let mut stream = client.stream(query.cursor(&cursor));
    assert_eq!(next_number(&mut stream).await, 1);
    events.remove_event("order.placed");
    let last = stream.next().await.unwrap().unwrap();
    let EventUpdate::Terminated { reason } = last else {
        panic!("{last:?}");
    };
    assert_eq!(reason, "the event type was removed");
    assert!(stream.next().await.is_none());
}
