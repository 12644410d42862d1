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
    signed_for("sub_1", secret, id, time, body)
}

fn signed_for(
    subscription: &str,
    secret: &WebhookSecret,
    id: &str,
    time: u64,
    body: &[u8],
) -> HeaderMap {
    let headers = [
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", time.to_string()),
        ("webhook-signature", secret.sign(id, time, body)),
        ("x-mcp-subscription-id", subscription.to_owned()),
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
    let receiver = WebhookReceiver::new(move |message| {
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
    receiver.bind("sub_1", [secret.clone()]);
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
    let receiver = WebhookReceiver::new(move |_| {
        let stores = stores.load(Ordering::Relaxed);
        async move { stores }
    });
    receiver.bind("sub_1", [secret.clone()]);
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
    let receiver = WebhookReceiver::new(async |message| panic!("{message:?}"));
    receiver.bind("sub_1", [secret.clone()]);
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
async fn challenge_is_repeated_and_secrets_can_be_rotated() {
    let (old, new) = (
        WebhookSecret::generate().unwrap(),
        WebhookSecret::generate().unwrap(),
    );
    let receiver = WebhookReceiver::new(async |_| true);
    let challenge = br#"{"type":"verification","challenge":"abc"}"#;
    let headers = signed(&old, "m", now(), challenge);
    let (status, _) = receiver.receive(&headers, challenge).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    receiver.answer_challenges(old.clone());
    let (status, text) = receiver.receive(&headers, challenge).await;
    assert_eq!((status, &*text), (StatusCode::OK, r#"{"challenge":"abc"}"#));

    let event = event();
    let status = async |secret: &WebhookSecret| {
        let headers = signed(secret, "evt", now(), &event);
        receiver.receive(&headers, &event).await.0
    };
    // The server repeats events until the id of the subscription is known.
    assert_eq!(status(&old).await, StatusCode::SERVICE_UNAVAILABLE);
    for (secrets, old_status, new_status) in [
        (vec![old.clone()], 200, 401),
        (vec![old.clone(), new.clone()], 200, 200),
        (vec![new.clone()], 401, 200),
        (vec![], 401, 401),
    ] {
        receiver.bind("sub_1", secrets);
        assert_eq!(status(&old).await, old_status);
        assert_eq!(status(&new).await, new_status);
    }
    receiver.unbind("sub_1");
    assert_eq!(status(&new).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn secret_signs_for_its_own_subscription_only() {
    let secrets = [(); 3].map(|()| WebhookSecret::generate().unwrap());
    let [good, evil, waiting] = &secrets;
    let receiver = WebhookReceiver::new(async |_| true);
    receiver.bind("sub_good", [good.clone()]);
    receiver.bind("sub_evil", [evil.clone()]);
    receiver.answer_challenges(waiting.clone());
    let gap = br#"{"type":"gap","cursor":null}"#;
    let end = br#"{"type":"terminated","error":{"message":"bye"}}"#;
    let event = event();
    for (number, body) in [&event[..], gap, end].into_iter().enumerate() {
        let status = async |subscription: &str, secret: &WebhookSecret| {
            let id = format!("m{number}");
            let headers = signed_for(subscription, secret, &id, now(), body);
            receiver.receive(&headers, body).await.0
        };
        assert_eq!(status("sub_good", evil).await, StatusCode::UNAUTHORIZED);
        assert_eq!(status("sub_evil", good).await, StatusCode::UNAUTHORIZED);
        assert_eq!(status("sub_new", evil).await, StatusCode::UNAUTHORIZED);
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(status("sub_good", waiting).await, unavailable);
        assert_eq!(status("sub_new", waiting).await, unavailable);
        assert_eq!(status("sub_good", good).await, StatusCode::OK);
        let mut headers = signed(good, "m9", now(), body);
        headers.remove("x-mcp-subscription-id");
        let (status, _) = receiver.receive(&headers, body).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn two_copies_at_once_reach_the_handler_once() {
    let secret = WebhookSecret::generate().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let stored = Arc::new(tokio::sync::Semaphore::new(0));
    let (handled, stores) = (count.clone(), stored.clone());
    let receiver = WebhookReceiver::new(move |_| {
        handled.fetch_add(1, Ordering::Relaxed);
        let stores = stores.clone();
        async move { stores.acquire().await.is_ok() }
    });
    receiver.bind("sub_1", [secret.clone()]);
    let body = event();
    let headers = signed(&secret, "evt_1", now(), &body);
    let mut first = Box::pin(receiver.receive(&headers, &body));
    assert!(futures::poll!(&mut first).is_pending());
    let (second, _) = receiver.receive(&headers, &body).await;
    assert_eq!(second, StatusCode::SERVICE_UNAVAILABLE);
    // A request that is cut does not keep its id.
    drop(first);
    let mut third = Box::pin(receiver.receive(&headers, &body));
    assert!(futures::poll!(&mut third).is_pending());
    stored.add_permits(1);
    assert_eq!(third.await.0, StatusCode::OK);
    assert_eq!(receiver.receive(&headers, &body).await.0, StatusCode::OK);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn ids_are_separate_for_each_subscription() {
    let (good, evil) = (
        WebhookSecret::generate().unwrap(),
        WebhookSecret::generate().unwrap(),
    );
    let count = Arc::new(AtomicUsize::new(0));
    let handled = count.clone();
    let receiver = WebhookReceiver::new(move |message| {
        if matches!(message, WebhookEvent::Event { subscription, .. } if subscription == "sub_good")
        {
            handled.fetch_add(1, Ordering::Relaxed);
        }
        async { true }
    });
    receiver.bind("sub_good", [good.clone()]);
    receiver.bind("sub_evil", [evil.clone()]);
    let body = event();
    let send = async |subscription: &str, secret: &WebhookSecret, id: &str| {
        let headers = signed_for(subscription, secret, id, now(), &body);
        assert_eq!(receiver.receive(&headers, &body).await.0, StatusCode::OK);
    };
    send("sub_evil", &evil, "evt_1").await;
    send("sub_good", &good, "evt_1").await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
    for number in 0..10_001 {
        send("sub_evil", &evil, &format!("flood_{number}")).await;
    }
    send("sub_good", &good, "evt_1").await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
