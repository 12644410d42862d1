//! Extensions: notifications for all clients and those of a call, and extensions that change.

use std::sync::Arc;
use std::time::Duration;

use mcp::core::{Call, Exchange};
use mcp::extension::{
    Broadcaster, CustomNotification, Extension, Notifier, RawExtension, RequestError,
    ServerExtension, ServerSetup,
};
use mcp::gateway::{Gateway, GatewayServer};
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::types::RawObject;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::callers::{builder, protected};
use crate::kit::serve;

const LIMIT: Duration = Duration::from_secs(10);
const ID: &str = "com.example/clock";
const TICK: &str = "notifications/clock/tick";

struct Clock;

impl Extension for Clock {
    const ID: &'static str = ID;
    type ServerSettings = ();
    type ClientSettings = Value;
}

impl ServerExtension for Clock {
    fn settings(&self) {}

    fn register(self, _: &mut ServerSetup<Self>) {}
}

struct Tick;

impl CustomNotification for Tick {
    const METHOD: &'static str = TICK;
    type Extension = Clock;
    type Params = Value;
}

/// The parameters of the notifications that a client has received.
type Received = Arc<Mutex<Vec<String>>>;

async fn client(builder: mcp::ClientBuilder, url: &str) -> (Client, Received) {
    let received = Received::default();
    let records = received.clone();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        if let Call::Notification { method, params } = &exchange.call
            && **method == *TICK
        {
            let params = params.as_ref().map(RawObject::as_str);
            records.lock().push(params.unwrap_or_default().to_owned());
        }
        async move { next.run(exchange).await }
    });
    let client = builder.mode(ConnectMode::Legacy);
    let client = client.extension((ID, ())).inbound_layer(record);
    (client.connect(url).await.unwrap(), received)
}

async fn arrived(received: &Received, params: &str, count: usize) {
    let arrived = async {
        while received
            .lock()
            .iter()
            .filter(|other| *other == params)
            .count()
            < count
        {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let arrived = timeout(LIMIT, arrived).await;
    assert!(arrived.is_ok(), "{params}: {:?}", received.lock());
}

/// A server behind a gateway. Calls of its tool `wait` wait at a gate, and then send a notification.
struct ClockServer {
    broadcaster: Broadcaster,
    started: Arc<Semaphore>,
    gate: Arc<Semaphore>,
}

async fn clock() -> (ClockServer, GatewayServer) {
    let (started, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (running, waiting) = (started.clone(), gate.clone());
    let wait = Tool::new("wait").handler(move |notifier: Notifier| {
        let (started, gate) = (running.clone(), waiting.clone());
        async move {
            started.add_permits(1);
            drop(gate.acquire().await);
            notifier.send::<Tick>(&json!({"call": 1})).await;
            "waited"
        }
    });
    let server = Server::new("clock", "1.0.0").tool(wait).extension(Clock);
    let broadcaster = server.broadcaster();
    let url = serve(server).await;
    let server = GatewayServer::new("clock", move |client| {
        client.mode(ConnectMode::Legacy).connect(url.clone())
    });
    let clock = ClockServer {
        broadcaster,
        started,
        gate,
    };
    (clock, server.extension(ID, ["notifications/clock/*"]))
}

impl ClockServer {
    fn send(&self, number: u32) {
        self.broadcaster.send::<Tick>(&json!({"all": number}));
    }

    /// Waits until a first notification has arrived: the gateway and the clients listen.
    async fn listening(&self, clients: &[&Received]) {
        let listening = async {
            while clients.iter().any(|received| received.lock().is_empty()) {
                self.send(0);
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LIMIT, listening).await.unwrap();
    }

    async fn started(&self, calls: u32) {
        drop(
            timeout(LIMIT, self.started.acquire_many(calls))
                .await
                .unwrap(),
        );
    }
}

/// Returns the notifications after the first one, in any order.
fn later(received: &Received) -> Vec<String> {
    let mut all = received.lock().clone();
    all.retain(|params| *params != r#"{"all":0}"#);
    all.sort_unstable();
    all
}

const ALL: [&str; 3] = [r#"{"all":1}"#, r#"{"all":2}"#, r#"{"all":2}"#];
const OF_CALL: &str = r#"{"call":1}"#;

// spec: EXT-05
#[tokio::test]
async fn broadcast_during_a_call_reaches_its_client_once() {
    let (clock, server) = clock().await;
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let url = serve(gateway.connect().await.unwrap().server).await;
    let (ada, of_ada) = client(Client::builder(), &url).await;
    let (_bob, of_bob) = client(Client::builder(), &url).await;
    clock.listening(&[&of_ada, &of_bob]).await;
    let calling = tokio::spawn(ada.call("clock__wait", ()).into_future());
    clock.started(1).await;
    for number in [1, 2, 2] {
        clock.send(number);
    }
    for received in [&of_ada, &of_bob] {
        arrived(received, ALL[2], 2).await;
    }
    clock.gate.add_permits(1);
    assert_eq!(calling.await.unwrap().unwrap().text(), "waited");
    // Of the call only, on its stream.
    arrived(&of_ada, OF_CALL, 1).await;
    assert_eq!(later(&of_ada), [&ALL[..], &[OF_CALL]].concat());
    assert_eq!(later(&of_bob), ALL);
}

// spec: EXT-05
#[tokio::test]
async fn broadcast_reaches_each_client_once_despite_many_sessions() {
    let (clock, server) = clock().await;
    let url = protected(server).await;
    let (first, of_first) = client(builder("ada"), &url).await;
    let (second, of_second) = client(builder("ada"), &url).await;
    let (_bob, of_bob) = client(builder("bob"), &url).await;
    let calls =
        [&first, &second].map(|client| tokio::spawn(client.call("clock__wait", ()).into_future()));
    clock.started(2).await;
    clock.listening(&[&of_first, &of_second]).await;
    for number in [1, 2, 2] {
        clock.send(number);
    }
    for received in [&of_first, &of_second] {
        arrived(received, ALL[2], 2).await;
    }
    clock.gate.add_permits(2);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().text(), "waited");
    }
    for received in [&of_first, &of_second] {
        arrived(received, OF_CALL, 1).await;
        assert_eq!(later(received), [&ALL[..], &[OF_CALL]].concat());
    }
    // Without a session of his own.
    assert!(of_bob.lock().is_empty(), "{of_bob:?}");
}

/// A server that echoes the requests of one extension.
fn echo(id: &'static str, prefix: &'static str) -> GatewayServer {
    let settings = json!({ "of": id });
    let requests = RawExtension::new(id, &settings).requests(
        move |method| method.starts_with(prefix),
        async |params: RawObject| Ok::<_, RequestError>(params),
    );
    let server = Server::new("echo", "1.0.0").extension(requests);
    let server = Arc::new(server);
    let connect = move |client: mcp::ClientBuilder| client.connect(mcp::InProcess(server.clone()));
    GatewayServer::new("echo", connect).extension(id, [format!("{prefix}*")])
}

// spec: EXT-01
#[tokio::test]
async fn extensions_follow_a_reload() {
    let gateway = |server| Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway(echo("com.example/one", "one/"))
        .connect()
        .await
        .unwrap();
    let url = serve(opened.server).await;
    let connect = async |mode: ConnectMode| {
        let client = Client::builder().mode(mode);
        let client = client.extension(("com.example/one", ()));
        let client = client.extension(("com.example/two", ()));
        client.connect(&url).await.unwrap()
    };
    let published = |client: &Client| client.server_capabilities().unwrap().extensions;
    let old = connect(ConnectMode::Legacy).await;
    assert!(published(&old).contains_key("com.example/one"));
    let result = old.request("one/a", json!({"b": 1})).await.unwrap();
    assert!(result.as_str().contains(r#""b":1"#), "{result:?}");

    let second = gateway(echo("com.example/two", "two/"));
    opened.control.reload(second).await.unwrap();
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let listed = async {
            loop {
                let client = connect(mode.clone()).await;
                let published = published(&client);
                assert!(!published.contains_key("com.example/one"), "{published:?}");
                // The settings are those of the server when it is listed.
                if published["com.example/two"] == json!({"of": "com.example/two"}) {
                    return client;
                }
                sleep(Duration::from_millis(10)).await;
            }
        };
        let client = timeout(LIMIT, listed).await.unwrap();
        let result = client.request("two/a", json!({"b": 2})).await.unwrap();
        assert!(result.as_str().contains(r#""b":2"#), "{result:?}");
        let error = client.request("one/a", json!({})).await.unwrap_err();
        assert!(error.is_unknown_method(), "{error}");
    }
    assert!(
        published(&old).contains_key("com.example/one"),
        "of its session"
    );
}
