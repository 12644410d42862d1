//! A client and a server with a wire between them, in one process, and trouble on the wire.

mod fault;
mod http;
mod relay;
mod transcript;

use std::fmt;

use mcp::client::ClientBuilder;
use mcp::http::HttpChannel;
use mcp::prelude::*;
use mcp::stdio::{PipeChannel, StdioServer};
use mcp::{IntoServer, Result};
use tokio::io::{duplex, split};
use tokio::task::JoinHandle;

pub use fault::WireFault;
pub use transcript::Transcript;

/// How many bytes a pipe holds that nobody has read yet.
const ROOM: usize = 64 * 1024;

/// A client and a server with a wire between them: a pipe, or HTTP. No socket is opened, so time can
/// be paused (`tokio::time::pause`).
///
/// ```
/// # use mcp::prelude::*;
/// use mcp_testing::{WireFault, Pair};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"));
/// let pair = Pair::stdio(server)
///     .revision(ProtocolVersion::V2025_11_25)
///     .fault(WireFault::split())
///     .start()
///     .await?;
/// assert_eq!(pair.client.call("now", json!({})).await?.text(), "half past");
/// assert!(pair.transcript().to_string().contains(r#""method":"tools/call""#));
/// # Ok(())
/// # }
/// ```
#[must_use = "connects when `start` is awaited"]
pub struct Pair {
    wire: Wire,
    server: Server,
    client: ClientBuilder,
    answers: Vec<WireFault>,
    requests: Vec<WireFault>,
}

#[derive(Debug, Clone, Copy)]
enum Wire {
    Pipe,
    Http,
}

/// A pair that talks. Dropping it ends the server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Connected {
    /// The client.
    pub client: Client,
    transcript: Transcript,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Pair {
    /// A pair on a pipe, as between a program and the server that it has started.
    pub fn stdio(server: impl IntoServer) -> Self {
        Self::over(Wire::Pipe, server)
    }

    /// A pair that speaks Streamable HTTP: requests, headers, streams of events; all but sockets.
    pub fn http(server: impl IntoServer) -> Self {
        Self::over(Wire::Http, server)
    }

    fn over(wire: Wire, server: impl IntoServer) -> Self {
        Self {
            wire,
            server: server.into_server(),
            client: Client::builder(),
            answers: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Sets the revision that the two speak; else they find one.
    pub fn revision(mut self, version: ProtocolVersion) -> Self {
        self.client = self.client.mode(ConnectMode::Pin(version));
        self
    }

    /// Sets how the client is built; comes before [`revision`](Self::revision).
    pub fn client(mut self, client: ClientBuilder) -> Self {
        self.client = client;
        self
    }

    /// Adds trouble on the way from the server to the client.
    pub fn fault(mut self, fault: WireFault) -> Self {
        self.answers.push(fault);
        self
    }

    /// Adds trouble on the way from the client to the server of a pipe. Without effect over HTTP.
    pub fn fault_of_client(mut self, fault: WireFault) -> Self {
        self.requests.push(fault);
        self
    }

    /// Starts the server and connects.
    ///
    /// # Errors
    ///
    /// When the server has a mistake, or the trouble on the wire is too much.
    pub async fn start(self) -> Result<Connected> {
        self.server.check()?;
        let transcript = Transcript::default();
        match self.wire {
            Wire::Pipe => self.start_pipe(transcript).await,
            Wire::Http => {
                let endpoint = StreamableHttp::new(self.server);
                let service = http::InProcess::new(endpoint, self.answers, transcript.clone());
                let channel = HttpChannel::with_service("http://localhost/mcp", service)
                    .map_err(mcp::client::Error::from)?;
                Ok(Connected {
                    client: self.client.over(channel).await?,
                    transcript,
                    server: None,
                })
            }
        }
    }

    async fn start_pipe(self, transcript: Transcript) -> Result<Connected> {
        let (client, client_wire) = duplex(ROOM);
        let (server, server_wire) = duplex(ROOM);
        relay::join(
            client_wire,
            server_wire,
            self.requests,
            self.answers,
            &transcript,
        );
        let (reader, writer) = split(server);
        let server = tokio::spawn(StdioServer::new(self.server).serve(reader, writer));
        let (reader, writer) = split(client);
        let connected = self.client.over(PipeChannel::new(reader, writer)).await;
        if connected.is_err() {
            server.abort();
        }
        Ok(Connected {
            client: connected?,
            transcript,
            server: Some(server),
        })
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("wire", &self.wire)
            .field("answers", &self.answers)
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

impl Connected {
    /// All that was said until now.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Closes the client and waits for the end of a server on a pipe.
    ///
    /// # Errors
    ///
    /// When the server ended badly.
    pub async fn close(mut self) -> Result<()> {
        self.client.close().await?;
        if let Some(server) = self.server.take() {
            server.await.map_err(std::io::Error::from)??;
        }
        Ok(())
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}
