//! Storage, expiry and limits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use mcp_types::ProtocolVersion;

use super::{MemorySessionStore, SessionStore};
use crate::legacy::SessionRecord;

fn record(subscription: &str) -> SessionRecord {
    SessionRecord {
        version: ProtocolVersion::V2025_11_25,
        capabilities: Default::default(),
        client_info: None,
        log_level: None,
        subscriptions: vec![subscription.to_owned()],
        owner: None,
        ready: true,
    }
}

static SECONDS: AtomicU64 = AtomicU64::new(0);

fn clock() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
}

#[test]
fn session_expires_after_its_ttl() {
    let store = MemorySessionStore::new().max_sessions(2).clock(clock);
    let save = |id: &str, ttl| {
        block_on(store.save(id, record(id), Duration::from_secs(ttl))).unwrap();
    };
    let has = |id: &str| block_on(store.load(id)).unwrap().is_some();
    save("a", 10);
    save("b", 20);
    assert_eq!(block_on(store.load("a")).unwrap(), Some(record("a")));
    // The session that expires next is replaced.
    save("c", 30);
    assert_eq!([has("a"), has("b"), has("c")], [false, true, true]);
    save("b", 5);
    SECONDS.store(6, Ordering::Relaxed);
    assert_eq!([has("b"), has("c"), has("d")], [false, true, false]);
    block_on(store.remove("c")).unwrap();
    block_on(store.remove("d")).unwrap();
    assert!(!has("c"));
    save("e", 5);
    assert_eq!(store.len(), 2);
}
