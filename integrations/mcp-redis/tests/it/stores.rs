//! The contracts of the store traits, with the stores in memory and those in Redis.

use std::time::Duration;

use bytes::Bytes;
use mcp_core::CallerKey;
use mcp_core::store::{
    EventStore, MemoryEventStore, MemorySessionStore, Replay, ReplayError, SessionRecord,
    SessionStore, StoredEvent, StreamId,
};
use redis::cmd;
use serde_json::json;

use crate::server::{RedisServer, eventually};

/// A record that differs from others by its subscription.
pub(crate) fn record(subscription: &str) -> SessionRecord {
    let record = json!({
        "server": "shop",
        "version": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "caller": null,
        "subscriptions": [subscription],
        "ready": true,
    });
    serde_json::from_value(record).unwrap()
}

pub(crate) fn stream_id<'a>(session: &'a str, stream: &'a str) -> StreamId<'a> {
    StreamId { session, stream }
}

const TTL: Duration = Duration::from_secs(60);

async fn session_contract(store: &dyn SessionStore) {
    assert_eq!(store.load("a").await.unwrap(), None);
    assert!(!store.replace("a", record("early"), TTL).await.unwrap());
    assert!(!store.touch("a", TTL).await.unwrap());
    assert!(store.insert("a", record("first"), TTL).await.unwrap());
    assert!(!store.insert("a", record("second"), TTL).await.unwrap());
    assert_eq!(store.load("a").await.unwrap(), Some(record("first")));
    assert!(store.replace("a", record("third"), TTL).await.unwrap());
    assert!(store.touch("a", Duration::MAX).await.unwrap());
    assert_eq!(store.load("a").await.unwrap(), Some(record("third")));
    store.remove("a").await.unwrap();
    store.remove("a").await.unwrap();
    // A session that was ended stays ended.
    assert!(!store.replace("a", record("late"), TTL).await.unwrap());
    assert!(!store.touch("a", TTL).await.unwrap());
    assert_eq!(store.load("a").await.unwrap(), None);
    // Sessions expire.
    let soon = Duration::from_millis(30);
    assert!(store.insert("b", record("b"), soon).await.unwrap());
    eventually("expiry", async || store.load("b").await.unwrap().is_none()).await;
    assert!(!store.replace("b", record("late"), TTL).await.unwrap());
    assert!(store.insert("b", record("b"), Duration::MAX).await.unwrap());
    assert_eq!(store.load("b").await.unwrap(), Some(record("b")));
}

async fn append(store: &dyn EventStore, stream: StreamId<'_>, text: &str) -> u64 {
    let mut event = StoredEvent::new(Bytes::copy_from_slice(text.as_bytes()));
    event.is_last = text == "end";
    store.append(stream, event).await.unwrap()
}

fn texts(replay: &Replay) -> Vec<String> {
    let events = replay.events.iter();
    events
        .map(|(_, event)| String::from_utf8(event.text.to_vec()).unwrap())
        .collect()
}

async fn event_contract(store: &dyn EventStore) {
    let (one, two) = (stream_id("s", "1"), stream_id("s", "2"));
    let other = stream_id("t", "1");
    assert!(matches!(
        store.after(one, None).await,
        Err(ReplayError::Unknown)
    ));
    let a = append(store, one, "a").await;
    let b = append(store, two, "b").await;
    let c = append(store, one, "").await;
    let x = append(store, other, "x").await;
    let end = append(store, one, "end").await;
    assert!(a < c && c < end, "{a} {c} {end}");
    let all = store.after(one, None).await.unwrap();
    assert_eq!(texts(&all), ["a", "", "end"]);
    assert_eq!(
        all.events.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
        [a, c, end]
    );
    assert!(all.is_over && !all.has_more);
    assert!(all.events[2].1.is_last && !all.events[1].1.is_last);
    assert_eq!(
        texts(&store.after(one, Some(a)).await.unwrap()),
        ["", "end"]
    );
    let none = store.after(one, Some(end)).await.unwrap();
    assert!(none.events.is_empty() && none.is_over);
    // A number that belongs to another stream of the session is a position in this one.
    assert!(!store.after(two, Some(b)).await.unwrap().is_over);
    assert_eq!(
        texts(&store.after(one, Some(b)).await.unwrap()),
        ["", "end"]
    );
    store.forget("s").await.unwrap();
    store.forget("s").await.unwrap();
    for stream in [one, two] {
        let gone = store.after(stream, Some(a)).await;
        assert!(matches!(gone, Err(ReplayError::Unknown)));
    }
    assert!(store.after(other, Some(x)).await.unwrap().events.is_empty());
}

/// With space for three events of a session.
async fn trim_contract(store: &dyn EventStore) {
    let (one, two) = (stream_id("s", "1"), stream_id("s", "2"));
    let a = append(store, one, "a").await;
    append(store, one, "b").await;
    append(store, two, "c").await;
    append(store, one, "d").await;
    // A client that has received the dropped event has missed nothing.
    assert_eq!(texts(&store.after(one, Some(a)).await.unwrap()), ["b", "d"]);
    assert!(matches!(
        store.after(one, None).await,
        Err(ReplayError::TooOld)
    ));
    let e = append(store, two, "e").await;
    append(store, two, "f").await;
    append(store, two, "g").await;
    assert!(matches!(
        store.after(one, Some(a)).await,
        Err(ReplayError::Unknown)
    ));
    assert!(matches!(
        store.after(two, None).await,
        Err(ReplayError::TooOld)
    ));
    assert_eq!(texts(&store.after(two, Some(e)).await.unwrap()), ["f", "g"]);
    // A stream that starts again does not appear complete.
    append(store, one, "h").await;
    assert!(matches!(
        store.after(one, Some(a)).await,
        Err(ReplayError::TooOld)
    ));
}

/// Reads a stream of large events in parts.
async fn page_contract(store: &dyn EventStore) {
    let text = "x".repeat(100 << 10);
    let mut numbers = Vec::new();
    for _ in 0..7 {
        numbers.push(append(store, stream_id("s", "1"), &text).await);
        append(store, stream_id("s", "2"), "").await;
    }
    let (mut seen, mut parts) = (Vec::new(), 0);
    loop {
        let part = store
            .after(stream_id("s", "1"), seen.last().copied())
            .await
            .unwrap();
        assert!((1..4).contains(&part.events.len()));
        seen.extend(part.events.iter().map(|(number, _)| *number));
        parts += 1;
        if !part.has_more {
            break;
        }
    }
    assert_eq!(seen, numbers);
    assert!(parts > 2, "{parts}");
}

#[tokio::test]
async fn session_stores_meet_the_contract() {
    session_contract(&MemorySessionStore::new()).await;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    session_contract(&server.connect().await.sessions()).await;
}

#[tokio::test]
async fn event_stores_meet_the_contract() {
    event_contract(&MemoryEventStore::new()).await;
    trim_contract(&MemoryEventStore::new().max_events(3)).await;
    trim_contract(&MemoryEventStore::new().max_bytes(3)).await;
    page_contract(&MemoryEventStore::new()).await;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    event_contract(&redis.events()).await;
    trim_contract(&redis.clone().prefix("count").events().max_events(3)).await;
    trim_contract(&redis.clone().prefix("bytes").events().max_bytes(3)).await;
    page_contract(&redis.prefix("pages").events()).await;
}

#[tokio::test]
async fn old_events_are_dropped_and_their_keys_expire() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let store = redis.events().max_age(Duration::from_millis(200));
    let a = append(&store, stream_id("s", "1"), "a").await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    append(&store, stream_id("s", "1"), "b").await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    // The first event is too old, the second one is not.
    assert!(matches!(
        store.after(stream_id("s", "1"), None).await,
        Err(ReplayError::TooOld)
    ));
    assert_eq!(
        texts(&store.after(stream_id("s", "1"), Some(a)).await.unwrap()),
        ["b"]
    );
    eventually("expiry of all keys", async || {
        let keys: Vec<String> = server.command(cmd("KEYS").arg("*")).await;
        keys.is_empty()
    })
    .await;
    assert!(matches!(
        store.after(stream_id("s", "1"), Some(a)).await,
        Err(ReplayError::Unknown)
    ));
}

#[tokio::test]
async fn writers_on_several_nodes_number_events_in_one_order() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let nodes = [
        server.connect().await.events(),
        server.connect().await.events(),
    ];
    let mut writers = Vec::new();
    for (index, store) in nodes.into_iter().enumerate() {
        writers.push(tokio::spawn(async move {
            let mut numbers = Vec::new();
            for n in 0..200 {
                let text = format!("{index}-{n}");
                numbers.push((append(&store, stream_id("s", "1"), &text).await, text));
            }
            numbers
        }));
    }
    let mut written = Vec::new();
    for writer in writers {
        let numbers = writer.await.unwrap();
        assert!(numbers.is_sorted());
        written.extend(numbers);
    }
    written.sort();
    let store = server.connect().await.events();
    let replay = store.after(stream_id("s", "1"), None).await.unwrap();
    let read: Vec<_> = replay.events.iter().map(|(number, _)| *number).collect();
    assert_eq!(
        read,
        written
            .iter()
            .map(|(number, _)| *number)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        texts(&replay),
        written
            .into_iter()
            .map(|(_, text)| text)
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn events_that_redis_lost_are_not_skipped_silently() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.events();
    let a = append(&store, stream_id("s", "1"), "a").await;
    append(&store, stream_id("s", "1"), "b").await;
    let _: () = server.command(&cmd("FLUSHALL")).await;
    assert!(matches!(
        store.after(stream_id("s", "1"), Some(a)).await,
        Err(ReplayError::Unknown)
    ));
    tokio::time::sleep(Duration::from_millis(2)).await;
    let c = append(&store, stream_id("s", "1"), "c").await;
    assert!(c > a);
    assert!(matches!(
        store.after(stream_id("s", "1"), Some(a)).await,
        Err(ReplayError::TooOld)
    ));
    assert_eq!(
        texts(&store.after(stream_id("s", "1"), Some(c - 1)).await.unwrap()),
        ["c"]
    );
    // Eviction of one of the two keys has the same result.
    let _: () = server.command(cmd("DEL").arg("test:v1:{s}:events")).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    append(&store, stream_id("s", "1"), "d").await;
    assert!(matches!(
        store.after(stream_id("s", "1"), Some(c)).await,
        Err(ReplayError::TooOld)
    ));
}

#[tokio::test]
async fn prefixes_separate_servers() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let (one, two) = (
        redis.clone().prefix("one").sessions(),
        redis.prefix("two").sessions(),
    );
    assert!(one.insert("a", record("one"), TTL).await.unwrap());
    assert_eq!(two.load("a").await.unwrap(), None);
    let keys: Vec<String> = server.command(cmd("KEYS").arg("*:session")).await;
    assert_eq!(keys, ["one:v1:{a}:session"]);
    let ttl: i64 = server.command(cmd("PTTL").arg(&keys[0])).await;
    assert!((1..=60_000).contains(&ttl), "{ttl}");
}

#[tokio::test]
async fn large_session_record_is_refused() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.sessions().max_record_bytes(200);
    assert!(store.insert("a", record("a"), TTL).await.unwrap());
    let large = record(&"x".repeat(200));
    let error = store.replace("a", large.clone(), TTL).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("larger than the limit of 200 bytes"),
        "{error}"
    );
    assert!(store.insert("b", large, TTL).await.is_err());
    assert_eq!(store.load("a").await.unwrap(), Some(record("a")));
}

#[tokio::test]
async fn state_is_used_once_by_all_nodes_until_it_expires() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let caller = CallerKey::default();
    let nodes = [
        server.connect().await.used_states(),
        server.connect().await.used_states(),
    ];
    let soon = Duration::from_millis(200);
    assert!(nodes[0](&caller, "a", TTL).await.unwrap());
    assert!(nodes[0](&caller, "b", soon).await.unwrap());
    for node in &nodes {
        assert!(!node(&caller, "a", TTL).await.unwrap());
    }
    eventually("expiry", async || {
        nodes[1](&caller, "b", TTL).await.unwrap()
    })
    .await;
    assert!(!nodes[1](&caller, "a", TTL).await.unwrap());
}
