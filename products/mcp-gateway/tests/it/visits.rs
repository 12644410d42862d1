//! Visits of URLs that a server behind the gateway requires, and their end.

use std::sync::Arc;
use std::time::Duration;

use mcp::client::ClientBuilder;
use mcp::core::{Call, Exchange, Fault};
use mcp::extension::Broadcaster;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::types::{ElicitResult, ElicitUrlParams};
use mcp::{ConnectMode, UrlRequest};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::callers::{builder, protected};
use crate::kit::serve;

const LIMIT: Duration = Duration::from_secs(10);
const URL: &str = "https://pay.example.com/7";

/// A server that asks for visits. It sends the ids of its elicitations.
#[derive(Clone)]
struct Shop {
    ids: UnboundedSender<String>,
    is_paid: Arc<Mutex<bool>>,
}

#[mcp::server(name = "shop", version = "1.0.0")]
impl Shop {
    /// Orders a book that is paid later.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<&'static str, ToolError> {
        self.ids.send(ask.elicitation_id("pay")).unwrap();
        ask.url("pay", "Pay", URL).await?;
        Ok("ordered")
    }

    /// Refuses the call until the book is paid.
    #[tool]
    fn fetch(&self, ask: Ask) -> Result<&'static str, ToolError> {
        if *self.is_paid.lock() {
            return Ok("fetched");
        }
        let id = ask.elicitation_id("pay");
        self.ids.send(id.clone()).unwrap();
        let elicitations = vec![ElicitUrlParams::new("Pay", URL).elicitation_id(id)];
        Err(ToolError::fault(Fault::UrlElicitationRequired {
            elicitations,
        }))
    }
}

/// Serves a shop. Returns it as a server of a gateway, with the ids of its elicitations.
async fn shop() -> (Shop, GatewayServer, Broadcaster, UnboundedReceiver<String>) {
    let (sender, ids) = unbounded_channel();
    let shop = Shop {
        ids: sender,
        is_paid: Arc::default(),
    };
    let server = Server::of(shop.clone());
    let clients = server.broadcaster();
    let url = serve(server).await;
    let server = GatewayServer::new("shop", move |client| {
        client.mode(ConnectMode::Legacy).connect(url.clone())
    });
    (shop, server, clients, ids)
}

/// A client that agrees to visits. It sends the ids of elicitations, and of those that are reported as completed.
fn visitor(
    builder: ClientBuilder,
) -> (
    ClientBuilder,
    UnboundedReceiver<String>,
    UnboundedReceiver<Value>,
) {
    let (asked, visits) = unbounded_channel();
    let (sender, completed) = unbounded_channel();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        if let Call::Notification { method, params } = &exchange.call
            && **method == *"notifications/elicitation/complete"
        {
            let params: Value = params.as_ref().unwrap().parse().unwrap();
            sender.send(params["elicitationId"].clone()).unwrap();
        }
        async move { next.run(exchange).await }
    });
    let builder = builder.on_elicit_url(move |visit: UrlRequest| {
        let id = visit.params.elicitation_id.clone().unwrap_or_default();
        asked.send(id).unwrap();
        async { ElicitResult::accept_url() }
    });
    let builder = builder.mode(ConnectMode::Legacy).inbound_layer(record);
    (builder, visits, completed)
}

async fn next<T>(receiver: &mut UnboundedReceiver<T>) -> T {
    timeout(LIMIT, receiver.recv()).await.unwrap().unwrap()
}

// spec: ELIC-10
#[tokio::test]
async fn visit_that_ends_after_its_call_is_reported_to_its_client() {
    let (_shop, server, clients, mut ids) = shop().await;
    let url = protected(server).await;
    let (ada, mut visits, mut completed) = visitor(builder("ada"));
    let ada = ada.connect(&url).await.unwrap();
    let (bob, _, mut of_bob) = visitor(builder("bob"));
    let bob = bob.connect(&url).await.unwrap();
    bob.call("shop__order", ()).await.unwrap();
    next(&mut ids).await;
    let ordered = ada.call("shop__order", ()).await.unwrap();
    assert_eq!(ordered.text(), "ordered");
    let (id, own) = (next(&mut ids).await, next(&mut visits).await);
    assert_ne!(id, own, "the gateway has ids of its own");
    clients.elicitation_complete(&id);
    assert_eq!(next(&mut completed).await, own);
    bob.call("shop__order", ()).await.unwrap();
    assert!(of_bob.try_recv().is_err());
}

// spec: ERR-13, ELIC-10
#[tokio::test]
async fn refused_call_is_repeated_when_the_visit_has_ended() {
    let (shop, server, clients, mut ids) = shop().await;
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let url = serve(gateway.connect().await.unwrap().server).await;
    let (client, mut visits, _completed) = visitor(Client::builder());
    let client = client.connect(&url).await.unwrap();
    let fetching = tokio::spawn(client.call("shop__fetch", ()).into_future());
    next(&mut visits).await;
    *shop.is_paid.lock() = true;
    // The client waits for five minutes without the report.
    clients.elicitation_complete(&next(&mut ids).await);
    let fetched = timeout(LIMIT, fetching).await.unwrap().unwrap();
    assert_eq!(fetched.unwrap().text(), "fetched");
    assert!(ids.try_recv().is_err(), "refused once");
}
