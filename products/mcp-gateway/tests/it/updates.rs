//! Updates of resources: the gateway is subscribed to what its clients are subscribed to.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::{Group, Health};
use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use mcp::{Change, ConnectMode, Io, StdioServer, SubscribedResources, Subscription};
use parking_lot::Mutex;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

const LIMIT: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(60);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

/// The starts of a server.
type Starts = Arc<Mutex<Vec<AbortHandle>>>;

/// Serves a server on a pipe.
fn pipe(
    server: Arc<Server>,
) -> (
    Io<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
    AbortHandle,
) {
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = split(theirs);
    let server = StdioServer::new(server);
    let running = tokio::spawn(async move { drop(server.run_over(reader, writer).await) });
    let (reader, writer) = split(ours);
    (Io(reader, writer), running.abort_handle())
}

/// A server with resources, and the resources that the gateway is subscribed to.
struct Notes {
    server: Arc<Server>,
    notify: Notify,
    subscribed: SubscribedResources,
}

impl Notes {
    /// A server with `count` resources, and a template for further ones.
    fn new(scheme: &str, count: usize) -> Self {
        let (all, read) = (format!("{scheme}://all/{{id}}"), || "text");
        let template = ResourceTemplate::new(all);
        let server = Server::new("notes", "1.0.0").template(template.read(read));
        let server = (0..count).fold(server, |server, number| {
            server.resource(Resource::new(format!("{scheme}://{number}")).read(read))
        });
        Self {
            notify: server.notify(),
            subscribed: server.subscribed_resources(),
            server: Arc::new(server),
        }
    }

    fn behind(&self, name: &str, era: &ConnectMode) -> GatewayServer {
        self.killable(name, era).0
    }

    /// A server on a pipe, and its starts, which can be killed.
    fn killable(&self, name: &str, era: &ConnectMode) -> (GatewayServer, Starts) {
        let starts = Starts::default();
        let (server, era, started) = (self.server.clone(), era.clone(), starts.clone());
        let server = GatewayServer::new(name, move |client| {
            let (pipe, running) = pipe(server.clone());
            started.lock().push(running);
            let client = client.mode(era.clone()).timeout(IDLE * 20);
            client.connect(pipe)
        });
        (server, starts)
    }

    /// Waits until the gateway is subscribed to these resources only.
    async fn subscribed_to(&mut self, expected: &[&str]) {
        let reached = async {
            loop {
                let mut uris = self.subscribed.uris();
                uris.sort_unstable();
                if uris.iter().map(|uri| &**uri).eq(expected.iter().copied()) {
                    return;
                }
                self.subscribed.changed().await;
            }
        };
        let reached = timeout(LIMIT, reached).await;
        assert!(
            reached.is_ok(),
            "{:?} != {expected:?}",
            self.subscribed.uris()
        );
    }
}

/// Reads changes until a resource has changed.
async fn updated(changes: &mut Subscription, expected: &str) {
    let reading = async {
        while let Some(change) = changes.next().await {
            if matches!(change.unwrap(), Change::Resource { uri } if uri == expected) {
                return;
            }
        }
        panic!("the subscription has ended");
    };
    let read = timeout(LIMIT, reading).await;
    assert!(read.is_ok(), "no update of {expected}");
}

/// Waits until updates of a resource pass. What was sent until then is read.
async fn opened(changes: &mut Subscription, uri: &str, notify: &Notify) {
    let pause = Duration::from_millis(100);
    let opening = async {
        while timeout(pause, changes.next()).await.is_err() {
            notify.resource_updated(uri);
        }
    };
    timeout(LIMIT, opening).await.unwrap();
    while timeout(pause, changes.next()).await.is_ok() {}
}

struct Opened {
    server: Arc<Server>,
    group: Group,
}

impl Opened {
    async fn new(servers: impl IntoIterator<Item = GatewayServer>) -> Self {
        let gateway = Gateway::new("gateway", "1.0.0");
        let gateway = servers.into_iter().fold(gateway, Gateway::server);
        let opened = gateway.connect().await.unwrap();
        Self {
            server: Arc::new(opened.server),
            group: opened.group,
        }
    }

    async fn client(&self, era: &ConnectMode) -> Client {
        let client = Client::builder().mode(era.clone());
        client.connect(pipe(self.server.clone()).0).await.unwrap()
    }

    fn health(&self) -> Health {
        self.group.health()[0].1.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn gateway_is_subscribed_to_what_its_clients_are_subscribed_to() {
    for (front, back) in ERAS
        .iter()
        .flat_map(|front| ERAS.iter().map(move |back| (front, back)))
    {
        let (mut notes, mut other) = (Notes::new("note", 3), Notes::new("other", 3));
        let servers = [notes.behind("notes", back), other.behind("other", back)];
        let gateway = Opened::new(servers).await;
        notes.subscribed_to(&[]).await;
        let (ada, bob) = (gateway.client(front).await, gateway.client(front).await);
        let mut first = ada.subscribe(["note://1"]).await.unwrap();
        notes.subscribed_to(&["note://1"]).await;
        opened(&mut first, "note://1", &notes.notify).await;
        let mut second = bob
            .subscribe(["note://1", "note://all/7", "other://2"])
            .await
            .unwrap();
        notes.subscribed_to(&["note://1", "note://all/7"]).await;
        other.subscribed_to(&["other://2"]).await;
        opened(&mut second, "note://all/7", &notes.notify).await;

        // A resource that is not listed, by its template.
        notes.notify.resource_updated("note://all/7");
        updated(&mut second, "note://all/7").await;
        notes.notify.resource_updated("note://1");
        updated(&mut first, "note://1").await;
        updated(&mut second, "note://1").await;
        drop(second);
        notes.subscribed_to(&["note://1"]).await;
        other.subscribed_to(&[]).await;
        notes.notify.resource_updated("note://1");
        updated(&mut first, "note://1").await;
        drop(first);
        notes.subscribed_to(&[]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn many_resources_and_those_below_a_uri_pass() {
    let uris: Vec<String> = (0..2500).map(|number| format!("note://{number}")).collect();
    let mut sorted: Vec<&str> = uris.iter().map(|uri| &**uri).collect();
    sorted.sort_unstable();
    for back in &ERAS {
        let mut notes = Notes::new("note", 2500);
        let gateway = Opened::new([notes.behind("notes", back)]).await;
        let client = gateway.client(&ERAS[1]).await;
        let mut streams = Vec::new();
        for part in uris.chunks(1000) {
            streams.push(client.subscribe(part).await.unwrap());
        }
        if back.clone() == ERAS[1] {
            notes.subscribed_to(&sorted).await;
            let last = streams.last_mut().unwrap();
            notes.notify.resource_updated("note://2499");
            updated(last, "note://2499").await;
        }
        drop(streams);
        notes.subscribed_to(&[]).await;
        let mut all = client.subscribe(["note://all/"]).await.unwrap();
        notes.subscribed_to(&["note://all/"]).await;
        notes.notify.resource_updated("note://all/3");
        updated(&mut all, "note://all/3").await;
        // Nothing has these.
        let _none = client.subscribe(["note://x/y", "file:///"]).await.unwrap();
        let mut one = client.subscribe(["note://5"]).await.unwrap();
        notes.subscribed_to(&["note://5", "note://all/"]).await;
        opened(&mut one, "note://5", &notes.notify).await;
    }
}

#[tokio::test(start_paused = true)]
async fn many_subscriptions_are_merged_without_a_lost_update() {
    let mut notes = Notes::new("note", 40);
    let gateway = Opened::new([notes.behind("notes", &ERAS[1])]).await;
    let client = gateway.client(&ERAS[1]).await;
    let (mut streams, mut uris) = (Vec::new(), Vec::new());
    for number in 0..40 {
        let uri = format!("note://{number}");
        let mut stream = client.subscribe([&uri]).await.unwrap();
        opened(&mut stream, &uri, &notes.notify).await;
        streams.push(stream);
        uris.push(uri);
        let first = &mut streams[0];
        notes.notify.resource_updated("note://0");
        updated(first, "note://0").await;
    }
    let mut sorted: Vec<&str> = uris.iter().map(|uri| &**uri).collect();
    sorted.sort_unstable();
    notes.subscribed_to(&sorted).await;
    // Those for lists included.
    let changes = mcp::core::Service::changes(&*notes.server).unwrap();
    let active = changes.active_subscriptions();
    assert!(active < 20, "{active}");
}

#[tokio::test(start_paused = true)]
async fn server_with_subscribers_runs_and_one_without_stops() {
    for era in &ERAS {
        let mut notes = Notes::new("note", 3);
        let (server, starts) = notes.killable("notes", era);
        let gateway = Opened::new([server.idle_timeout(IDLE)]).await;
        sleep(IDLE * 2).await;
        assert_eq!(gateway.health(), Health::Idle, "nothing is subscribed to");
        let client = gateway.client(&ERAS[0]).await;
        let mut changes = client.subscribe(["note://1"]).await.unwrap();
        opened(&mut changes, "note://1", &notes.notify).await;
        assert_eq!(
            starts.lock().len(),
            2,
            "the subscription has started the server"
        );
        sleep(IDLE * 5).await;
        assert_eq!(gateway.health(), Health::Running);
        notes.notify.resource_updated("note://1");
        updated(&mut changes, "note://1").await;

        // Killed, and started again. An update may have been missed.
        starts.lock()[1].abort();
        updated(&mut changes, "note://1").await;
        assert_eq!(starts.lock().len(), 3);
        notes.notify.resource_updated("note://1");
        updated(&mut changes, "note://1").await;
        drop(changes);
        notes.subscribed_to(&[]).await;
        sleep(IDLE * 2).await;
        assert_eq!(gateway.health(), Health::Idle);
        assert_eq!(starts.lock().len(), 3);
    }
}
