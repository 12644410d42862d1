//! Two servers that share their events, the deliveries of webhooks, and broadcasts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use mcp::core::{BoxFuture, Call, Principal};
use mcp::events::{
    EventClient, EventQuery, EventType, EventUpdate, Events, WebhookFailure, WebhookPost,
    WebhookResponse, WebhookSecret, WebhookTarget, WebhookTransport, Webhooks,
};
use mcp::extension::{CustomNotification, Extension, ServerExtension, ServerSetup};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp::types::SubscriptionFilter;
use mcp::{Change, ConnectMode, InProcess, Subscription};
use mcp_redis::Redis;
use redis::cmd;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::server::{RedisServer, eventually};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    number: u64,
}

/// A webhook in this process. It records the bodies of messages.
#[derive(Clone, Default)]
struct Hook(Arc<Mutex<Vec<Value>>>);

impl Hook {
    /// The numbers of the events, in order.
    fn numbers(&self) -> Vec<u64> {
        let bodies = self.0.lock().unwrap();
        let numbers = bodies.iter().map(|body| &body["data"]["number"]);
        numbers.filter_map(Value::as_u64).collect()
    }
}

impl WebhookTransport for Hook {
    fn check(&self, _: &url::Url) -> Result<(), WebhookFailure> {
        Ok(())
    }

    fn post(
        &self,
        post: WebhookPost,
    ) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let body: Value = serde_json::from_slice(&post.body).unwrap();
        // The answer to a challenge is the challenge.
        let echo = post.body.clone();
        self.0.lock().unwrap().push(body);
        Box::pin(async move { Ok(WebhookResponse::new(200, echo)) })
    }
}

/// A node with an event type for all deliveries. All callers are the same principal.
fn node(redis: &Redis, hook: &Hook) -> (Events, Server) {
    let order = EventType::<Order>::new("order.placed")
        .poll()
        .push()
        .webhook();
    let events = Events::with_log(redis.event_log())
        .event(order)
        .webhooks(Webhooks::new(hook.clone()).store(redis.webhooks()));
    let server = Server::new("shop", "1.0.0")
        .change_bus(redis.bus())
        .extension(events.clone())
        .layer(from_fn(|mut exchange: Exchange, next: Next| async move {
            exchange.extensions.insert(Principal::new("test", "ada"));
            next.run(exchange).await
        }));
    (events, server)
}

async fn client_of(server: Server) -> EventClient {
    let client = Client::builder().extension(Events::new());
    let client = client.connect(InProcess(server)).await.unwrap();
    EventClient::new(&client).unwrap()
}

fn query() -> EventQuery {
    EventQuery::new("order.placed")
}

fn target(secret: &WebhookSecret) -> WebhookTarget {
    WebhookTarget::new("https://agent.example/hooks", secret.clone())
}

#[tokio::test]
async fn event_is_polled_streamed_and_posted_once_at_another_server() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let hook = Hook::default();
    let (here, first) = node(&server.connect().await, &hook);
    let (there, second) = node(&server.connect().await, &hook);
    let other = client_of(first).await;
    let client = client_of(second).await;
    let now = client.poll(query()).await.unwrap().cursor.unwrap();
    let mut stream = client.stream(query().cursor(&now));
    let secret = WebhookSecret::generate().unwrap();
    client.subscribe(query(), &target(&secret)).await.unwrap();

    for number in 0..5 {
        here.publish(&Order { number }).await.unwrap();
    }
    there.publish(&Order { number: 5 }).await.unwrap();
    for number in 0..6 {
        let update = tokio::time::timeout(Duration::from_secs(5), stream.next());
        match update.await.unwrap().unwrap().unwrap() {
            EventUpdate::Event(event) => assert_eq!(event.data["number"], number),
            other => panic!("{other:?}"),
        }
    }
    let polled = client.poll(query().cursor(&now)).await.unwrap();
    assert_eq!(polled.events.len(), 6);
    eventually("the deliveries", async || hook.numbers().len() >= 6).await;
    // Renewal at the other node: the one with the lease still delivers, alone.
    other.subscribe(query(), &target(&secret)).await.unwrap();
    here.publish(&Order { number: 6 }).await.unwrap();
    eventually("the delivery", async || hook.numbers().len() >= 7).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(hook.numbers(), [0, 1, 2, 3, 4, 5, 6]);
    // A subscription ends on all nodes.
    other
        .unsubscribe(query(), "https://agent.example/hooks")
        .await
        .unwrap();
    here.publish(&Order { number: 7 }).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(hook.numbers().len(), 7);
}

#[test]
fn webhooks_from_a_killed_server_are_delivered_by_another() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    };
    let (dies, stays) = (runtime(), runtime());
    let Some(redis) = stays.block_on(RedisServer::start()) else {
        return;
    };
    let hook = Hook::default();
    dies.block_on(async {
        let (events, server) = node(&redis.connect().await, &hook);
        let client = client_of(server).await;
        let secret = WebhookSecret::generate().unwrap();
        client.subscribe(query(), &target(&secret)).await.unwrap();
        events.publish(&Order { number: 1 }).await.unwrap();
        eventually("the delivery", async || hook.numbers() == [1]).await;
        let lease = cmd("HVALS").arg("test:v1:{webhooks}:leases").clone();
        let leases: Vec<String> = redis.command(&lease).await;
        assert_eq!(leases.len(), 1);
    });
    dies.shutdown_background();
    stays.block_on(async {
        // The leases end at once instead of after 30 s.
        let _: i64 = redis
            .command(cmd("DEL").arg("test:v1:{webhooks}:leases"))
            .await;
        let (events, _server) = node(&redis.connect().await, &hook);
        events.publish(&Order { number: 2 }).await.unwrap();
        eventually("the delivery", async || hook.numbers() == [1, 2]).await;
    });
}

struct Clock;

impl Extension for Clock {
    const ID: &'static str = "com.example/clock";
    type ServerSettings = ();
    type ClientSettings = ();
}

impl ServerExtension for Clock {
    fn settings(&self) {}
    fn register(self, _: &mut ServerSetup<Self>) {}
}

impl mcp::extension::ClientExtension for Clock {
    fn settings(&self) {}
    fn register(self, _: &mut mcp::extension::ClientSetup<Self>) {}
}

struct Tick;

#[derive(Serialize, Deserialize)]
struct TickParams {
    number: u64,
}

impl CustomNotification for Tick {
    const METHOD: &'static str = "notifications/clock/tick";
    type Extension = Clock;
    type Params = TickParams;
}

async fn next_other(changes: &mut Subscription) -> (String, Value) {
    let next = tokio::time::timeout(Duration::from_secs(5), changes.next());
    match next.await.unwrap().unwrap().unwrap() {
        Change::Other { method, params } => {
            let params = params.map_or(Value::Null, |params| params.parse().unwrap());
            (method.into(), params["number"].clone())
        }
        other => panic!("{other:?}"),
    }
}

async fn wait_for_nodes(server: &RedisServer, count: usize) {
    eventually("subscription", async || {
        let (_, subscribers): (String, usize) = server
            .command(cmd("PUBSUB").arg(&["NUMSUB", "test:v1:changes"]))
            .await;
        subscribers == count
    })
    .await;
    // Subscribers are registered before they have loaded the number of the last change.
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn broadcast_reaches_clients_at_all_nodes_once_and_in_order() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let mut nodes = Vec::new();
    let mut changes = Vec::new();
    for _ in 0..2 {
        let redis = server.connect().await;
        let node = Server::new("clock", "1.0.0")
            .tool(Tool::new("none").handler(|| ""))
            .change_bus(redis.bus())
            .extension(Clock);
        nodes.push(node.broadcaster());
        let client = Client::builder().extension(Clock);
        let client = client.connect(InProcess(node)).await.unwrap();
        let mut filter = SubscriptionFilter::new().tools_changed();
        filter.extra.insert("ticks".to_owned(), Value::Bool(true));
        let none: [String; 0] = [];
        changes.push(client.subscribe(none).filter(filter).await.unwrap());
    }
    wait_for_nodes(&server, 2).await;
    for number in 0..20 {
        nodes[0].send::<Tick>(&TickParams { number });
    }
    for changes in &mut changes {
        for number in 0..20 {
            let (method, value) = next_other(changes).await;
            assert_eq!((&*method, value), (Tick::METHOD, number.into()));
        }
    }
    nodes[1].send::<Tick>(&TickParams { number: 99 });
    for changes in &mut changes {
        assert_eq!(next_other(changes).await.1, 99);
    }
}

#[tokio::test]
async fn changed_event_types_reach_clients_at_the_other_server() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let hook = Hook::default();
    let (here, _first) = node(&server.connect().await, &hook);
    let (_there, second) = node(&server.connect().await, &hook);
    let client = Client::builder().connect(InProcess(second)).await.unwrap();
    let filter = SubscriptionFilter::new().events_changed();
    let none: [String; 0] = [];
    let mut changes = client.subscribe(none).filter(filter).await.unwrap();
    wait_for_nodes(&server, 2).await;
    here.add_event(EventType::<Order>::new("order.cancelled").poll());
    let (method, _) = next_other(&mut changes).await;
    assert_eq!(method, "notifications/events/list_changed");
}

// spec: ELIC-10
#[tokio::test]
async fn finished_visit_is_reported_by_another_node() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let id = |ask: Ask| ask.elicitation_id("pay");
        nodes.push(
            Server::new("shop", "1.0.0")
                .tool(Tool::new("id").handler(id))
                .change_bus(server.connect().await.bus()),
        );
    }
    let there = nodes[1].broadcaster();
    let (sender, mut received) = mpsc::unbounded_channel();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        if let Call::Notification { method, params } = &exchange.call {
            let params = params.as_ref().map(|params| params.as_str().to_owned());
            sender.send((method.to_string(), params)).unwrap();
        }
        async move { next.run(exchange).await }
    });
    let client = Client::builder()
        .mode(ConnectMode::Legacy)
        .on_elicit_url(async |_: UrlRequest| ElicitResult::decline())
        .inbound_layer(record);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(mcp::serve_http(nodes.remove(0), listener));
    let client = client.connect(&url).await.unwrap();
    wait_for_nodes(&server, 2).await;
    let id = client.call("id", ()).await.unwrap().text();
    there.elicitation_complete(&id);
    let (method, params) = tokio::time::timeout(Duration::from_secs(5), received.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(method, "notifications/elicitation/complete");
    assert_eq!(params.unwrap(), format!(r#"{{"elicitationId":"{id}"}}"#));
}
