//! The handle to one server, and what is known of it.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::select;
use futures_util::{FutureExt, stream};
use mcp_core::close_signal::CloseSignal;
use mcp_core::wire::{self, ClientWire};
use mcp_core::{Channel, ClientProfile, ClientRequest, CloseReason, ServerNotification};
use mcp_types::{
    DiscoverResult, Implementation, InitializeResult, LogMessage, LoggingLevel, ProtocolVersion,
    ServerCapabilities,
};
use parking_lot::{Mutex, RwLock};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::change::Change;
use crate::clock::Timeouts;
use crate::error::Kind;
use crate::events::Events;
use crate::inputs::Inputs;
use crate::negotiation::Negotiation;
use crate::tool_index::{DroppedTool, Params, ToolIndex};
use crate::watched::Watched;
use crate::{Cache, Error};

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
    pub(crate) profile: ClientProfile,
    pub(crate) inputs: Inputs,
    pub(crate) input_rounds: usize,
    pub(crate) timeouts: Timeouts,
    /// The revisions that this client may speak to this server.
    pub(crate) spoken: Vec<ProtocolVersion>,
    pub(crate) known: RwLock<Known>,
    pub(crate) last_id: AtomicI64,
    pub(crate) closing: CloseSignal<CloseReason>,
    pub(crate) cache: Cache,
    /// Whose private answers those in the cache are.
    pub(crate) principal: Box<str>,
    pub(crate) events: Events,
    pub(crate) tools: ToolIndex,
    /// How long a server on a pipe may be silent when it is asked what it speaks.
    pub(crate) probe_timeout: Duration,
    pub(crate) dispatcher: Dispatching,
    pub(crate) renewing: tokio::sync::Mutex<()>,
    pub(crate) watched: Watched,
    pub(crate) questions: Questions,
}

/// The task that listens to a session; it ends with this.
#[derive(Debug, Default)]
pub(crate) struct Dispatching(Mutex<Option<AbortHandle>>);

impl Dispatching {
    pub(crate) fn replace(&self, task: AbortHandle) {
        let mut current = self.0.lock();
        if let Some(former) = current.replace(task) {
            former.abort();
        }
    }
}

impl Drop for Dispatching {
    fn drop(&mut self) {
        let current = self.0.get_mut();
        if let Some(task) = current.take() {
            task.abort();
        }
    }
}

/// Questions of a session that somebody thinks about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions(Arc<AtomicUsize>);

impl Questions {
    /// One more, until the guard is dropped.
    pub(crate) fn begin(&self) -> impl Drop + Send + use<> {
        struct Open(Questions);
        impl Drop for Open {
            fn drop(&mut self) {
                self.0.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        Open(self.clone())
    }

    pub(crate) fn are_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// What was learned from the server.
pub(crate) struct Known {
    pub(crate) version: ProtocolVersion,
    pub(crate) server: Option<Arc<ServerFacts>>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) negotiation: Arc<Negotiation>,
    /// Grows with every session.
    pub(crate) session: u64,
}

/// What a server said of itself, in either era.
#[derive(Debug)]
pub(crate) struct ServerFacts {
    pub(crate) info: Option<Implementation>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
}

impl From<DiscoverResult> for ServerFacts {
    fn from(found: DiscoverResult) -> Self {
        Self {
            info: found.server_info(),
            capabilities: found.capabilities,
            instructions: found.instructions,
        }
    }
}

impl From<InitializeResult> for ServerFacts {
    fn from(opened: InitializeResult) -> Self {
        Self {
            info: Some(opened.server_info),
            capabilities: opened.capabilities,
            instructions: opened.instructions,
        }
    }
}

impl Inner {
    // spec: BASE-05
    pub(crate) fn next_id(&self) -> i64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn version(&self) -> ProtocolVersion {
        self.known.read().version
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.known.read().log_level
    }

    /// The wire of the revision that is spoken.
    pub(crate) fn wire(&self) -> &'static dyn ClientWire {
        wire::client_for_version(self.version())
    }

    /// The number of the session.
    pub(crate) fn session(&self) -> u64 {
        self.known.read().session
    }

    pub(crate) fn server(&self) -> Option<Arc<ServerFacts>> {
        self.known.read().server.clone()
    }

    /// Takes a notification that belongs to no call, or to none in particular.
    pub(crate) fn hear(&self, note: ServerNotification) {
        match note {
            ServerNotification::Log(message) => self.events.log(&message),
            ServerNotification::ElicitationComplete(over) => {
                self.inputs.visits.complete(&over.elicitation_id);
            }
            note => {
                if let Some(change) = Change::of(note) {
                    self.hear_change(change);
                }
            }
        }
    }

    pub(crate) fn hear_change(&self, change: Change) {
        self.cache.invalidate(&self.channel.peer(), &change);
        self.events.change(change);
    }

    /// Whether headers repeat arguments on the way to the server.
    // spec: XHDR-10, HTTP-C-10
    pub(crate) fn mirrors_arguments(&self, version: ProtocolVersion) -> bool {
        version.is_modern() && self.channel.mirrors_arguments()
    }

    /// The arguments of a call that headers repeat.
    pub(crate) fn params(&self, asked: &ClientRequest, version: ProtocolVersion) -> Params {
        match self.mirrors_arguments(version) {
            true => self.tools.params(asked),
            false => Params::new(),
        }
    }

    pub(crate) fn learn(&self, learn: impl FnOnce(&mut Known)) {
        learn(&mut self.known.write());
    }
}

impl Client {
    /// The revision that calls speak.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.inner.version()
    }

    /// Who the server says it is. `None` when it does not say, or when nobody has asked it: see
    /// [`ConnectMode::Pin`](crate::ConnectMode::Pin).
    // spec: VER-08
    pub fn server_info(&self) -> Option<Implementation> {
        self.inner.server()?.info.clone()
    }

    /// What the server offers; `None` when nobody has asked it.
    pub fn server_capabilities(&self) -> Option<ServerCapabilities> {
        let server = self.inner.server()?;
        Some(server.capabilities.clone())
    }

    /// How to use the server, for a language model.
    pub fn instructions(&self) -> Option<String> {
        self.inner.server()?.instructions.clone()
    }

    /// The log messages of the server from now on, of all calls. Say how many there should be with
    /// [`log_level`](crate::ClientBuilder::log_level).
    ///
    /// A listener that falls behind by more than 256 messages loses the oldest ones.
    pub fn logs(&self) -> impl Stream<Item = LogMessage> + Send + Unpin + use<> {
        let messages = self.inner.events.logs();
        Box::pin(stream::unfold(messages, |mut messages| async move {
            loop {
                match messages.recv().await {
                    Ok(message) => return Some((message, messages)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        }))
    }

    /// The tools that were listed and left out, because their definitions are invalid.
    // spec: XHDR-08
    pub fn dropped_tools(&self) -> Vec<DroppedTool> {
        self.inner.tools.dropped()
    }

    /// Waits for the end of the connection and tells its reason. For ever where each call has a
    /// connection of its own, unless the client is [closed](Self::close).
    pub async fn closed(&self) -> CloseReason {
        let inner = &self.inner;
        if let Some(reason) = inner.closing.reason() {
            return reason;
        }
        let (reason, _) = select(inner.channel.closed(), pin!(inner.closing.closed()))
            .await
            .factor_first();
        inner.closing.close(reason.clone());
        reason
    }

    /// Why the connection has ended, if it has. A connection that seems to be there may still have
    /// ended by the time of the next call.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.closed().now_or_never()
    }

    /// Ends the connection, and the session where there is one. Running calls fail, and so does
    /// every later one, of all clones of this client.
    ///
    /// # Errors
    ///
    /// [`Error::is_timeout`] when the other side could not be told within 5 seconds.
    pub async fn close(&self) -> Result<(), Error> {
        self.inner.closing.close(CloseReason::Local);
        let closing = self.inner.channel.close();
        timeout(CLOSE_LIMIT, closing)
            .await
            .map_err(|_| Kind::TimedOut(CLOSE_LIMIT).into())
    }

    /// How the two sides came to speak the revision that they speak: for logs, and to be kept.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp_client::Client) {
    /// println!("{}", client.negotiation());
    /// // server/discover (2026-07-28): method not found; initialize (2025-11-25): 2025-06-18; …
    /// # }
    /// ```
    pub fn negotiation(&self) -> Arc<Negotiation> {
        self.inner.known.read().negotiation.clone()
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
