//! A node that is cut off from Redis.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use mcp_core::store::{SessionStore, TaskStore};
use mcp_core::{ChangeBus, ChangeEvent};
use mcp_redis::Redis;
use mcp_types::SubscriptionFilter;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::server::{RedisServer, eventually};
use crate::stores::record;

const PARTITION: Duration = Duration::from_secs(10);
const TTL: Duration = Duration::from_secs(60);

/// A network link that can be interrupted: connections stay open, and no byte passes.
pub(crate) struct Link {
    port: u16,
    pub(crate) is_cut: watch::Sender<bool>,
}

impl Link {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_cut, cut) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let cut = cut.clone();
                tokio::spawn(async move {
                    let _ = cut.clone().wait_for(|cut| !cut).await;
                    let server = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                    let ((from, to), (back, out)) = (client.into_split(), server.into_split());
                    tokio::join!(forward(from, out, cut.clone()), forward(back, to, cut));
                });
            }
        });
        Self { port, is_cut }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut cut: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let is_open = cut.wait_for(|cut| !cut).await.is_ok();
        if !is_open || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn node_that_was_cut_off_for_ten_seconds_fails_in_time_and_recovers() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let link = Link::start(server.port()).await;
    let cut_off = Redis::connect(&link.url()).await.unwrap().prefix("test");
    let cut_off = cut_off.timeout(Duration::from_millis(500));
    let other = server.connect().await;
    let (sessions, tasks, bus) = (cut_off.sessions(), cut_off.tasks(), cut_off.bus());
    let other_bus = other.bus();
    let filter = || SubscriptionFilter::new().tools_changed();
    let (here, there) = (bus.watch(filter()), other_bus.watch(filter()));
    assert!(sessions.insert("a", record("a"), TTL).await.unwrap());
    // Both nodes are subscribed.
    eventually("first change", async || {
        bus.publish(ChangeEvent::Tools);
        there.try_next().is_some()
    })
    .await;
    while here.try_next().is_some() {}

    link.is_cut.send(true).unwrap();
    let start = Instant::now();
    other_bus.publish(ChangeEvent::Tools);
    while start.elapsed() < PARTITION {
        let began = Instant::now();
        assert!(sessions.load("a").await.is_err());
        assert!(tasks.load("a").await.is_err());
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "{:?}",
            began.elapsed()
        );
        // The other node is not affected.
        let loaded = other.sessions().load("a").await.unwrap();
        assert_eq!(loaded, Some(record("a")));
    }
    assert!(here.try_next().is_none());
    bus.publish(ChangeEvent::Tools);
    assert!(here.try_next().is_some());
    while there.try_next().is_some() {}
    link.is_cut.send(false).unwrap();

    eventually("recovery", async || sessions.load("a").await.is_ok()).await;
    eventually("the missed change", async || here.try_next().is_some()).await;
    eventually("the change of the partition", async || {
        there.try_next().is_some()
    })
    .await;
    assert_eq!(tasks.load("a").await.unwrap(), None);
}
