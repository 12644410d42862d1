//! Webhook receivers: signatures, times, repeated messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use mcp::events::{WebhookEvent, WebhookReceiver, WebhookSecret};
use serde_json::json;

fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

fn signed(secret: &WebhookSecret, id: &str, time: u64, body: &[u8]) -> HeaderMap {
    let headers = [
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", time.to_string()),
        ("webhook-signature", secret.sign(id, time, body)),
        ("x-mcp-subscription-id", "sub_1".to_owned()),
    ];
    let headers = headers.into_iter();
    let headers = headers.map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::try_from(value).unwrap(),
        )
    });
    headers.collect()
}

fn event() -> Vec<u8> {
    let event = json!({
        "eventId": "evt_1", "name": "order.placed", "timestamp": "2026-11-22T00:00:00Z",
        "data": {"number": 7}, "cursor": "a-1",
    });
    event.to_string().into_bytes()
}

#[tokio::test]
async fn event_reaches_the_handler_once() {
    let secret = WebhookSecret::generate().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let handled = count.clone();
    let receiver = WebhookReceiver::new([secret.clone()], move |message| {
        let WebhookEvent::Event {
            subscription,
            event,
        } = message
        else {
            panic!("{message:?}");
        };
        assert_eq!(
            (&*subscription, &event.data["number"]),
            ("sub_1", &json!(7))
        );
        handled.fetch_add(1, Ordering::Relaxed);
        async { true }
    });
    let body = event();
    for _ in 0..3 {
        let headers = signed(&secret, "evt_1", now(), &body);
        assert_eq!(receiver.receive(&headers, &body).await.0, StatusCode::OK);
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn event_that_was_not_stored_is_accepted_again() {
    let secret = WebhookSecret::generate().unwrap();
    let works = Arc::new(AtomicBool::new(false));
    let stores = works.clone();
    let receiver = WebhookReceiver::new([secret.clone()], move |_| {
        let stores = stores.load(Ordering::Relaxed);
        async move { stores }
    });
    let body = event();
    let headers = signed(&secret, "evt_1", now(), &body);
    assert_eq!(
        receiver.receive(&headers, &body).await.0,
        StatusCode::SERVICE_UNAVAILABLE
    );
    works.store(true, Ordering::Relaxed);
    assert_eq!(receiver.receive(&headers, &body).await.0, StatusCode::OK);
}

#[tokio::test]
async fn forged_old_and_malformed_messages_are_refused() {
    let secret = WebhookSecret::generate().unwrap();
    let other = WebhookSecret::generate().unwrap();
    let receiver = WebhookReceiver::new([secret.clone()], async |message| panic!("{message:?}"));
    let body = event();
    let status = async |headers: HeaderMap, body: &[u8]| receiver.receive(&headers, body).await.0;
    let time = now();
    let unauthorized = StatusCode::UNAUTHORIZED;
    assert_eq!(
        status(signed(&other, "evt_1", time, &body), &body).await,
        unauthorized
    );
    assert_eq!(
        status(signed(&secret, "evt_1", time, &body), b"{}").await,
        unauthorized
    );
    assert_eq!(
        status(signed(&secret, "evt_1", time - 400, &body), &body).await,
        unauthorized
    );
    assert_eq!(
        status(signed(&secret, "evt_1", time + 400, &body), &body).await,
        unauthorized
    );
    let bad = StatusCode::BAD_REQUEST;
    assert_eq!(status(HeaderMap::new(), &body).await, bad);
    assert_eq!(status(signed(&secret, "a", time, b"[]"), b"[]").await, bad);
    let mut twice = signed(&secret, "evt_1", time, &body);
    twice.append("webhook-id", HeaderValue::from_static("evt_2"));
    assert_eq!(status(twice, &body).await, bad);
    let large = vec![b' '; (256 << 10) + 1];
    let headers = signed(&secret, "a", time, &large);
    assert_eq!(status(headers, &large).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn challenge_is_repeated_and_secrets_can_be_replaced() {
    let (old, new) = (
        WebhookSecret::generate().unwrap(),
        WebhookSecret::generate().unwrap(),
    );
    let receiver = WebhookReceiver::new([old.clone()], async |_| true);
    let body = br#"{"type":"verification","challenge":"abc"}"#;
    let (status, text) = receiver
        .receive(&signed(&old, "m", now(), body), body)
        .await;
    assert_eq!((status, &*text), (StatusCode::OK, r#"{"challenge":"abc"}"#));
    receiver.set_secrets([new.clone()]);
    let (status, _) = receiver
        .receive(&signed(&old, "m", now(), body), body)
        .await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, _) = receiver
        .receive(&signed(&new, "m", now(), body), body)
        .await;
    assert_eq!(status, StatusCode::OK);
}
