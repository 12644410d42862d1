//! The handle to one server, and what is known of it.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use futures_util::future::select;
use mcp_core::wire::Wire;
use mcp_core::{Channel, ClientProfile, CloseReason};
use mcp_types::{
    DiscoverResult, Implementation, LoggingLevel, ProtocolVersion, ServerCapabilities,
};
use tokio::time::timeout;

use crate::clock::Timeouts;
use crate::closing::Closing;
use crate::error::Kind;
use crate::events::Events;
use crate::inputs::Inputs;
use crate::tool_index::ToolIndex;
use crate::{Cache, ClientBuilder, Error};

/// How long the end of a connection may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// A connection to a server. Cheap to clone; clones share everything.
///
/// # Examples
///
/// ```no_run
/// use futures_util::TryStreamExt as _;
/// use mcp_client::Client;
/// use mcp_transport_http::HttpChannel;
/// use serde_json::json;
///
/// # async fn example() -> Result<(), mcp_client::Error> {
/// let client = Client::over(HttpChannel::new("http://127.0.0.1:8000/mcp")?).await?;
/// let mut tools = client.list_tools();
/// while let Some(tool) = tools.try_next().await? {
///     println!("{}: {}", tool.name, tool.description());
/// }
/// let sum: f64 = client.call("add", json!({"a": 1, "b": 2})).await?.parse()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) wire: &'static dyn Wire,
    pub(crate) profile: ClientProfile,
    pub(crate) inputs: Inputs,
    pub(crate) input_rounds: usize,
    pub(crate) timeouts: Timeouts,
    /// The revisions that this client may speak to this server.
    pub(crate) spoken: Vec<ProtocolVersion>,
    pub(crate) known: RwLock<Known>,
    pub(crate) last_id: AtomicI64,
    pub(crate) closing: Closing,
    pub(crate) cache: Cache,
    /// Whose private answers those in the cache are.
    pub(crate) principal: Box<str>,
    pub(crate) events: Events,
    pub(crate) tools: ToolIndex,
}

/// What was learned from the server.
pub(crate) struct Known {
    pub(crate) version: ProtocolVersion,
    pub(crate) server: Option<Arc<DiscoverResult>>,
    pub(crate) log_level: Option<LoggingLevel>,
}

impl Inner {
    // spec: BASE-05
    pub(crate) fn next_id(&self) -> i64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn version(&self) -> ProtocolVersion {
        self.known().version
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.known().log_level
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn(&self, learn: impl FnOnce(&mut Known)) {
        learn(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Client {
    /// Settings to connect with, all of which have defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects over a channel, with the defaults of [`Client::builder`].
    ///
    /// # Errors
    ///
    /// See [`ClientBuilder::over`].
    pub async fn over(channel: impl Channel) -> Result<Self, Error> {
        Self::builder().over(channel).await
    }

    /// The revision that calls speak.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.inner.version()
    }

    /// Who the server says it is. `None` when it does not say, or when nobody has asked it: see
    /// [`ConnectMode::Pin`](crate::ConnectMode::Pin).
    // spec: VER-08
    pub fn server_info(&self) -> Option<Implementation> {
        self.server()?.server_info()
    }

    /// What the server offers; `None` when nobody has asked it.
    pub fn server_capabilities(&self) -> Option<ServerCapabilities> {
        self.server().map(|server| server.capabilities.clone())
    }

    /// How to use the server, for a language model.
    pub fn instructions(&self) -> Option<String> {
        self.server()?.instructions.clone()
    }

    /// Waits for the end of the connection and tells its reason. For ever where each call has a
    /// connection of its own, unless the client is [closed](Self::close).
    pub async fn closed(&self) -> CloseReason {
        let inner = &self.inner;
        if let Some(reason) = inner.closing.reason() {
            return reason;
        }
        let (reason, _) = select(inner.channel.closed(), pin!(inner.closing.wait()))
            .await
            .factor_first();
        inner.closing.close(reason.clone());
        reason
    }

    /// Ends the connection, and the session where there is one. Running calls fail, and so does
    /// every later one, of all clones of this client.
    ///
    /// # Errors
    ///
    /// [`Error::is_timeout`] when the other side could not be told within 5 seconds.
    pub async fn close(&self) -> Result<(), Error> {
        self.inner.closing.close(CloseReason::Here);
        let closing = self.inner.channel.close();
        timeout(CLOSE_LIMIT, closing)
            .await
            .map_err(|_| Kind::TimedOut(CLOSE_LIMIT).into())
    }

    fn server(&self) -> Option<Arc<DiscoverResult>> {
        self.inner.known().server.clone()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.inner.channel.peer())
            .field("version", &self.protocol_version())
            .finish_non_exhaustive()
    }
}
