//! Listing and polling events.

use std::time::Duration;

use futures::StreamExt as _;
use mcp::Change;
use mcp::ClientBuilder;
use mcp::events::{DeliveryMode, EventClient, EventQuery, EventType, Events};
use mcp::prelude::*;
use mcp::types::SubscriptionFilter;
use mcp_testing::Pair;
use serde_json::json;

use crate::kit::{Order, Ping, client_of, code, plain_events, server};

fn orders() -> EventQuery {
    EventQuery::new("order.placed").argument("number", 2)
}

#[tokio::test]
async fn capability_is_declared_in_both_places() {
    let server = server(&plain_events());
    let client = Client::connect(mcp::InProcess(server)).await.unwrap();
    let capabilities = serde_json::to_value(client.server_capabilities().unwrap()).unwrap();
    assert_eq!(capabilities["events"], json!({}));
    assert_eq!(
        capabilities["extensions"]["io.modelcontextprotocol/events"],
        json!({"listChanged": true})
    );
}

#[tokio::test]
async fn types_are_listed_with_their_schemas() {
    let client = client_of(server(&plain_events())).await;
    let list = client.list_page(None).await.unwrap();
    let order = &list.events[0];
    assert_eq!(order.name, "order.placed");
    assert_eq!(
        order.delivery,
        [
            DeliveryMode::Poll,
            DeliveryMode::Push,
            DeliveryMode::Webhook
        ]
    );
    assert_eq!(
        order.input_schema["properties"]["number"]["type"],
        "integer"
    );
    assert_eq!(
        order.payload_schema["properties"]["number"]["type"],
        "integer"
    );
    assert_eq!(list.events[1].input_schema["additionalProperties"], false);
}

#[tokio::test]
async fn poll_starts_now_and_returns_selected_events_in_both_eras() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let events = plain_events();
        events.publish(&Order { number: 9 }).await.unwrap();
        let builder = Client::builder().extension(Events::new());
        let pair = Pair::http(server(&events))
            .client(builder)
            .revision(version);
        let pair = pair.connect().await.unwrap();
        if version.is_modern() {
            pair.client.discover().await.unwrap();
        }
        let client = EventClient::new(&pair.client).unwrap();
        let first = client.poll(orders()).await.unwrap();
        assert!(first.events.is_empty() && !first.truncated);
        for number in [1, 2, 3, 4] {
            events.publish(&Order { number }).await.unwrap();
        }
        let cursor = first.cursor.unwrap();
        let page = client
            .poll(orders().cursor(&cursor).max_events(2))
            .await
            .unwrap();
        // The first two of the log, of which one is selected.
        assert_eq!(page.events.len(), 1);
        assert_eq!(page.events[0].data["number"], 2);
        assert!(page.has_more);
        let rest = client
            .poll(orders().cursor(page.cursor.unwrap()))
            .await
            .unwrap();
        let numbers: Vec<_> = rest
            .events
            .iter()
            .map(|event| event.data["number"].clone())
            .collect();
        assert_eq!(numbers, [3, 4]);
        assert!(!rest.has_more);
    }
}

#[tokio::test]
async fn unknown_cursor_is_a_gap() {
    let events = plain_events();
    let client = client_of(server(&events)).await;
    events.publish(&Order { number: 7 }).await.unwrap();
    let result = client
        .poll(orders().cursor("from-another-process"))
        .await
        .unwrap();
    assert!(result.truncated);
    assert_eq!(result.events.len(), 1);
}

#[tokio::test]
async fn invalid_requests_get_codes_from_the_draft() {
    let client = client_of(server(&plain_events())).await;
    let error = client.poll(EventQuery::new("nothing")).await.unwrap_err();
    assert_eq!(code(&error), -32023);
    let error = client
        .poll(EventQuery::new("ping").argument("x", 1))
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32602);
    let error = client
        .poll(EventQuery::new("order.placed"))
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32602);
    let error = client
        .poll(orders().cursor("x".repeat(257)))
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32602);
}

#[tokio::test]
async fn server_without_the_extension_has_no_events() {
    let server = Server::new("x", "1.0.0");
    let client = Client::builder().extension(Events::new());
    let client = client.connect(mcp::InProcess(server)).await.unwrap();
    assert!(EventClient::new(&client).is_err());
}

#[test]
fn mistakes_in_event_types_are_setup_errors() {
    let check = |events| {
        Server::new("x", "1.0.0")
            .extension(events)
            .check()
            .unwrap_err()
            .to_string()
    };
    let error = check(Events::new().event(EventType::<Ping>::new("a")));
    assert!(
        error.contains("a delivery of the event type `a`"),
        "{error}"
    );
    let error = check(Events::new().event(EventType::<Ping>::new("a").webhook()));
    assert!(
        error.contains("`Events::webhooks` for the event type `a`"),
        "{error}"
    );
    let twice = Events::new().event(EventType::<Ping>::new("a").poll());
    let error = check(twice.event(EventType::<Order>::new("a").poll()));
    assert!(
        error.contains("another name for the second event type `a`"),
        "{error}"
    );
}

#[tokio::test]
async fn long_event_type_list_has_pages() {
    let mut events = Events::new();
    for number in 0..250 {
        let event = EventType::<Ping>::new(format!("ping.{number}")).poll();
        events = events.event(event.meta("com.example/rank", number));
    }
    let client = client_of(server(&events)).await;
    let mut page = client.list_page(None).await.unwrap();
    let mut sizes = vec![page.events.len()];
    while let Some(cursor) = page.next_cursor {
        page = client.list_page(cursor).await.unwrap();
        sizes.push(page.events.len());
    }
    assert_eq!(sizes, [100, 100, 50]);
    let last = page.events.last().unwrap();
    assert_eq!(last.name, "ping.249");
    assert_eq!(last.meta.as_ref().unwrap()["com.example/rank"], 249);
    let error = client.list_page("unknown".to_owned()).await.unwrap_err();
    assert_eq!(code(&error), -32602);
}

#[tokio::test]
async fn changed_event_types_reach_clients_that_subscribe_to_them() {
    let none: [String; 0] = [];
    let subscribe = async |client: ClientBuilder, filter: SubscriptionFilter| {
        let events = plain_events();
        let server = server(&events).tool(Tool::new("none").handler(|| ""));
        let client = client.connect(mcp::InProcess(server)).await.unwrap();
        let changes = client.subscribe(none.clone()).filter(filter);
        (events, changes.await.unwrap())
    };
    let filter = SubscriptionFilter::new().events_changed();
    let (events, mut changes) = subscribe(Client::builder(), filter).await;
    assert!(changes.granted().events_list_changed);
    assert!(!events.remove_event("nothing"));
    events.add_event(EventType::<Ping>::new("pong").poll());
    let Change::Other { method, .. } = changes.next().await.unwrap().unwrap() else {
        panic!("another change");
    };
    assert_eq!(method.as_ref(), "notifications/events/list_changed");
    // A client that declares the extension, and subscribes to another list.
    let declares = Client::builder().extension(Events::new());
    let filter = SubscriptionFilter::new().tools_changed();
    let (events, mut changes) = subscribe(declares, filter).await;
    events.add_event(EventType::<Ping>::new("pong").poll());
    // Nothing is granted, so the subscription ends without a change.
    let next = tokio::time::timeout(Duration::from_millis(50), changes.next());
    let next = next.await;
    assert!(!matches!(next, Ok(Some(Ok(_)))), "{next:?}");
}
