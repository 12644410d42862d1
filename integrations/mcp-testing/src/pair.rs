//! A client and a server in one process, connected by a transport with optional faults.

mod fault;
mod http;
mod messages;
mod relay;
mod transcript;

use std::fmt;

use mcp::client::{ClientBuilder, Error, Target};
use mcp::http::HttpChannel;
use mcp::prelude::*;
use mcp::stdio::{PipeChannel, StdioServer};
use mcp::{IntoServer, Over, Principal, Result};
use tokio::io::{duplex, split};
use tokio::task::JoinHandle;

pub use fault::WireFault;
pub use transcript::Transcript;

/// Capacity of each pipe in bytes.
const PIPE_CAPACITY: usize = 64 * 1024;

/// A builder of a client and a server that are connected by a pipe, by HTTP, or by a message transport. No socket is opened, so
/// that time can be paused (`tokio::time::pause`).
///
/// # Examples
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
///     .fault(WireFault::Split)
///     .connect()
///     .await?;
/// assert_eq!(pair.client.call("now", json!({})).await?.text(), "half past");
/// assert!(pair.transcript().to_string().contains(r#""method":"tools/call""#));
/// # Ok(())
/// # }
/// ```
#[must_use = "connects when `connect` is awaited"]
pub struct Pair {
    transport: Transport,
    server: Server,
    client: ClientBuilder,
    principal: Option<Principal>,
    /// The revision, if it is not negotiated.
    revision: Option<ProtocolVersion>,
    response_faults: Vec<WireFault>,
    request_faults: Vec<WireFault>,
}

#[derive(Debug, Clone, Copy)]
enum Transport {
    Pipe,
    Messages,
    Http,
}

/// A connected pair. Dropping it stops the server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Connected {
    /// The client.
    pub client: Client,
    transcript: Transcript,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Pair {
    /// Creates a pair on a pipe, like a client and its child process.
    pub fn stdio(server: impl IntoServer) -> Self {
        Self::new(Transport::Pipe, server)
    }

    /// Creates a pair that uses Streamable HTTP with requests, headers and event streams, but without
    /// sockets.
    pub fn http(server: impl IntoServer) -> Self {
        Self::new(Transport::Http, server)
    }

    /// Creates a pair on a [transport of messages](mcp::stdio::MessageTransport), like a websocket. A fault delays or
    /// changes whole messages.
    pub fn messages(server: impl IntoServer) -> Self {
        Self::new(Transport::Messages, server)
    }

    fn new(transport: Transport, server: impl IntoServer) -> Self {
        Self {
            transport,
            server: server.into_server(),
            client: Client::builder(),
            principal: None,
            revision: None,
            response_faults: Vec::new(),
            request_faults: Vec::new(),
        }
    }

    /// Sets the protocol revision. Default: negotiated, which selects 2026-07-28.
    pub fn revision(mut self, version: ProtocolVersion) -> Self {
        self.revision = Some(version);
        self
    }

    /// Sets the client's builder. Its mode holds unless [`revision`](Self::revision) sets another one.
    pub fn client(mut self, client: ClientBuilder) -> Self {
        self.client = client;
        self
    }

    /// Sets the caller, as if a token had been verified. Its scopes are checked. Default: none, so a server
    /// with routes that need scopes cannot start.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Adds a fault in the direction from the server to the client.
    pub fn fault(mut self, fault: WireFault) -> Self {
        self.response_faults.push(fault);
        self
    }

    /// Adds a fault in the direction from the client to the server. It does not apply to HTTP.
    pub fn request_fault(mut self, fault: WireFault) -> Self {
        self.request_faults.push(fault);
        self
    }

    /// Starts the server and connects.
    ///
    /// # Errors
    ///
    /// Returns an error when the server has a configuration mistake, when a route needs scopes and there is
    /// no [caller](Self::principal), or when a fault prevents the connection.
    pub async fn connect(mut self) -> Result<Connected, Error> {
        crate::connect::check(&self.server, self.principal.is_some())?;
        if let Some(revision) = self.revision {
            self.client = self.client.mode(ConnectMode::Pin(revision));
        }
        let transcript = Transcript::default();
        match self.transport {
            Transport::Pipe => self.connect_pipe(transcript).await,
            Transport::Messages => self.connect_messages(transcript).await,
            Transport::Http => {
                let service = http::InProcessService {
                    endpoint: StreamableHttp::new(self.server),
                    principal: self.principal,
                    faults: self.response_faults.into(),
                    transcript: transcript.clone(),
                };
                let channel = HttpChannel::with_service("http://localhost/mcp", service)?;
                Ok(Connected {
                    client: self.client.connect(channel).await?,
                    transcript,
                    server: None,
                })
            }
        }
    }

    async fn connect_pipe(self, transcript: Transcript) -> Result<Connected, Error> {
        let (client, client_peer) = duplex(PIPE_CAPACITY);
        let (server, server_peer) = duplex(PIPE_CAPACITY);
        relay::start(
            client_peer,
            server_peer,
            self.request_faults,
            self.response_faults,
            &transcript,
        );
        let (reader, writer) = split(server);
        let server = pipe_server(self.server, self.principal).run_over(reader, writer);
        let (reader, writer) = split(client);
        connect_to(
            self.client,
            Io(reader, writer),
            tokio::spawn(server),
            transcript,
        )
        .await
    }

    async fn connect_messages(self, transcript: Transcript) -> Result<Connected, Error> {
        let (client, server) =
            messages::pair(self.request_faults, self.response_faults, &transcript);
        let server = pipe_server(self.server, self.principal).run_over_messages(server);
        let target = Over(PipeChannel::from_messages(client));
        connect_to(self.client, target, tokio::spawn(server), transcript).await
    }
}

fn pipe_server(server: Server, principal: Option<Principal>) -> StdioServer {
    let server = StdioServer::new(server);
    match principal {
        Some(principal) => server.extension(principal),
        None => server,
    }
}

async fn connect_to(
    client: ClientBuilder,
    target: impl Target,
    server: JoinHandle<std::io::Result<()>>,
    transcript: Transcript,
) -> Result<Connected, Error> {
    let connected = client.connect(target).await;
    if connected.is_err() {
        server.abort();
    }
    Ok(Connected {
        client: connected?,
        transcript,
        server: Some(server),
    })
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("transport", &self.transport)
            .field("response_faults", &self.response_faults)
            .field("request_faults", &self.request_faults)
            .finish_non_exhaustive()
    }
}

impl Connected {
    /// Returns the messages that were sent so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Closes the client and waits for the end of a server on a pipe or on a message transport.
    ///
    /// # Errors
    ///
    /// Returns an error when the client cannot be closed or the server ended with an error.
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
