//! Subscriptions with webhooks: challenges, retries, rotation of secrets.

use std::time::Duration;

use mcp::events::{EventQuery, Events, WebhookSecret, WebhookTarget, Webhooks};

use crate::kit::{
    Endpoint, Order, body, client_of, code, events, header, plain_events, server, server_for,
};

fn query() -> EventQuery {
    EventQuery::new("order.placed").argument("number", 0)
}

fn target(secret: &WebhookSecret) -> WebhookTarget {
    WebhookTarget::new("https://agent.example/hooks", secret.clone())
}

fn setup() -> (Events, Endpoint, WebhookSecret) {
    let endpoint = Endpoint::default();
    let events = events().webhooks(Webhooks::new(endpoint.clone()));
    (events, endpoint, WebhookSecret::generate().unwrap())
}

#[tokio::test(start_paused = true)]
async fn events_are_posted_with_signatures_after_a_challenge() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    let subscribed = client.subscribe(query(), &target(&secret)).await.unwrap();
    assert!(subscribed.refresh_before.is_some() && !subscribed.truncated);
    let challenge = endpoint.next().await;
    assert_eq!(body(&challenge)["type"], "verification");
    assert!(header(&challenge, "webhook-id").starts_with("msg_verification_"));

    events.publish(&Order { number: 7 }).await.unwrap();
    let post = endpoint.next().await;
    let json = body(&post);
    assert_eq!(json["name"], "order.placed");
    assert_eq!(json["data"]["number"], 7);
    assert_eq!(json["eventId"], header(&post, "webhook-id"));
    assert_eq!(header(&post, "x-mcp-subscription-id"), subscribed.id);
    assert_eq!(header(&post, "content-type"), "application/json");
    for post in [challenge, post] {
        let time = header(&post, "webhook-timestamp").parse().unwrap();
        let signature = header(&post, "webhook-signature");
        secret
            .verify(header(&post, "webhook-id"), time, &post.body, signature)
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn failed_delivery_is_repeated_with_growing_waits() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    endpoint.answer(&[500, 302]);
    events.publish(&Order { number: 1 }).await.unwrap();
    let first = endpoint.next().await;
    let start = tokio::time::Instant::now();
    let second = endpoint.next().await;
    assert_eq!(start.elapsed().as_secs(), 5);
    let third = endpoint.next().await;
    assert_eq!(start.elapsed().as_secs(), 35);
    assert_eq!(header(&first, "webhook-id"), header(&third, "webhook-id"));
    assert_eq!(second.body, third.body);
    tokio::time::sleep(Duration::from_secs(3000)).await;
    assert_eq!(endpoint.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn event_after_a_lost_one_follows_a_gap() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    endpoint.answer(&[500, 500, 500, 500, 500]);
    events.publish(&Order { number: 1 }).await.unwrap();
    events.publish(&Order { number: 2 }).await.unwrap();
    for _ in 0..5 {
        assert_eq!(body(&endpoint.next().await)["data"]["number"], 1);
    }
    assert_eq!(body(&endpoint.next().await)["type"], "gap");
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 2);
    let status = client
        .subscribe(query(), &target(&secret))
        .await
        .unwrap()
        .delivery_status;
    let status = status.unwrap();
    assert!(status.active && status.last_delivery_at.is_some());
    assert_eq!(status.last_error.as_deref(), Some("HTTP status 500"));
}

#[tokio::test(start_paused = true)]
async fn gone_ends_the_subscription_and_too_large_is_not_repeated() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    endpoint.answer(&[413, 200, 200, 410]);
    for number in [1, 2, 3, 4] {
        events.publish(&Order { number }).await.unwrap();
    }
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 1);
    assert_eq!(body(&endpoint.next().await)["type"], "gap");
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 2);
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 3);
    tokio::time::sleep(Duration::from_secs(3000)).await;
    assert_eq!(endpoint.count(), 0);
    let error = client
        .unsubscribe(query(), "https://agent.example/hooks")
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32023);
}

#[tokio::test(start_paused = true)]
async fn rotated_secret_signs_beside_the_earlier_one_for_a_while() {
    let (events, endpoint, old) = setup();
    let new = WebhookSecret::generate().unwrap();
    let client = client_of(server_for(&events, "ada")).await;
    let first = client.subscribe(query(), &target(&old)).await.unwrap();
    endpoint.next().await;
    let ttl = Duration::from_secs(3 * 3600);
    let second = client
        .subscribe(query(), &target(&new).ttl(ttl))
        .await
        .unwrap();
    assert_eq!(first.id, second.id);
    // The URL is verified: there is no second challenge.
    for (has_old, pause) in [(true, 3601), (false, 0)] {
        events.publish(&Order { number: 1 }).await.unwrap();
        let post = endpoint.next().await;
        let time = header(&post, "webhook-timestamp").parse().unwrap();
        let signature = header(&post, "webhook-signature");
        let is_by = |secret: &WebhookSecret| {
            secret
                .verify(header(&post, "webhook-id"), time, &post.body, signature)
                .is_ok()
        };
        assert!(is_by(&new));
        assert_eq!(is_by(&old), has_old);
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn subscription_ends_by_time_or_by_request() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    let url = "https://agent.example/hooks";
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    client.unsubscribe(query(), url).await.unwrap();
    events.publish(&Order { number: 1 }).await.unwrap();
    client
        .subscribe(query(), &target(&secret).ttl(Duration::from_secs(600)))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(601)).await;
    events.publish(&Order { number: 2 }).await.unwrap();
    tokio::time::sleep(Duration::from_secs(601)).await;
    assert_eq!(endpoint.count(), 0);
    let error = client.unsubscribe(query(), url).await.unwrap_err();
    assert_eq!(code(&error), -32023);
}

#[tokio::test(start_paused = true)]
async fn url_that_does_not_repeat_the_challenge_is_refused() {
    let endpoint = Endpoint::stranger();
    let events = events().webhooks(Webhooks::new(endpoint.clone()));
    let secret = WebhookSecret::generate().unwrap();
    let client = client_of(server_for(&events, "ada")).await;
    let error = client
        .subscribe(query(), &target(&secret))
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32027);
    assert!(
        error.to_string().contains("did not repeat the challenge"),
        "{error}"
    );
    for status in [404, 503, 302] {
        endpoint.answer(&[status]);
        let error = client
            .subscribe(query(), &target(&secret))
            .await
            .unwrap_err();
        assert_eq!(code(&error), -32027);
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_are_limited_and_belong_to_their_caller() {
    let endpoint = Endpoint::default();
    let webhooks = Webhooks::new(endpoint.clone()).max_subscriptions(3, 2);
    let events = events().webhooks(webhooks);
    let secret = WebhookSecret::generate().unwrap();
    let ada = client_of(server_for(&events, "ada")).await;
    let bob = client_of(server_for(&events, "bob")).await;
    let query = |number: u64| EventQuery::new("order.placed").argument("number", number);
    for number in [1, 2] {
        ada.subscribe(query(number), &target(&secret))
            .await
            .unwrap();
    }
    let error = ada.subscribe(query(3), &target(&secret)).await.unwrap_err();
    assert_eq!(code(&error), -32025);
    let error = bob
        .unsubscribe(query(1), "https://agent.example/hooks")
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32023);
    bob.subscribe(query(1), &target(&secret)).await.unwrap();
    let error = bob.subscribe(query(2), &target(&secret)).await.unwrap_err();
    assert_eq!(code(&error), -32025);
}

#[tokio::test]
async fn caller_without_identity_cannot_subscribe() {
    let client = client_of(server(&plain_events())).await;
    let secret = WebhookSecret::generate().unwrap();
    let error = client
        .subscribe(query(), &target(&secret))
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32024);
}
