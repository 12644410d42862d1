//! The event log in memory.

use mcp::events::{EventLog, LoggedEvent};
use mcp::types::RawObject;

use crate::kit::plain_events;

fn event(id: &str) -> LoggedEvent {
    LoggedEvent::new(
        id,
        "a",
        0,
        RawObject::from_text(r#"{"x":"0123456789"}"#).unwrap(),
    )
}

fn ids(page: &mcp::events::LogPage) -> Vec<&str> {
    page.events.iter().map(|(_, event)| &*event.id).collect()
}

#[tokio::test]
async fn log_is_read_in_pages_from_a_cursor() {
    let log = mcp_events::MemoryEventLog::new();
    let start = log.end("a").await.unwrap();
    for id in ["1", "2", "3"] {
        log.append(event(id)).await.unwrap();
    }
    let page = log.read("a", &start, 2).await.unwrap();
    assert_eq!(
        (ids(&page), page.truncated, page.has_more),
        (vec!["1", "2"], false, true)
    );
    let page = log.read("a", &page.events[1].0, 2).await.unwrap();
    assert_eq!(
        (ids(&page), page.truncated, page.has_more),
        (vec!["3"], false, false)
    );
    assert_eq!(log.end("a").await.unwrap(), page.events[0].0);
}

#[tokio::test]
async fn log_forgets_the_oldest_events_and_says_so() {
    for log in [
        mcp_events::MemoryEventLog::new().max_events(2),
        mcp_events::MemoryEventLog::new().max_bytes(40),
    ] {
        let start = log.end("a").await.unwrap();
        for id in ["1", "2", "3"] {
            log.append(event(id)).await.unwrap();
        }
        let page = log.read("a", &start, 10).await.unwrap();
        assert_eq!((ids(&page), page.truncated), (vec!["2", "3"], true));
    }
}

#[tokio::test]
async fn cursor_from_another_process_is_a_gap() {
    let log = mcp_events::MemoryEventLog::new();
    log.append(event("1")).await.unwrap();
    for cursor in ["", "x", "00000000-1", "-1", "00000000-18446744073709551616"] {
        let page = log.read("a", cursor, 10).await.unwrap();
        assert_eq!((ids(&page), page.truncated), (vec!["1"], true), "{cursor}");
    }
    assert!(log.read("b", "00000000-1", 10).await.unwrap().truncated);
}

#[tokio::test]
async fn wait_ends_when_an_event_is_appended() {
    let log = mcp_events::MemoryEventLog::new();
    let start = log.end("a").await.unwrap();
    let mut wait = log.wait("a", &start);
    assert!(futures::poll!(&mut wait).is_pending());
    log.append(event("1")).await.unwrap();
    wait.await.unwrap();
}

#[tokio::test]
async fn event_that_is_unknown_or_too_large_is_not_published() {
    let events = plain_events().limits(|limits| limits.payload_bytes = 10);
    let unknown = events.publish(&"text".to_owned()).await.unwrap_err();
    assert!(
        unknown.to_string().contains("no event type has"),
        "{unknown}"
    );
    let large = events
        .publish(&crate::kit::Order { number: 1_000_000 })
        .await
        .unwrap_err();
    assert!(large.to_string().contains("the limit is 10"), "{large}");
    let list = events.publish_as("ping", &[1]).await.unwrap_err();
    assert!(list.to_string().contains("cannot be serialized"), "{list}");
}
