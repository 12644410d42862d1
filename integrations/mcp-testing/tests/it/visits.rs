//! Visits of URLs that end after their call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use mcp::client::ClientBuilder;
use mcp::core::{Call, Exchange, Fault};
use mcp::extension::Broadcaster;
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::types::ElicitUrlParams;
use mcp::{ConnectMode, StreamableHttp};
use mcp_testing::Pair;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use crate::kit::{Connection, TestServer, connect_with};

const LIMIT: Duration = Duration::from_secs(10);
const COMPLETE: &str = "notifications/elicitation/complete";

/// The elicitation ids in call order, and whether the order is paid.
#[derive(Clone)]
struct Shop {
    ids: mpsc::UnboundedSender<String>,
    is_paid: Arc<Mutex<bool>>,
}

#[mcp::server]
impl Shop {
    /// Orders a book that is paid later.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<String, ToolError> {
        let id = ask.elicitation_id("pay");
        let answer = ask.url("pay", "Pay", "https://pay.example.com/7").await?;
        self.ids.send(id).unwrap();
        Ok(format!("{answer:?}"))
    }

    /// Refuses the call until the book is paid.
    #[tool]
    async fn fetch(&self, ask: Ask) -> Result<&'static str, ToolError> {
        if *self.is_paid.lock().await {
            return Ok("fetched");
        }
        let id = ask.elicitation_id("pay");
        self.ids.send(id.clone()).unwrap();
        let pay = ElicitUrlParams::new("Pay", "https://pay.example.com/7").elicitation_id(id);
        Err(ToolError::fault(Fault::UrlElicitationRequired {
            elicitations: vec![pay],
        }))
    }
}

struct Sides {
    clients: Broadcaster,
    is_paid: Arc<Mutex<bool>>,
    ids: mpsc::UnboundedReceiver<String>,
}

fn sides() -> (Sides, Server) {
    let (sender, ids) = mpsc::unbounded_channel();
    let is_paid = Arc::default();
    let shop = Shop {
        ids: sender,
        is_paid: Arc::clone(&is_paid),
    };
    let server = Server::of(shop);
    let sides = Sides {
        clients: server.broadcaster(),
        is_paid,
        ids,
    };
    (sides, server)
}

impl Sides {
    async fn next_id(&mut self) -> String {
        timeout(LIMIT, self.ids.recv()).await.unwrap().unwrap()
    }
}

/// A client that agrees to visits, and the ids of elicitations that its server reports as completed.
fn client() -> (ClientBuilder, mpsc::UnboundedReceiver<Value>) {
    let (sender, completed) = mpsc::unbounded_channel();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        if let Call::Notification { method, params } = &exchange.call
            && **method == *COMPLETE
        {
            let params: Value = serde_json::from_str(params.as_ref().unwrap().as_str()).unwrap();
            sender.send(params["elicitationId"].clone()).unwrap();
        }
        async move { next.run(exchange).await }
    });
    let builder = Client::builder().on_elicit_url(async |_: UrlRequest| ElicitResult::accept_url());
    (builder.inbound_layer(record), completed)
}

// spec: ELIC-10
#[tokio::test]
async fn visit_that_ends_after_its_call_is_reported() {
    for start in [Pair::http, Pair::stdio, Pair::messages] {
        let (mut sides, server) = sides();
        let (builder, mut completed) = client();
        let pair = start(server).client(builder);
        let pair = pair.revision(ProtocolVersion::V2025_11_25);
        let connected = pair.connect().await.unwrap();
        let ordered = connected.client.call("order", ()).await.unwrap();
        assert_eq!(ordered.text(), "Accept(())");
        let id = sides.next_id().await;
        sides.clients.elicitation_complete(&id);
        let received = timeout(LIMIT, completed.recv()).await.unwrap();
        assert_eq!(received.unwrap(), id);
        let transcript = connected.transcript().to_string();
        assert!(
            transcript.contains(&format!(r#""elicitationId":"{id}""#)),
            "{transcript}"
        );
        connected.close().await.unwrap();
    }
}

// spec: ERR-13, ELIC-10
#[tokio::test]
async fn refused_call_is_repeated_when_the_visit_has_ended() {
    for start in [Pair::http, Pair::stdio, Pair::messages] {
        let (mut sides, server) = sides();
        let (builder, _completed) = client();
        let pair = start(server).client(builder);
        let pair = pair.revision(ProtocolVersion::V2025_11_25);
        let connected = pair.connect().await.unwrap();
        let fetching = tokio::spawn(connected.client.call("fetch", ()).into_future());
        let id = sides.next_id().await;
        *sides.is_paid.lock().await = true;
        // The client waits for five minutes without the notification.
        sides.clients.elicitation_complete(&id);
        let fetched = timeout(LIMIT, fetching).await.unwrap().unwrap();
        assert_eq!(fetched.unwrap().text(), "fetched");
        assert!(sides.ids.try_recv().is_err(), "refused once");
        connected.close().await.unwrap();
    }
}

// spec: ELIC-10
#[tokio::test]
async fn finished_visit_reaches_only_its_session() {
    let (mut sides, server) = sides();
    let notify = server.notify();
    let (builder, mut of_ada) = client();
    let (other, mut of_bob) = client();
    let server = TestServer::start(StreamableHttp::new(server)).await;
    let legacy = |builder: ClientBuilder| builder.mode(ConnectMode::Legacy);
    let ada = legacy(builder).connect(server.url()).await.unwrap();
    let bob = legacy(other).connect(server.url()).await.unwrap();
    let mut changes = bob.changes().tools_changed().await.unwrap();
    ada.call("order", ()).await.unwrap();
    bob.call("order", ()).await.unwrap();
    let (id, other) = (sides.next_id().await, sides.next_id().await);
    assert_ne!(id[..16], other[..16], "topics of sessions");
    sides.clients.elicitation_complete(&id);
    assert_eq!(timeout(LIMIT, of_ada.recv()).await.unwrap().unwrap(), id);
    notify.tools_changed();
    let change = timeout(LIMIT, changes.next()).await;
    change.unwrap().unwrap().unwrap();
    assert!(of_bob.try_recv().is_err());
}

// spec: ELIC-10
#[tokio::test]
async fn other_revisions_are_not_notified() {
    let (mut sides, server) = sides();
    let (builder, mut completed) = client();
    let connection = connect_with(Connection::Http, server, builder).await;
    let (client, _server) = connection;
    assert!(client.protocol_version().is_modern());
    let ordered = client.call("order", ()).await.unwrap();
    assert_eq!(ordered.text(), "Accept(())");
    let id = sides.next_id().await;
    sides.clients.elicitation_complete(&id);
    sides.clients.elicitation_complete("");
    assert_eq!(client.call("order", ()).await.unwrap().text(), "Accept(())");
    assert!(completed.try_recv().is_err());
}
