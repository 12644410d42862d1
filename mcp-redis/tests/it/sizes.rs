//! The sizes that the crate documentation states.

use std::time::Duration;

use bytes::Bytes;
use mcp_core::store::{
    EventStore, SessionStore, StoredEvent, StreamId, TaskLimits, TaskRecord, TaskStore,
};
use mcp_types::ext::tasks::Task;
use redis::cmd;

use crate::server::RedisServer;
use crate::stores::record;

const TTL: Duration = Duration::from_secs(60);

async fn memory(server: &RedisServer, key: &str) -> usize {
    let mut usage = cmd("MEMORY");
    usage.arg(&["USAGE", key, "SAMPLES", "0"]);
    server.command(&usage).await
}

#[tokio::test]
async fn memory_per_session_event_stream_and_task_is_as_documented() {
    const EVENTS: usize = 1_000;
    const MESSAGE: usize = 200;

    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let id = "3f2b8c1e-5f0e-4f57-9a52-6c1de0a7c001";
    redis
        .sessions()
        .insert(id, record("file:///a"), TTL)
        .await
        .unwrap();
    let session = memory(&server, &format!("test:v1:{{{id}}}:session")).await;
    let events = redis.events();
    for number in 0..EVENTS {
        let event = StoredEvent::new(Bytes::from(vec![b'x'; MESSAGE]));
        let stream = format!("{}", number % 10);
        let appended = events.append(StreamId::new(id, &stream), event).await;
        appended.unwrap();
    }
    let stored = memory(&server, &format!("test:v1:{{{id}}}:events")).await;
    let streams = memory(&server, &format!("test:v1:{{{id}}}:streams")).await;
    let (event, stream) = (stored / EVENTS, streams / 10);
    let tasks = redis.tasks();
    for number in 0..EVENTS {
        let task = Task::new(format!("{id}-{number:08}"), "2026-07-28T12:00:00Z");
        let record = TaskRecord::new(task, None, id);
        tasks
            .insert(record, TTL, &TaskLimits::default())
            .await
            .unwrap();
    }
    let task = memory(&server, &format!("test:v1:{{tasks}}:task:{id}-00000001")).await;
    let mut indexes = 0;
    for name in ["expiry", "sizes", "totals"] {
        indexes += memory(&server, &format!("test:v1:{{tasks}}:{name}")).await;
    }
    let index = indexes / EVENTS;
    println!("session {session} event {event} stream {stream} task {task} index {index}");
    assert!((200..600).contains(&session), "{session} bytes per session");
    let extra = event - MESSAGE;
    assert!(
        (20..100).contains(&extra),
        "{extra} bytes per event, without its message"
    );
    assert!((50..300).contains(&stream), "{stream} bytes per stream");
    assert!((300..1_000).contains(&task), "{task} bytes per task");
    assert!(
        (50..400).contains(&index),
        "{index} bytes per task in the indexes"
    );
}
