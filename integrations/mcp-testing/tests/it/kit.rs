//! A server with tools for most features, and clients for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::client::ClientBuilder;
use mcp::http::{Serve, Shutdown};
use mcp::prelude::*;
use tokio::net::TcpListener;

/// Counts running calls.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Running {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn start(&self) -> CallGuard {
        self.0.fetch_add(1, Ordering::SeqCst);
        CallGuard(self.0.clone())
    }

    /// Waits until exactly `count` calls run.
    pub(crate) async fn wait_for(&self, count: usize) {
        while self.count() != count {
            tokio::task::yield_now().await;
        }
    }
}

struct CallGuard(Arc<AtomicUsize>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Desk;

/// A desk.
#[mcp::server(name = "desk", version = "1.2.3", instructions = "Be polite.")]
impl Desk {
    /// Add two numbers.
    #[tool(read_only)]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    /// Count in steps.
    #[tool]
    async fn count(&self, to: u32, progress: Progress, log: Log) -> &'static str {
        log.info("counting");
        for step in 1..=to {
            progress
                .report(step.into(), to.into(), format!("step {step}"))
                .await;
        }
        "counted"
    }

    /// Never ends.
    #[tool]
    async fn wait(&self, State(running): State<Running>) {
        let _guard = running.start();
        std::future::pending().await
    }

    /// Panics.
    #[tool]
    fn panic(&self) {
        panic!("on purpose")
    }

    /// Returns the tenant header.
    #[tool]
    fn tenant(&self, headers: Option<Headers>) -> String {
        let name = headers.and_then(|headers| headers.get("x-tenant").cloned());
        name.map_or("none".to_owned(), |name| format!("{name:?}"))
    }

    /// Returns its argument.
    #[tool]
    fn echo(&self, text: String) -> String {
        text
    }
}

pub(crate) fn server(running: &Running) -> Server {
    Server::of(Desk).state(running.clone())
}

/// The connection between client and server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Connection {
    InProcess,
    Http,
}

pub(crate) const CONNECTIONS: [Connection; 2] = [Connection::InProcess, Connection::Http];

/// Starts a server and connects a client. Dropping the [`TestServer`] stops the server.
pub(crate) async fn connect(
    connection: Connection,
    running: &Running,
) -> (Client, Option<TestServer>) {
    connect_with(connection, server(running), Client::builder()).await
}

/// Connects a client with custom settings to `server`.
pub(crate) async fn connect_with(
    connection: Connection,
    server: Server,
    builder: ClientBuilder,
) -> (Client, Option<TestServer>) {
    match connection {
        Connection::InProcess => {
            let client = mcp_testing::connect_with(server, builder).await;
            (client.unwrap(), None)
        }
        Connection::Http => {
            let test_server = TestServer::start(StreamableHttp::new(server)).await;
            let client = builder.connect(test_server.url()).await;
            (client.unwrap(), Some(test_server))
        }
    }
}

/// A server on a free port.
pub(crate) struct TestServer {
    url: String,
    shutdown: Shutdown,
}

impl TestServer {
    pub(crate) async fn start(endpoint: StreamableHttp) -> Self {
        let shutdown = Shutdown::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serve = Serve::service(endpoint).shutdown_with(shutdown.clone());
        tokio::spawn(async move { serve.run(listener).await.unwrap() });
        Self { url, shutdown }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.close();
    }
}
