//! Redis that is slow, stopped, restarted or full.

use std::time::{Duration, Instant};

use bytes::Bytes;
use mcp_core::store::{EventStore, SessionStore, StoredEvent};
use mcp_redis::{Redis, RedisError};
use redis::cmd;

use crate::server::RedisServer;
use crate::stores::{record, stream_id};

const TTL: Duration = Duration::from_secs(60);

#[tokio::test]
async fn slow_redis_fails_an_operation_in_time_and_recovers() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_millis(200));
    let store = redis.sessions();
    assert!(store.insert("a", record("a"), TTL).await.unwrap());
    let _: () = server
        .command(cmd("CLIENT").arg(&["PAUSE", "1500", "ALL"]))
        .await;
    let start = Instant::now();
    let error = store.load("a").await.unwrap_err();
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
    assert!(
        error
            .to_string()
            .contains("did not answer `load a session` within 200ms"),
        "{error}"
    );
    // So many that the connection is replaced.
    for _ in 0..3 {
        assert!(matches!(
            redis.ping().await,
            Err(RedisError::Timeout { .. })
        ));
    }
    tokio::time::sleep(Duration::from_millis(1_500).saturating_sub(start.elapsed())).await;
    let redis = redis.timeout(Duration::from_secs(2));
    redis.ping().await.unwrap();
    assert_eq!(store.load("a").await.unwrap(), Some(record("a")));
}

#[tokio::test]
async fn silent_redis_is_waited_for_by_one_operation() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let limit = Duration::from_millis(800);
    let redis = server.connect().await.timeout(limit);
    let _: () = server
        .command(cmd("CLIENT").arg(&["PAUSE", "2000", "ALL"]))
        .await;
    let within = |result| match result {
        Err(RedisError::Timeout { limit, .. }) => limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(within(redis.ping().await), limit);
    let (one, other) = tokio::join!(redis.ping(), redis.ping());
    assert_eq!([within(one), within(other)], [limit, limit / 8]);
    // The pause ends meanwhile.
    redis.ping().await.unwrap();
    let (one, other) = tokio::join!(redis.ping(), redis.ping());
    one.and(other).unwrap();
}

#[tokio::test]
async fn operation_during_a_restart_is_repeated_and_events_are_stored_once() {
    let Some(mut server) = RedisServer::start_persistent().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_secs(10));
    let (sessions, events) = (redis.sessions(), redis.events());
    assert!(sessions.insert("a", record("a"), TTL).await.unwrap());
    let writer = {
        let events = events.clone();
        tokio::spawn(async move {
            for n in 0..300 {
                let event = StoredEvent::new(Bytes::from(n.to_string()));
                events.append(stream_id("a", "1"), event).await.unwrap();
            }
        })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.kill();
    server.run().await;
    writer.await.unwrap();
    let replay = events.after(stream_id("a", "1"), None).await.unwrap();
    let stored: Vec<_> = replay
        .events
        .iter()
        .map(|(_, event)| event.text.clone())
        .collect();
    let expected: Vec<_> = (0..300).map(|n| Bytes::from(n.to_string())).collect();
    assert_eq!(stored, expected);
    assert_eq!(sessions.load("a").await.unwrap(), Some(record("a")));
}

#[tokio::test]
async fn stopped_redis_fails_operations_until_it_runs_again() {
    let Some(mut server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_millis(300));
    let store = redis.sessions();
    server.kill();
    let start = Instant::now();
    assert!(store.load("a").await.is_err());
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    server.run().await;
    let store = redis.timeout(Duration::from_secs(5)).sessions();
    assert!(store.insert("a", record("a"), TTL).await.unwrap());
}

#[tokio::test]
async fn full_redis_refuses_writes_and_serves_existing_sessions() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let (sessions, events) = (redis.sessions(), redis.events());
    assert!(sessions.insert("a", record("a"), TTL).await.unwrap());
    let _: () = server
        .command(cmd("CONFIG").arg(&["SET", "maxmemory", "1"]))
        .await;
    let error = sessions.insert("b", record("b"), TTL).await.unwrap_err();
    assert!(error.to_string().contains("OOM"), "{error}");
    let event = StoredEvent::new(Bytes::from_static(b"{}"));
    let id = stream_id("a", "1");
    assert!(events.append(id, event.clone()).await.is_err());
    assert_eq!(sessions.load("a").await.unwrap(), Some(record("a")));
    assert!(sessions.touch("a", TTL).await.unwrap());
    sessions.remove("a").await.unwrap();
    events.forget("a").await.unwrap();
    let _: () = server
        .command(cmd("CONFIG").arg(&["SET", "maxmemory", "0"]))
        .await;
    // The refused event left nothing behind.
    assert!(events.after(id, None).await.is_err());
    events.append(id, event).await.unwrap();
}

#[tokio::test]
async fn longest_timeout_is_no_limit() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    server
        .connect()
        .await
        .timeout(Duration::MAX)
        .ping()
        .await
        .unwrap();
}

#[tokio::test]
async fn password_is_in_no_error_and_no_debug_output() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let _: () = server
        .command(cmd("CONFIG").arg(&["SET", "requirepass", "hunter2"]))
        .await;
    let address = server.url().replace("redis://", "");
    let with = |password: &str| format!("redis://:{password}@{address}");
    let redis = Redis::connect(&with("hunter2")).await.unwrap();
    let shown = format!(
        "{redis:?} {:?} {:?} {:?}",
        redis.sessions(),
        redis.events(),
        redis.bus()
    );
    assert!(
        !shown.contains("hunter2") && !shown.contains(&address),
        "{shown}"
    );
    for url in [
        with("s3cret"),
        "redis://:s3cret@127.0.0.1:1".into(),
        "no url s3cret".into(),
    ] {
        let error = Redis::connect(&url).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

#[tokio::test]
async fn unreadable_record_is_an_error() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.sessions();
    let _: () = server
        .command(cmd("SET").arg(&["test:v1:{a}:session", "{}"]))
        .await;
    let error = store.load("a").await.unwrap_err();
    assert!(error.to_string().contains("invalid"), "{error}");
}
