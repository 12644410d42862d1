//! The client of the facade in legacy sessions, against the server of this crate.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::future::join_all;
use mcp::{Change, Client, ConnectMode};
use mcp_core::store::MemoryEventStore;
use mcp_core::{
    BoxFuture, ChangeEvent, Changes, Exchange, MemoryBus, Reply, ServerProfile, Service,
};
use mcp_transport_http::StreamableHttp;
use mcp_types::{Implementation, ProtocolVersion, ServerCapabilities};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use crate::support::{dual_endpoint, start, text, within};

/// A server whose lists change.
struct Changing(Changes);

impl Service for Changing {
    fn profile(&self) -> Arc<ServerProfile> {
        let offers = ServerCapabilities::default()
            .with_tools(true)
            .with_resources(true, true);
        let mut profile = ServerProfile::new(Implementation::new("test", "1"));
        profile.capabilities = offers;
        profile.versions = ProtocolVersion::ALL.into();
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(std::future::ready(text("done")))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.clone())
    }
}

/// A TCP proxy that can cut all connections and hold new ones.
struct Proxy {
    addr: SocketAddr,
    cuts: watch::Sender<()>,
    holds: watch::Sender<bool>,
    /// Notified of each new connection.
    accepted: Arc<Notify>,
}

impl Proxy {
    async fn start(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            addr: listener.local_addr().unwrap(),
            cuts: watch::Sender::new(()),
            holds: watch::Sender::new(false),
            accepted: Arc::default(),
        };
        let (cuts, holds) = (proxy.cuts.clone(), proxy.holds.clone());
        let accepted = Arc::clone(&proxy.accepted);
        tokio::spawn(async move {
            while let Ok((mut downstream, _)) = listener.accept().await {
                let (mut cut, mut held) = (cuts.subscribe(), holds.subscribe());
                if *held.borrow() {
                    accepted.notify_one();
                }
                tokio::spawn(async move {
                    held.wait_for(|held| !held).await.unwrap();
                    let mut upstream = TcpStream::connect(upstream).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut downstream, &mut upstream) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        proxy
    }
}

async fn subscribe_during_interruption(version: ProtocolVersion, stores_events: bool) {
    let changes = Changes::from(Arc::new(MemoryBus::default()));
    let mut endpoint = StreamableHttp::new(Changing(changes.clone()));
    if stores_events {
        endpoint = endpoint.events(Arc::new(MemoryEventStore::new()));
    }
    let server = start(endpoint, |serve| serve).await;
    let proxy = Proxy::start(server.addr).await;
    let client = Client::builder().mode(ConnectMode::Pin(version));
    let client = client.connect(format!("http://{}/mcp", proxy.addr));
    let client = within(client).await.unwrap();

    proxy.holds.send_replace(true);
    proxy.cuts.send_replace(());
    // The client opens its stream again.
    within(proxy.accepted.notified()).await;
    changes.publish(ChangeEvent::Tools);
    let subscribe = client.changes().tools_changed().resources_changed();
    let mut subscribe = subscribe.into_future();
    let case = format!("{version}, stores events: {stores_events}");
    assert!(futures::poll!(&mut subscribe).is_pending(), "{case}");
    proxy.holds.send_replace(false);
    let mut subscription = within(subscribe).await.unwrap();
    changes.publish(ChangeEvent::Resources);
    let change = within(subscription.next()).await.unwrap().unwrap();
    assert_eq!(change, Change::Resources, "{case}");
}

#[tokio::test]
async fn subscription_during_interruption_reports_later_changes_only() {
    // spec: SUB-14
    let versions = ProtocolVersion::ALL.iter().copied();
    let cases = versions
        .filter(|version| !version.is_modern())
        .flat_map(|version| [(version, false), (version, true)]);
    join_all(cases.map(|(version, stores)| subscribe_during_interruption(version, stores))).await;
}

#[tokio::test]
async fn running_call_of_ended_session_is_not_repeated() {
    let runs = Arc::new(AtomicUsize::new(0));
    let started = Arc::new(Notify::new());
    let (counter, notify) = (Arc::clone(&runs), Arc::clone(&started));
    let endpoint = dual_endpoint(move |_| {
        let first = counter.fetch_add(1, Ordering::Relaxed) == 0;
        notify.notify_one();
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            text("done")
        }
    });
    let server = start(endpoint.clone(), |serve| serve).await;
    let client = Client::builder().mode(ConnectMode::Legacy);
    let client = client.connect(format!("http://{}/mcp", server.addr));
    let client = within(client.into_future()).await.unwrap();
    let end = async {
        started.notified().await;
        endpoint.close_all();
    };
    let (result, ()) = within(async { tokio::join!(client.call("pay", ()), end) }).await;
    let error = result.unwrap_err();
    assert!(error.may_have_run() && error.is_closed(), "{error}");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    // The next call opens another session.
    let result = within(client.call("pay", ()).into_future()).await.unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}
