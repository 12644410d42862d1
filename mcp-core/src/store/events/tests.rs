//! Storage, expiry and limits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::executor::block_on;

use super::{EventStore, MemoryEventStore, ReplayError, StoredEvent, StreamId};

static SECONDS: AtomicU64 = AtomicU64::new(0);

fn clock() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
}

fn append(store: &MemoryEventStore, session: &str, stream: &str, text: &'static str) -> u64 {
    let event = StoredEvent::new(Bytes::from_static(text.as_bytes()));
    block_on(store.append(StreamId::new(session, stream), event)).unwrap()
}

/// Returns the messages after a number, and the end of the stream.
fn after(
    store: &MemoryEventStore,
    (session, stream): (&str, &str),
    number: Option<u64>,
) -> Result<(Vec<String>, bool), ReplayError> {
    let replay = block_on(store.after(StreamId::new(session, stream), number))?;
    let texts = replay.events.iter();
    let texts = texts.map(|(_, event)| String::from_utf8(event.text.to_vec()).unwrap());
    Ok((texts.collect(), replay.is_over))
}

#[test]
fn replay_starts_after_the_last_event() {
    // spec: RSM-01, RSM-04
    let store = MemoryEventStore::new();
    let first = append(&store, "s", "1", "a");
    append(&store, "s", "2", "of another stream");
    append(&store, "t", "1", "of another session");
    let second = append(&store, "s", "1", "b");
    assert!(first < second);
    let stream = ("s", "1");
    assert_eq!(after(&store, stream, None).unwrap().0, ["a", "b"]);
    assert_eq!(after(&store, stream, Some(first)).unwrap().0, ["b"]);
    let none: [&str; 0] = [];
    for number in [second, second + 1, u64::MAX] {
        assert_eq!(after(&store, stream, Some(number)).unwrap().0, none);
    }
    for stream in [("s", "3"), ("u", "1")] {
        assert!(matches!(
            after(&store, stream, None),
            Err(ReplayError::Unknown)
        ));
    }
    assert!(!after(&store, stream, None).unwrap().1);
    let last = StoredEvent::new(Bytes::from_static(b"c")).last();
    let end = block_on(store.append(StreamId::new("s", "1"), last)).unwrap();
    assert!(after(&store, stream, Some(end)).unwrap().1);

    block_on(store.forget("s")).unwrap();
    assert!(matches!(
        after(&store, stream, None),
        Err(ReplayError::Unknown)
    ));
    assert_eq!(after(&store, ("t", "1"), None).unwrap().0.len(), 1);
    assert_eq!(store.len(), 1);
}

#[test]
fn events_beyond_a_limit_are_dropped() {
    let store = MemoryEventStore::new()
        .max_events(3)
        .max_bytes(10)
        .max_age(Duration::from_secs(60))
        .clock(clock);
    let (one, two) = (("s", "1"), ("s", "2"));
    let a = append(&store, "s", "1", "a");
    let b = append(&store, "s", "2", "b");
    let c = append(&store, "s", "1", "c");
    assert_eq!(store.len(), 3);
    append(&store, "s", "1", "d");
    // A client that has received the dropped event has missed nothing.
    assert_eq!(after(&store, one, Some(a)).unwrap().0, ["c", "d"]);
    assert!(matches!(after(&store, one, None), Err(ReplayError::TooOld)));
    append(&store, "s", "1", "123456789");
    assert!(matches!(
        after(&store, two, Some(b)),
        Err(ReplayError::Unknown)
    ));
    assert!(matches!(
        after(&store, one, Some(a)),
        Err(ReplayError::TooOld)
    ));
    assert_eq!(after(&store, one, Some(c)).unwrap().0, ["d", "123456789"]);
    // A stream that starts again does not appear complete.
    append(&store, "s", "2", "");
    assert!(matches!(
        after(&store, two, Some(a)),
        Err(ReplayError::TooOld)
    ));
    SECONDS.store(61, Ordering::Relaxed);
    assert!(matches!(
        after(&store, one, Some(c)),
        Err(ReplayError::Unknown)
    ));
    assert!(store.is_empty());
    // Removed streams do not use memory.
    for _ in 0..100 {
        append(&store, "gone", "1", "12345");
        block_on(store.forget("gone")).unwrap();
    }
    assert_eq!(append(&store, "s", "1", "1234567890"), 106);
    assert_eq!(store.len(), 1);
    assert!(store.state.lock().order.len() <= 3);
}
