//! Webhook transports: checked URLs, redirects, and addresses that change.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use mcp::events::{
    EventQuery, HttpWebhooks, WebhookEvent, WebhookFailure, WebhookReceiver, WebhookSecret,
    WebhookTarget, WebhookTransport, Webhooks, Zone,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::kit::{Order, client_of, code, events, server_for};

/// A resolver with one answer after the other. The last one stays.
#[derive(Clone)]
struct Script(Arc<Mutex<VecDeque<&'static str>>>);

impl Script {
    fn new(answers: &[&'static str]) -> Self {
        Self(Arc::new(Mutex::new(answers.iter().copied().collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// A transport whose lookups follow a script.
fn transport(zone: Zone, script: &Script) -> HttpWebhooks {
    let script = script.clone();
    let resolve = move |_| {
        let answer = script.0.lock().unwrap().pop_front();
        let answer = answer.expect("no further lookup");
        async move { Ok(vec![answer.parse().unwrap()]) }
    };
    HttpWebhooks::with_resolver(zone, resolve).unwrap()
}

fn query() -> EventQuery {
    EventQuery::new("order.placed").argument("number", 0)
}

/// A receiver on a loopback port, which answers challenges with the secret.
async fn receiver(secret: &WebhookSecret) -> (u16, WebhookReceiver, mpsc::Receiver<WebhookEvent>) {
    let (sender, received) = mpsc::channel(16);
    let receiver = WebhookReceiver::new(move |message| {
        let sender = sender.clone();
        async move { sender.send(message).await.is_ok() }
    });
    receiver.answer_challenges(secret.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router: Router = Router::new().route_service("/hooks", receiver.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (port, receiver, received)
}

fn data(error: &mcp::client::Error) -> String {
    let Some(mcp::core::Fault::Protocol(error)) = error.fault() else {
        panic!("{error:?}");
    };
    error.data.as_ref().unwrap().get().to_owned()
}

#[tokio::test]
async fn webhook_to_private_and_metadata_addresses_is_refused() {
    let transport = transport(Zone::Public, &Script::new(&[]));
    let events = events().webhooks(Webhooks::new(transport));
    let client = client_of(server_for(&events, "ada")).await;
    let secret = WebhookSecret::generate().unwrap();
    for url in [
        "https://169.254.169.254/latest/meta-data",
        "https://2852039166/",
        "https://0xa9fea9fe/",
        "https://[::ffff:169.254.169.254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[fd00:ec2::254]/",
        "https://metadata.google.internal/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://0.0.0.0/",
        "http://agent.example/",
        "https://user:pass@agent.example/",
        "https://agent.example/#x",
        "file:///etc/passwd",
    ] {
        let target = WebhookTarget::new(url, secret.clone());
        let error = client.subscribe(query(), &target).await.unwrap_err();
        assert_eq!(code(&error), -32027, "{url}: {error}");
        assert!(
            error.to_string().contains("the URL is refused"),
            "{url}: {error}"
        );
        assert!(data(&error).contains("challenge_failed"), "{url}");
    }
}

#[tokio::test]
async fn webhook_to_a_host_that_is_not_listed_is_refused() {
    let secret = WebhookSecret::generate().unwrap();
    let (port, _receiver, _received) = receiver(&secret).await;
    let script = Script::new(&["127.0.0.1", "127.0.0.1"]);
    let transport = transport(Zone::Loopback, &script);
    let transport = transport.only_hosts(["Agent.localhost", "*.hooks.localhost"]);
    let events = events().webhooks(Webhooks::new(transport));
    let client = client_of(server_for(&events, "ada")).await;
    for (host, is_allowed) in [
        ("other.localhost", false),
        ("hooks.localhost", false),
        ("evilhooks.localhost", false),
        ("agent.localhost.example", false),
        ("127.0.0.1", false),
        ("agent.localhost", true),
        ("a.hooks.localhost", true),
    ] {
        let url = format!("http://{host}:{port}/hooks");
        let target = WebhookTarget::new(&*url, secret.clone());
        let subscribed = client.subscribe(query(), &target).await;
        if is_allowed {
            drop(subscribed.unwrap())
        } else {
            let error = subscribed.unwrap_err();
            assert_eq!(code(&error), -32027, "{url}: {error}");
            assert!(error.to_string().contains("refused"), "{url}: {error}");
        }
    }
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn webhook_without_tls_at_its_port_fails_without_the_reason() {
    let secret = WebhookSecret::generate().unwrap();
    let (port, _receiver, _received) = receiver(&secret).await;
    let script = Script::new(&["127.0.0.1"; 2]);
    let transport = transport(Zone::Loopback, &script);
    let url = format!("https://agent.localhost:{port}/hooks");
    let failure = transport.get(url.parse().unwrap()).await.unwrap_err();
    assert_eq!(failure, WebhookFailure::Tls);
    let events = events().webhooks(Webhooks::new(transport));
    let client = client_of(server_for(&events, "ada")).await;
    let target = WebhookTarget::new(url, secret);
    let error = client.subscribe(query(), &target).await.unwrap_err();
    assert_eq!(code(&error), -32027, "{error}");
    assert!(!error.to_string().contains("TLS"), "{error}");
    assert_eq!(data(&error), r#"{"reason":"challenge_failed"}"#);
}

#[tokio::test]
async fn name_with_a_private_address_is_refused_before_the_connection() {
    let script = Script::new(&["169.254.169.254", "10.0.0.1", "127.0.0.1"]);
    let transport = transport(Zone::Public, &script);
    let target = WebhookTarget::new("https://agent.example/", WebhookSecret::generate().unwrap());
    let failure = transport
        .get("https://agent.example/".parse().unwrap())
        .await;
    let failure = failure.unwrap_err().to_string();
    assert!(
        failure.contains("its name has an address in a private"),
        "{failure}"
    );
    let events = events().webhooks(Webhooks::new(transport));
    let client = client_of(server_for(&events, "ada")).await;
    for _ in 0..2 {
        let error = client.subscribe(query(), &target).await.unwrap_err();
        assert!(!error.to_string().contains("private"), "{error}");
        assert_eq!(data(&error), r#"{"reason":"challenge_failed"}"#);
    }
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn name_that_changes_between_messages_is_checked_again_and_resolved_once_each() {
    let secret = WebhookSecret::generate().unwrap();
    let (port, receiver, mut received) = receiver(&secret).await;
    // The challenge, the first event, and an attempt after the name was changed.
    let script = Script::new(&["127.0.0.1", "127.0.0.1", "169.254.169.254"]);
    let transport = transport(Zone::Loopback, &script);
    let events = events().webhooks(Webhooks::new(transport).backoff([]));
    let client = client_of(server_for(&events, "ada")).await;
    let url = format!("http://agent.localhost:{port}/hooks");
    let subscribed = client
        .subscribe(query(), &WebhookTarget::new(url, secret.clone()))
        .await
        .unwrap();
    receiver.bind(subscribed.id, [secret]);
    assert_eq!(script.left(), 2);
    events.publish(&Order { number: 7 }).await.unwrap();
    let WebhookEvent::Event { event, .. } = received.recv().await.unwrap() else {
        panic!("no event");
    };
    assert_eq!(event.data["number"], 7);
    assert_eq!(script.left(), 1);
    events.publish(&Order { number: 8 }).await.unwrap();
    while script.left() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let redirect = axum::response::Redirect::temporary("/other");
    let router: Router = Router::new()
        .route("/hooks", axum::routing::any(async move || redirect.clone()))
        .route(
            "/other",
            axum::routing::any(async || -> &str { panic!("followed") }),
        );
    tokio::spawn(async move { axum::serve(listener, router).await });
    let transport = transport(Zone::Loopback, &Script::new(&["127.0.0.1"; 2]));
    let url: url::Url = format!("http://agent.localhost:{port}/hooks")
        .parse()
        .unwrap();
    transport.check(&url).unwrap();
    assert_eq!(transport.get(url.clone()).await.unwrap().status, 307);
    let events = events().webhooks(Webhooks::new(transport));
    let client = client_of(server_for(&events, "ada")).await;
    let target = WebhookTarget::new(url.as_str(), WebhookSecret::generate().unwrap());
    let error = client.subscribe(query(), &target).await.unwrap_err();
    assert_eq!(code(&error), -32027);
    assert!(!error.to_string().contains("307"), "{error}");
}

#[tokio::test]
async fn files_and_waits_are_read_over_http_from_allowed_addresses_only() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = WebhookReceiver::file(["/hooks/"]);
    let answer = async move || ([("retry-after", "17")], file);
    let router: Router = Router::new().route(WebhookReceiver::FILE, axum::routing::get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let script = Script::new(&["127.0.0.1", "169.254.169.254"]);
    let transport = transport(Zone::Loopback, &script);
    let url = format!("http://agent.localhost:{port}{}", WebhookReceiver::FILE);
    let url: url::Url = url.parse().unwrap();
    let response = transport.get(url.clone()).await.unwrap();
    assert_eq!(response.body, r#"{"receivers":["/hooks/"]}"#);
    assert_eq!(response.retry_after.as_deref(), Some("17"));
    let refused = transport.get(url).await.unwrap_err();
    assert!(
        refused.to_string().contains("the URL is refused"),
        "{refused}"
    );
    let metadata = "https://169.254.169.254/latest".parse().unwrap();
    let refused = transport.get(metadata).await.unwrap_err();
    assert!(
        refused.to_string().contains("the URL is refused"),
        "{refused}"
    );
}
