//! The log of published events: its contract, with the log in memory and the one in Redis, and the
//! failures of Redis.

use std::time::{Duration, Instant};

use mcp::events::MemoryEventLog;
use mcp_events::{EventLog, LogPage, LoggedEvent};
use mcp_types::RawObject;
use redis::cmd;

use crate::server::{RedisServer, eventually};

pub(crate) fn event(name: &str, id: &str) -> LoggedEvent {
    let data = RawObject::from_text(r#"{"x":"0123456789"}"#).unwrap();
    LoggedEvent::new(id, name, 17, data)
}

async fn append(log: &dyn EventLog, ids: &[&str]) -> Vec<String> {
    let mut cursors = Vec::new();
    for id in ids {
        cursors.push(log.append(event("a", id)).await.unwrap());
    }
    cursors
}

fn ids(page: &LogPage) -> Vec<&str> {
    page.events.iter().map(|(_, event)| &*event.id).collect()
}

/// A page as (ids, truncated, has_more).
async fn read(log: &dyn EventLog, after: &str, limit: usize) -> (Vec<String>, bool, bool) {
    let page = log.read("a", after, limit).await.unwrap();
    let ids = ids(&page).into_iter().map(str::to_owned).collect();
    (ids, page.truncated, page.has_more)
}

fn page(ids: &[&str], truncated: bool, has_more: bool) -> (Vec<String>, bool, bool) {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    (ids, truncated, has_more)
}

async fn log_contract(log: &dyn EventLog) {
    let start = log.end("a").await.unwrap();
    assert_eq!(log.end("a").await.unwrap(), start);
    assert_eq!(read(log, &start, 10).await, page(&[], false, false));
    let cursors = append(log, &["1", "2", "3"]).await;
    log.append(event("b", "other")).await.unwrap();
    assert_eq!(log.end("a").await.unwrap(), cursors[2]);
    // In order, once each, and complete.
    let whole = log.read("a", &start, 10).await.unwrap();
    assert_eq!(ids(&whole), ["1", "2", "3"]);
    assert!(!whole.truncated && !whole.has_more);
    let read_cursors: Vec<_> = whole.events.iter().map(|(cursor, _)| cursor).collect();
    assert_eq!(read_cursors, cursors.iter().collect::<Vec<_>>());
    assert_eq!(whole.events[0].1, event("a", "1"));
    // In pages.
    assert_eq!(read(log, &start, 2).await, page(&["1", "2"], false, true));
    assert_eq!(read(log, &cursors[1], 2).await, page(&["3"], false, false));
    assert_eq!(read(log, &cursors[2], 2).await, page(&[], false, false));
    // A cursor of another log is a gap.
    let forged = cursors[0].replace('-', "x-");
    for cursor in ["", "x", "-1", "a-1-1", &forged, &format!("{}9", cursors[2])] {
        let found = read(log, cursor, 10).await;
        assert_eq!(found, page(&["1", "2", "3"], true, false), "{cursor}");
    }
    assert!(log.read("never", "a-1-1", 10).await.unwrap().truncated);
}

/// With space for two events.
async fn trim_contract(log: &dyn EventLog) {
    let start = log.end("a").await.unwrap();
    let cursors = append(log, &["1", "2", "3", "4"]).await;
    assert_eq!(read(log, &start, 10).await, page(&["3", "4"], true, false));
    assert_eq!(
        read(log, &cursors[0], 10).await,
        page(&["3", "4"], true, false)
    );
    // Who has received the newest dropped event has missed nothing.
    assert_eq!(
        read(log, &cursors[1], 10).await,
        page(&["3", "4"], false, false)
    );
    assert_eq!(read(log, &cursors[2], 10).await, page(&["4"], false, false));
}

/// With 200 ms for each event.
async fn age_contract(log: &dyn EventLog) {
    let start = log.end("a").await.unwrap();
    let first = append(log, &["1"]).await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    append(log, &["2"]).await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(read(log, &start, 10).await, page(&["2"], true, false));
    assert_eq!(read(log, &first[0], 10).await, page(&["2"], false, false));
    tokio::time::sleep(Duration::from_millis(220)).await;
    let end = log.end("a").await.unwrap();
    assert_eq!(read(log, &first[0], 10).await, page(&[], true, false));
    // Events that have expired are not gap for who has received them.
    assert_eq!(read(log, &end, 10).await, page(&[], false, false));
    append(log, &["3"]).await;
    assert_eq!(read(log, &end, 10).await, page(&["3"], false, false));
    assert_eq!(read(log, &first[0], 10).await, page(&["3"], true, false));
}

/// Large events come in pages of about 1 MiB.
async fn page_contract(log: &dyn EventLog) {
    let mut after = log.end("a").await.unwrap();
    let data = format!(r#"{{"x":"{}"}}"#, "x".repeat(400 << 10));
    for number in 0..5 {
        let data = RawObject::from_text(&*data).unwrap();
        let event = LoggedEvent::new(number.to_string(), "a", 17, data);
        log.append(event).await.unwrap();
    }
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = log.read("a", &after, 100).await.unwrap();
        assert!((1..=2).contains(&page.events.len()) && !page.truncated);
        after.clone_from(&page.events.last().unwrap().0);
        seen.extend(page.events.into_iter().map(|(_, event)| event.id));
        pages += 1;
        if !page.has_more {
            break;
        }
    }
    assert_eq!((seen.join(""), pages), ("01234".to_owned(), 3));
}

async fn wait_contract(log: &dyn EventLog) {
    let start = log.end("a").await.unwrap();
    let waits = log.wait("a", &start);
    let publishes = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        log.append(event("a", "1")).await.unwrap();
    };
    let limit = Duration::from_secs(5);
    let (waited, ()) = tokio::join!(tokio::time::timeout(limit, waits), publishes);
    waited.unwrap().unwrap();
    // There is an event already, and the cursor is unknown.
    for cursor in [&*start, "unknown"] {
        tokio::time::timeout(limit, log.wait("a", cursor))
            .await
            .unwrap()
            .unwrap();
    }
}

const AGE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn event_logs_meet_the_contract() {
    log_contract(&MemoryEventLog::new()).await;
    trim_contract(&MemoryEventLog::new().max_events(2)).await;
    trim_contract(&MemoryEventLog::new().max_bytes(40)).await;
    age_contract(&MemoryEventLog::new().max_age(AGE)).await;
    page_contract(&MemoryEventLog::new()).await;
    wait_contract(&MemoryEventLog::new()).await;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let log = |prefix: &str| redis.clone().prefix(prefix).event_log();
    log_contract(&log("log")).await;
    trim_contract(&log("count").max_events(2)).await;
    trim_contract(&log("bytes").max_bytes(40)).await;
    age_contract(&log("age").max_age(AGE)).await;
    page_contract(&log("pages")).await;
    wait_contract(&log("wait")).await;
}

#[tokio::test]
async fn event_from_one_node_wakes_and_reaches_the_other() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (server.connect().await, server.connect().await);
    let (a, b) = (a.event_log(), b.event_log());
    let mut cursor = b.end("a").await.unwrap();
    let writer = tokio::spawn(async move {
        for number in 0..200 {
            a.append(event("a", &number.to_string())).await.unwrap();
        }
    });
    let mut seen = Vec::new();
    while seen.len() < 200 {
        let wait = tokio::time::timeout(Duration::from_secs(5), b.wait("a", &cursor));
        wait.await.unwrap().unwrap();
        let page = b.read("a", &cursor, 7).await.unwrap();
        assert!(!page.truncated);
        if let Some((last, _)) = page.events.last() {
            cursor.clone_from(last);
        }
        seen.extend(page.events.into_iter().map(|(_, event)| event.id));
    }
    writer.await.unwrap();
    assert_eq!(
        seen,
        (0..200)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn repeated_event_is_stored_once() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (server.connect().await, server.connect().await);
    let (a, b) = (a.event_log(), b.event_log());
    let start = a.end("a").await.unwrap();
    let first = a.append(event("a", "1")).await.unwrap();
    b.append(event("a", "2")).await.unwrap();
    assert_eq!(a.append(event("a", "1")).await.unwrap(), first);
    assert_eq!(read(&a, &start, 10).await, page(&["1", "2"], false, false));
}

#[tokio::test]
async fn events_published_during_a_restart_are_stored_once_and_in_order() {
    let Some(mut server) = RedisServer::start_persistent().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_secs(10));
    let log = redis.event_log();
    let start = log.end("a").await.unwrap();
    let writer = {
        let log = log.clone();
        tokio::spawn(async move {
            for number in 0..300 {
                log.append(event("a", &number.to_string())).await.unwrap();
            }
        })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.kill();
    server.run().await;
    writer.await.unwrap();
    let (seen, truncated, _) = read(&log, &start, 1000).await;
    assert_eq!(
        seen,
        (0..300)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
    );
    assert!(!truncated);
}

#[tokio::test]
async fn published_events_that_redis_lost_are_a_gap() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let log = server.connect().await.event_log();
    let before = append(&log, &["1", "2"]).await;
    let _: () = server.command(&cmd("FLUSHALL")).await;
    assert_eq!(read(&log, &before[1], 10).await, page(&[], true, false));
    append(&log, &["3"]).await;
    assert_eq!(read(&log, &before[1], 10).await, page(&["3"], true, false));
    // Eviction of one of the two keys has the same result.
    let after = log.end("a").await.unwrap();
    // In the millisecond of the last event, a new stream would begin with the id of that event.
    let last: u64 = after.split('-').nth(1).unwrap().parse().unwrap();
    eventually("the next millisecond", async || {
        let (seconds, micros): (u64, u64) = server.command(&cmd("TIME")).await;
        seconds * 1000 + micros / 1000 > last
    })
    .await;
    let _: () = server
        .command(cmd("DEL").arg("test:v1:{event:a}:log"))
        .await;
    append(&log, &["4", "5"]).await;
    assert_eq!(
        read(&log, &before[1], 10).await,
        page(&["4", "5"], true, false)
    );
    assert_eq!(
        read(&log, &after, 10).await,
        page(&["4", "5"], false, false)
    );
    let _: () = server
        .command(cmd("DEL").arg("test:v1:{event:a}:position"))
        .await;
    append(&log, &["6"]).await;
    assert_eq!(read(&log, &after, 10).await, page(&["6"], true, false));
}

#[tokio::test]
async fn full_or_slow_redis_refuses_events_in_time_and_recovers() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_millis(300));
    let log = redis.event_log();
    let first = append(&log, &["1"]).await;
    let limit = |value: &str| {
        let mut set = cmd("CONFIG");
        set.arg(&["SET", "maxmemory", value]);
        set
    };
    let _: () = server.command(&limit("1")).await;
    let error = log.append(event("a", "2")).await.unwrap_err();
    assert!(error.to_string().contains("OOM"), "{error}");
    assert_eq!(read(&log, &first[0], 10).await, page(&[], false, false));
    let _: () = server.command(&limit("0")).await;
    let _: () = server
        .command(cmd("CLIENT").arg(&["PAUSE", "1000", "ALL"]))
        .await;
    let start = Instant::now();
    let error = log.append(event("a", "3")).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_millis(900));
    assert!(
        error
            .to_string()
            .contains("did not answer `publish an event`"),
        "{error}"
    );
    eventually("recovery", async || {
        log.append(event("a", "4")).await.is_ok()
    })
    .await;
    let (ids, truncated, _) = read(&log, &first[0], 10).await;
    assert!(ids.ends_with(&["4".to_owned()]) && !truncated, "{ids:?}");
    assert!(!ids.contains(&"2".to_owned()), "{ids:?}");
}

#[tokio::test]
async fn keys_for_old_published_events_expire() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_millis(200));
    let log = redis.event_log().max_age(AGE);
    append(&log, &["1"]).await;
    eventually("expiry of the events", async || {
        let keys: Vec<String> = server.command(cmd("KEYS").arg("*:log")).await;
        keys.is_empty()
    })
    .await;
    let mark: i64 = server
        .command(cmd("PTTL").arg("test:v1:{event:a}:mark:1"))
        .await;
    assert!(mark < 10_200, "{mark}");
}
