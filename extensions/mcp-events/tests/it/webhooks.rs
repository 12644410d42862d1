//! Subscriptions with webhooks: challenges, retries, rotation of secrets.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp::events::{
    EventClient, EventQuery, Events, MemoryEventLog, MemoryWebhookStore, WebhookLimits,
    WebhookRecord, WebhookSecret, WebhookStore, WebhookTarget, Webhooks,
};
use tokio::time::Instant;

use crate::kit::{
    self, Endpoint, Order, body, client_of, code, events, header, plain_events, server, server_for,
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

/// The time of the paused runtime.
fn clock() -> SystemTime {
    static START: OnceLock<Instant> = OnceLock::new();

    let now = Instant::now();
    let passed = now.saturating_duration_since(*START.get_or_init(|| now));
    UNIX_EPOCH + Duration::from_secs(1_795_305_600) + passed
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
    let start = Instant::now();
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
    let endpoint = Endpoint::default();
    let events = events().webhooks(Webhooks::new(endpoint.clone()).clock(clock));
    let old = WebhookSecret::generate().unwrap();
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
    // All failures look the same.
    let message = error.to_string();
    for status in [404, 503, 302] {
        endpoint.answer(&[status]);
        let error = client
            .subscribe(query(), &target(&secret))
            .await
            .unwrap_err();
        assert_eq!((code(&error), error.to_string()), (-32027, message.clone()));
    }
}

#[tokio::test(start_paused = true)]
async fn caller_may_name_new_urls_at_a_limited_rate() {
    let endpoint = Endpoint::stranger();
    let events = events().webhooks(Webhooks::new(endpoint.clone()));
    let secret = WebhookSecret::generate().unwrap();
    let ada = client_of(server_for(&events, "ada")).await;
    let codes = async |client: &EventClient| {
        let mut codes = Vec::new();
        for _ in 0..31 {
            let subscribed = client.subscribe(query(), &target(&secret)).await;
            codes.push(code(&subscribed.unwrap_err()));
        }
        codes
    };
    let expected = [vec![-32027; 30], vec![-32025]].concat();
    assert_eq!(codes(&ada).await, expected);
    assert_eq!(endpoint.count(), 30);
    let bob = client_of(server_for(&events, "bob")).await;
    assert_eq!(codes(&bob).await, expected);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(codes(&ada).await, expected);
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
    // A URL that was never asked gets no challenge.
    let asked = endpoint.count();
    let other = WebhookTarget::new("https://agent.example/other", secret.clone());
    let error = ada.subscribe(query(3), &other).await.unwrap_err();
    assert_eq!((code(&error), endpoint.count()), (-32025, asked));
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

#[tokio::test(start_paused = true)]
async fn webhook_that_is_busy_receives_the_event_when_it_has_asked_for_it() {
    for (status, value, seconds) in [
        (429, "40", 40),
        (503, "40", 40),
        // Not earlier than without the header, and not later than 15 minutes.
        (503, "1", 5),
        (429, "86400", 900),
        (500, "40", 5),
    ] {
        let endpoint = Endpoint::default();
        let events = events().webhooks(Webhooks::new(endpoint.clone()).clock(clock));
        let secret = WebhookSecret::generate().unwrap();
        let client = client_of(server_for(&events, "ada")).await;
        client.subscribe(query(), &target(&secret)).await.unwrap();
        endpoint.next().await;
        endpoint.answer_busy(status, value);
        events.publish(&Order { number: 1 }).await.unwrap();
        endpoint.next().await;
        let start = Instant::now();
        let during = client.subscribe(query(), &target(&secret)).await.unwrap();
        let during = during.delivery_status.unwrap();
        assert!(!during.active);
        let is_throttled = (status != 500).then_some(true);
        assert_eq!(during.throttled, is_throttled, "{status} {value}");
        let wait = is_throttled.map(|_| seconds * 1000);
        assert_eq!(during.retry_after_ms, wait, "{status} {value}");
        endpoint.next().await;
        assert_eq!(start.elapsed().as_secs(), seconds, "{status} {value}");
        let after = client.subscribe(query(), &target(&secret)).await.unwrap();
        let after = after.delivery_status.unwrap();
        assert!(after.active && after.throttled.is_none() && after.retry_after_ms.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn wait_until_a_date_is_bounded_by_the_server_clock() {
    let endpoint = Endpoint::default();
    let noon = || UNIX_EPOCH + Duration::from_secs(1_795_305_600);
    let events = events().webhooks(Webhooks::new(endpoint.clone()).clock(noon));
    let secret = WebhookSecret::generate().unwrap();
    let client = client_of(server_for(&events, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    endpoint.answer_busy(503, "Sun, 22 Nov 2026 00:01:30 GMT");
    events.publish(&Order { number: 1 }).await.unwrap();
    endpoint.next().await;
    let start = Instant::now();
    endpoint.next().await;
    assert_eq!(start.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn removed_event_type_terminates_its_webhooks() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    events.publish(&Order { number: 1 }).await.unwrap();
    endpoint.next().await;
    assert!(events.remove_event("order.placed"));
    assert!(!events.remove_event("order.placed"));
    let post = endpoint.next().await;
    assert!(header(&post, "webhook-id").starts_with("msg_terminated_"));
    assert_eq!(body(&post)["type"], "terminated");
    assert_eq!(body(&post)["error"]["code"], -32023);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let error = client
        .unsubscribe(query(), "https://agent.example/hooks")
        .await
        .unwrap_err();
    assert_eq!(code(&error), -32023);
}

#[tokio::test(start_paused = true)]
async fn url_that_its_host_lists_needs_no_challenge() {
    let subscribe = async |file: &str| {
        let endpoint = Endpoint::stranger().with_file(file);
        let events = events().webhooks(Webhooks::new(endpoint.clone()));
        let secret = WebhookSecret::generate().unwrap();
        let client = client_of(server_for(&events, "ada")).await;
        let subscribed = client.subscribe(query(), &target(&secret)).await;
        let files = endpoint.files();
        assert_eq!(
            files,
            ["https://agent.example/.well-known/mcp-webhook-receiver.json"]
        );
        subscribed
    };
    subscribe(r#"{"receivers":["/hooks"]}"#).await.unwrap();
    for file in [r#"{"receivers":["/other/"]}"#, "[]", ""] {
        let error = subscribe(file).await.unwrap_err();
        assert_eq!(code(&error), -32027, "{file}");
    }
}

/// Two nodes with one log and one store.
struct Cluster {
    endpoint: Endpoint,
    nodes: [Events; 2],
}

impl Cluster {
    fn new() -> Self {
        let endpoint = Endpoint::default();
        let log = Arc::new(MemoryEventLog::new());
        let store = MemoryWebhookStore::new();
        let node = || {
            let webhooks = Webhooks::new(endpoint.clone()).store(store.clone());
            kit::events_with(log.clone()).webhooks(webhooks)
        };
        let nodes = [node(), node()];
        Self { endpoint, nodes }
    }
}

#[tokio::test(start_paused = true)]
async fn event_is_posted_once_by_the_node_with_the_lease() {
    let Cluster { endpoint, nodes } = Cluster::new();
    let secret = WebhookSecret::generate().unwrap();
    let here = client_of(server_for(&nodes[0], "ada")).await;
    let there = client_of(server_for(&nodes[1], "ada")).await;
    here.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    for number in 1..=3 {
        nodes[number % 2]
            .publish(&Order {
                number: number as u64,
            })
            .await
            .unwrap();
        assert_eq!(body(&endpoint.next().await)["data"]["number"], number);
    }
    // Renewal and rotation at the other node.
    let new = WebhookSecret::generate().unwrap();
    there.subscribe(query(), &target(&new)).await.unwrap();
    nodes[1].publish(&Order { number: 4 }).await.unwrap();
    let post = endpoint.next().await;
    let time = header(&post, "webhook-timestamp").parse().unwrap();
    let signatures = header(&post, "webhook-signature");
    let id = header(&post, "webhook-id");
    new.verify(id, time, &post.body, signatures).unwrap();
    there
        .unsubscribe(query(), "https://agent.example/hooks")
        .await
        .unwrap();
    nodes[0].publish(&Order { number: 5 }).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3000)).await;
    assert_eq!(endpoint.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn other_node_continues_when_the_node_with_the_lease_ends() {
    let Cluster { endpoint, nodes } = Cluster::new();
    let [here, there] = nodes;
    let secret = WebhookSecret::generate().unwrap();
    let second = server_for(&there, "ada");
    let client = client_of(server_for(&here, "ada")).await;
    client.subscribe(query(), &target(&secret)).await.unwrap();
    endpoint.next().await;
    there.publish(&Order { number: 1 }).await.unwrap();
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 1);
    drop((client, here));
    let start = Instant::now();
    there.publish(&Order { number: 2 }).await.unwrap();
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 2);
    assert!(
        start.elapsed() <= Duration::from_secs(40),
        "{:?}",
        start.elapsed()
    );
    drop(second);
}

#[tokio::test(start_paused = true)]
async fn stored_subscription_can_be_read_by_its_store_only() {
    let store = MemoryWebhookStore::new();
    let webhooks = Webhooks::new(Endpoint::default()).store(store.clone());
    let events = events().webhooks(webhooks);
    let secret = WebhookSecret::generate().unwrap();
    let client = client_of(server_for(&events, "ada")).await;
    let id = client
        .subscribe(query(), &target(&secret))
        .await
        .unwrap()
        .id;
    let record: WebhookRecord = store.load(&id).await.unwrap().unwrap();
    assert!(record.subscription.contains(&secret.expose()));
    let shown = format!("{record:?} {store:?} {events:?}");
    assert!(!shown.contains(&secret.expose()), "{shown}");
    // A node that cannot read a record reports an internal error without its content.
    let mut broken = record;
    broken.subscription = format!(r#"{{"secret": "{}""#, secret.expose());
    let ttl = Duration::from_secs(60);
    store
        .put(broken, ttl, &WebhookLimits::default())
        .await
        .unwrap();
    let error = client
        .subscribe(query(), &target(&secret))
        .await
        .unwrap_err();
    assert!(!error.to_string().contains("whsec_"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn subscription_is_renewed_before_it_ends_until_it_is_dropped() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    let target = target(&secret).ttl(Duration::from_secs(600));
    let subscription = client.keep_subscribed(query(), target).await.unwrap();
    endpoint.next().await;
    tokio::time::sleep(Duration::from_secs(5 * 3600)).await;
    events.publish(&Order { number: 1 }).await.unwrap();
    let post = endpoint.next().await;
    assert_eq!(
        header(&post, "x-mcp-subscription-id"),
        subscription.status().id
    );
    assert!(subscription.status().refresh_before.is_some());
    drop(subscription);
    tokio::time::sleep(Duration::from_secs(601)).await;
    events.publish(&Order { number: 2 }).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(endpoint.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn lost_subscription_is_created_again_at_the_last_position() {
    let endpoint = Endpoint::default();
    let store = MemoryWebhookStore::new();
    let webhooks = Webhooks::new(endpoint.clone()).store(store.clone());
    let events = events().webhooks(webhooks);
    let secret = WebhookSecret::generate().unwrap();
    let client = client_of(server_for(&events, "ada")).await;
    let target = target(&secret).ttl(Duration::from_secs(600));
    let subscription = client.keep_subscribed(query(), target).await.unwrap();
    endpoint.next().await;
    events.publish(&Order { number: 1 }).await.unwrap();
    let cursor = body(&endpoint.next().await)["cursor"].clone();
    subscription.set_cursor(cursor.as_str().unwrap());
    assert!(store.remove(&subscription.status().id).await.unwrap());
    tokio::time::sleep(Duration::from_secs(60)).await;
    events.publish(&Order { number: 2 }).await.unwrap();
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 2);
    subscription.unsubscribe().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(endpoint.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn renewal_that_the_server_refuses_is_reported() {
    let (events, endpoint, secret) = setup();
    let client = client_of(server_for(&events, "ada")).await;
    let target = target(&secret).ttl(Duration::from_secs(600));
    let mut subscription = client.keep_subscribed(query(), target).await.unwrap();
    endpoint.next().await;
    events.remove_event("order.placed");
    assert_eq!(code(&subscription.failed().await), -32023);
}
