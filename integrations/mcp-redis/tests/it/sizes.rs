//! The sizes that the crate documentation states.

use std::time::Duration;

use bytes::Bytes;
use mcp_core::store::{EventStore, SessionStore, StoredEvent, TaskLimits, TaskRecord, TaskStore};
use mcp_events::{EventLog, LoggedEvent, WebhookLimits, WebhookRecord, WebhookStore};
use mcp_types::RawObject;
use mcp_types::ext::tasks::Task;
use redis::cmd;

use crate::server::RedisServer;
use crate::stores::{record, stream_id};

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
        let appended = events.append(stream_id(id, &stream), event).await;
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

#[tokio::test]
async fn memory_per_published_event_and_webhook_is_as_documented() {
    const COUNT: usize = 1_000;
    const PAYLOAD: usize = 200;

    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let log = redis.event_log();
    let data = format!(r#"{{"x":"{}"}}"#, "x".repeat(PAYLOAD - 8));
    for number in 0..COUNT {
        let data = RawObject::from_text(&*data).unwrap();
        let event = LoggedEvent::new(event_id(number), "order.placed", 1_785_240_000_007, data);
        log.append(event).await.unwrap();
    }
    let stored = memory(&server, "test:v1:{event:order.placed}:log").await;
    let event = stored / COUNT - PAYLOAD;
    let position = memory(&server, "test:v1:{event:order.placed}:position").await;
    let mark = format!(
        "test:v1:{{event:order.placed}}:mark:{}",
        event_id(COUNT - 1)
    );
    let mark = memory(&server, &mark).await;

    let webhooks = redis.webhooks();
    let limits = WebhookLimits::default();
    for number in 0..COUNT {
        let id = format!("sub_{number:032x}");
        let owner = format!(r#"["https://login.example.com","user-{number:04}"]"#);
        let subscription = format!(r#"{{"url":"{}"}}"#, "x".repeat(350));
        let progress = format!(r#"{{"cursor":"{}"}}"#, "x".repeat(120));
        let record = WebhookRecord::new(&id, &owner, subscription, progress);
        webhooks.put(record, TTL, &limits).await.unwrap();
        let url = format!("https://agent-{number}.example.com/hooks");
        webhooks.set_verified(&owner, &url).await.unwrap();
    }
    webhooks.claim(&event_id(0), TTL, COUNT).await.unwrap();
    let key = format!("test:v1:{{webhooks}}:webhook:sub_{:032x}", 1);
    let webhook = memory(&server, &key).await;
    let mut indexes = 0;
    for name in ["expiry", "owners", "leases"] {
        indexes += memory(&server, &format!("test:v1:{{webhooks}}:{name}")).await;
    }
    let index = indexes / COUNT;
    let verified = memory(&server, "test:v1:{webhooks}:verified").await / COUNT;
    println!(
        "event {event} position {position} mark {mark} webhook {webhook} index {index} \
         verified {verified}"
    );
    assert!(
        (50..200).contains(&event),
        "{event} bytes per event, without its payload"
    );
    assert!(
        (100..400).contains(&position),
        "{position} bytes per event type"
    );
    assert!((100..300).contains(&mark), "{mark} bytes per mark");
    assert!(
        (500..1_000).contains(&webhook),
        "{webhook} bytes per webhook"
    );
    assert!(
        (250..700).contains(&index),
        "{index} bytes per webhook in the indexes"
    );
    assert!(
        (80..250).contains(&verified),
        "{verified} bytes per agreement"
    );
}

/// An id of usual length.
fn event_id(number: usize) -> String {
    format!("evt_{number:032x}")
}
