//! Subscriptions over HTTP in paused time: start, keep-alive and end.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use http_body_util::BodyExt;
use mcp_core::{
    BoxFuture, ChangeEvent, Changes, Exchange, MemoryBus, Principal, Reply, ServerProfile, Service,
};
use mcp_types::{Implementation, ServerCapabilities};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower_service::Service as _;

use super::{events, message, post, text};
use crate::headers::names;
use crate::server::{Body, StreamableHttp};
use crate::shutdown::Shutdown;

/// A service that publishes changes.
struct Changing {
    profile: Arc<ServerProfile>,
    changes: Changes,
}

impl Service for Changing {
    fn profile(&self) -> Arc<ServerProfile> {
        self.profile.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(std::future::ready(text("called")))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.changes.clone())
    }
}

fn changing() -> (StreamableHttp, Changes, Arc<MemoryBus>) {
    let bus = Arc::new(MemoryBus::default());
    let changes = Changes::from(bus.clone()).max_subscriptions(1);
    let offers = ServerCapabilities::default().with_tools(true);
    let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    profile.capabilities = offers;
    let service = Changing {
        profile: Arc::new(profile),
        changes: changes.clone(),
    };
    (StreamableHttp::new(service), changes, bus)
}

async fn listen(endpoint: &StreamableHttp) -> http::Response<Body> {
    let filter = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let request = post(&message("subscriptions/listen", filter, true));
    let Ok(response) = endpoint.clone().call(request).await;
    response
}

async fn subscribe(endpoint: &StreamableHttp) -> Body {
    let start = Instant::now();
    let response = listen(endpoint).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(response.headers()[names::CONTENT_TYPE], names::EVENT_STREAM);
    let mut body = response.into_body();
    let first = frame(&mut body).await.unwrap();
    let [acknowledged] = &events(&first)[..] else {
        panic!("{first}")
    };
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    body
}

async fn frame(body: &mut Body) -> Option<String> {
    let frame = body.frame().await?.ok()?;
    Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
}

fn is_change(event: &Value) -> bool {
    event["method"] == "notifications/tools/list_changed"
        && event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
}

async fn assert_completes(body: &mut Body) {
    let last = frame(body).await.unwrap();
    let [answer] = &events(&last)[..] else {
        panic!("{last}")
    };
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["id"], 1);
    assert_eq!(frame(body).await, None);
}

#[tokio::test(start_paused = true)]
async fn subscription_lasts_until_its_client_disconnects() {
    // spec: HTTP-SM-15, HTTP-SM-20, SUB-15
    let (endpoint, changes, bus) = changing();
    let endpoint = endpoint.ping_interval(Duration::from_secs(15));
    let mut body = subscribe(&endpoint).await;
    let start = Instant::now();
    for _ in 0..3 {
        assert!(frame(&mut body).await.unwrap().starts_with(": ping"));
    }
    assert_eq!(start.elapsed().as_secs(), 45);
    changes.publish(ChangeEvent::Tools);
    assert!(is_change(&events(&frame(&mut body).await.unwrap())[0]));

    let rejected = listen(&endpoint).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(rejected.headers()[http::header::RETRY_AFTER], "10");
    let rejected = rejected.into_body().collect().await.unwrap().to_bytes();
    let refused: Value = serde_json::from_slice(&rejected).unwrap();
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(text.contains("1 subscriptions already"), "{text}");

    assert_eq!(
        (changes.active_subscriptions(), bus.subscriber_count()),
        (1, 1)
    );
    drop(body);
    tokio::task::yield_now().await;
    assert_eq!(
        (changes.active_subscriptions(), bus.subscriber_count()),
        (0, 0)
    );
    drop(subscribe(&endpoint).await);
}

#[tokio::test(start_paused = true)]
async fn many_changes_are_combined_into_few_events() {
    let (endpoint, changes, _) = changing();
    let mut body = subscribe(&endpoint).await;
    let burst = changes.clone();
    tokio::spawn(async move {
        for _ in 0..1000 {
            burst.publish(ChangeEvent::Tools);
            sleep(Duration::from_millis(1)).await;
        }
    });
    let mut received = 0;
    let until = Instant::now() + Duration::from_secs(2);
    while let Ok(Some(frame)) = tokio::time::timeout_at(until, frame(&mut body)).await {
        received += events(&frame)
            .iter()
            .filter(|event| is_change(event))
            .count();
    }
    assert!((2..=25).contains(&received), "{received}");
}

#[tokio::test(start_paused = true)]
async fn draining_server_completes_subscriptions() {
    // spec: SUB-09
    let (endpoint, changes, bus) = changing();
    let shutdown = Shutdown::new();
    let endpoint = endpoint.shutdown_with(shutdown.clone());
    let mut body = subscribe(&endpoint).await;
    changes.publish(ChangeEvent::Tools);
    assert!(is_change(&events(&frame(&mut body).await.unwrap())[0]));
    shutdown.drain();
    assert_completes(&mut body).await;
    assert_eq!(
        (changes.active_subscriptions(), bus.subscriber_count()),
        (0, 0)
    );
    // A subscription that starts while the server drains is acknowledged and completed at once.
    let late = listen(&endpoint).await.into_body().collect().await.unwrap();
    let late = String::from_utf8(late.to_bytes().to_vec()).unwrap();
    let late = events(&late);
    assert_eq!(late.len(), 2, "{late:?}");
    assert_eq!(late[1]["result"]["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn subscription_completes_at_its_maximum_age() {
    let (endpoint, changes, _) = changing();
    let endpoint = endpoint
        .max_stream_age(Duration::from_secs(10))
        .ping_interval(Duration::from_secs(60));
    let mut body = subscribe(&endpoint).await;
    let start = Instant::now();
    assert_completes(&mut body).await;
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(changes.active_subscriptions(), 0);
}

#[tokio::test(start_paused = true)]
async fn subscription_completes_when_its_authorization_expires() {
    // spec: SUB-09
    let (endpoint, _, _) = changing();
    let minute = Duration::from_secs(60);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut request = post(&message("subscriptions/listen", filter, true));
    let me = Principal::new("issuer", "me").expires_at(SystemTime::now() + minute);
    request.extensions_mut().insert(me);
    let start = Instant::now();
    let Ok(response) = endpoint.clone().call(request).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let elapsed = start.elapsed();
    assert!(
        elapsed > minute * 9 / 10 && elapsed <= minute,
        "{elapsed:?}"
    );
    let stream = String::from_utf8(body.to_vec()).unwrap();
    let last = events(&stream.replace(": ping\n\n", "")).pop().unwrap();
    assert_eq!(last["result"]["resultType"], "complete");
}
