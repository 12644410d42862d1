//! A server with a bit of everything, and the ways to reach it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::client::ClientBuilder;
use mcp::http::{Serve, Shutdown};
use mcp::prelude::*;

/// Counts calls that run, so that tests see them end.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Running {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::SeqCst);
        Entered(self.0.clone())
    }

    /// Waits until so many calls run.
    pub(crate) async fn reach(&self, count: usize) {
        while self.count() != count {
            tokio::task::yield_now().await;
        }
    }
}

struct Entered(Arc<AtomicUsize>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Desk;

/// A desk.
#[mcp::server(name = "desk", version = "1.2.3", instructions = "Ask nicely.")]
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
        let _entered = running.enter();
        std::future::pending().await
    }

    /// Breaks.
    #[tool]
    fn panic(&self) {
        panic!("on purpose")
    }

    /// Says who asks.
    #[tool]
    fn tenant(&self, headers: Option<Headers>) -> String {
        let name = headers.and_then(|headers| headers.get("x-tenant").cloned());
        name.map_or("nobody".to_owned(), |name| format!("{name:?}"))
    }

    /// Says it again.
    #[tool]
    fn echo(&self, text: String) -> String {
        text
    }
}

pub(crate) fn server(running: &Running) -> Server {
    Server::of(Desk).state(running.clone())
}

/// How a client reaches the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    InProcess,
    Http,
}

/// Both ways.
pub(crate) const WAYS: [Way; 2] = [Way::InProcess, Way::Http];

/// A client of a server of its own. The server ends with the guard.
pub(crate) async fn connect(way: Way, running: &Running) -> (Client, Option<Listening>) {
    connect_with(way, server(running), Client::builder()).await
}

/// A client with settings of its own.
pub(crate) async fn connect_with(
    way: Way,
    server: Server,
    builder: ClientBuilder,
) -> (Client, Option<Listening>) {
    match way {
        Way::InProcess => {
            let client = mcp_testing::connect_with(server, builder).await;
            (client.unwrap(), None)
        }
        Way::Http => {
            let listening = Listening::start(StreamableHttp::new(server)).await;
            let client = builder.connect(listening.url()).await;
            (client.unwrap(), Some(listening))
        }
    }
}

/// A server on a port of its own.
pub(crate) struct Listening {
    url: String,
    shutdown: Shutdown,
}

impl Listening {
    pub(crate) async fn start(endpoint: StreamableHttp) -> Self {
        let shutdown = Shutdown::new();
        let serve = Serve::bind("127.0.0.1:0", endpoint).await.unwrap();
        let url = format!("http://{}/mcp", serve.local_addr().unwrap());
        let serve = serve.shutdown_with(shutdown.clone());
        tokio::spawn(async move { serve.await.unwrap() });
        Self { url, shutdown }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shutdown.close();
    }
}
