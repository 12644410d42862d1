//! [`Client`]: the handle to one server, the state of its connection, and single requests over it.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `resource_subscriptions` | resource subscriptions of a legacy session |
//! | `observe` | observation of the messages that layers do not see |
//! | `attempt` | one request: encoding, sending, waiting for its response |
//! | `layered` | a request that passes through the client's layers |
//! | `notification_task` | the task that handles notifications |

pub(crate) mod attempt;
mod layered;
pub(crate) mod notification_task;
mod observe;
mod resource_subscriptions;

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::select;
#[cfg(feature = "auth")]
use mcp_auth::Authorizer;
use mcp_core::close_signal::CloseSignal;
use mcp_core::tower::Layers;
use mcp_core::{
    Channel, ClientContext, ClientProfile, ClientRequest, CloseReason, Connection, Observation,
    Omission, ServerIdentity, ServerNotification,
};
use mcp_types::meta::keys;
use mcp_types::{
    DiscoverResult, Implementation, InitializeResult, LoggingLevel, Meta, ProtocolVersion,
    RawObject, RequestId, ServerCapabilities,
};
use parking_lot::{Mutex, RwLock};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::error::{Error, ErrorKind};
use crate::inputs::{Asker, Inputs};
use crate::negotiation::Negotiation;
use crate::notifications::{Change, Events, NotificationQueue};
use crate::options::{CallIds, Timeouts};
use crate::results::{Cache, Omissions, ParamHeaderValues, ToolIndex};

pub(crate) use attempt::{Attempt, ReceivedReply};
pub(crate) use resource_subscriptions::ResourceSubscriptions;

/// Timeout of closing the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a server. Clones are cheap and share the connection.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
/// use serde_json::json;
///
/// # async fn example() -> mcp::Result<()> {
/// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
/// for tool in client.list_tools().await? {
///     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
/// }
/// let sum: f64 = client.call("add", json!({"a": 1, "b": 2})).await?.parse()?;
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<ClientInner>,
}

pub(crate) struct ClientInner {
    pub(crate) channel: Box<dyn Channel>,
    pub(crate) profile: ClientProfile,
    pub(crate) inputs: Inputs,
    pub(crate) max_input_rounds: usize,
    pub(crate) timeouts: Timeouts,
    /// The revisions that this client may use with this server.
    pub(crate) versions: Vec<ProtocolVersion>,
    pub(crate) state: RwLock<ConnectionState>,
    pub(crate) last_id: AtomicI64,
    pub(crate) call_ids: CallIds,
    /// Members for every request's `_meta`.
    pub(crate) meta: Meta,
    pub(crate) closing: CloseSignal<CloseReason>,
    pub(crate) cache: Cache,
    /// The server of cached results.
    pub(crate) identity: ServerIdentity,
    /// The owner of private responses in the cache.
    pub(crate) principal: Box<str>,
    pub(crate) events: Events,
    pub(crate) tools: ToolIndex,
    pub(crate) omissions: Omissions,
    /// Timeout of `server/discover` on a pipe.
    pub(crate) probe_timeout: Duration,
    /// The task that handles a legacy session's messages.
    pub(crate) dispatcher: Mutex<Option<AbortOnDropHandle<()>>>,
    /// Held while an expired session is replaced.
    pub(crate) renewal: tokio::sync::Mutex<()>,
    pub(crate) resource_subscriptions: ResourceSubscriptions,
    /// Each request of a legacy server that a handler is answering has a clone.
    pub(crate) open_requests: Arc<()>,
    /// Layers around calls and notifications of the client.
    pub(crate) layers: Layers,
    pub(crate) notifications: NotificationQueue,
    /// The connection as observers see it.
    pub(crate) connection: OnceLock<Option<Connection>>,
    /// The observation of the present session.
    pub(crate) observed_session: Mutex<Option<Box<dyn Observation>>>,
    #[cfg(feature = "auth")]
    pub(crate) authorizer: Option<Authorizer>,
}

/// The negotiated and configured state of a connection.
pub(crate) struct ConnectionState {
    pub(crate) version: ProtocolVersion,
    pub(crate) server: Option<Arc<ServerInfo>>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) negotiation: Arc<Negotiation>,
    /// The number of the session. It grows with every new session.
    pub(crate) session_number: u64,
}

/// The description that a server returns from `server/discover` or `initialize`.
#[derive(Debug)]
pub(crate) struct ServerInfo {
    pub(crate) info: Option<Implementation>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
}

impl From<DiscoverResult> for ServerInfo {
    fn from(result: DiscoverResult) -> Self {
        Self {
            info: result.meta.and_then(|meta| meta.get(keys::SERVER_INFO)),
            capabilities: result.capabilities,
            instructions: result.instructions,
        }
    }
}

impl From<InitializeResult> for ServerInfo {
    fn from(result: InitializeResult) -> Self {
        Self {
            info: Some(result.server_info),
            capabilities: result.capabilities,
            instructions: result.instructions,
        }
    }
}

impl ClientInner {
    // spec: BASE-05
    pub(crate) fn next_id(&self) -> i64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn version(&self) -> ProtocolVersion {
        self.state.read().version
    }

    /// Returns true while a handler is answering a request of a legacy server.
    pub(crate) fn has_open_requests(&self) -> bool {
        Arc::strong_count(&self.open_requests) > 1
    }

    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.state.read().log_level
    }

    pub(crate) fn session_number(&self) -> u64 {
        self.state.read().session_number
    }

    pub(crate) fn server(&self) -> Option<Arc<ServerInfo>> {
        self.state.read().server.clone()
    }

    /// Returns this client as its layers see it.
    pub(crate) fn facts(&self) -> Arc<ClientContext> {
        let mut facts = ClientContext::new(self.version());
        facts.capabilities.clone_from(&self.profile.capabilities);
        Arc::new(facts)
    }

    /// Returns the origin of a message that belongs to no call.
    pub(crate) fn asker(&self) -> Arc<Asker> {
        Arc::new(Asker {
            server: self.channel.peer().into_owned(),
            info: self.server().and_then(|server| server.info.clone()),
            method: None,
            item: None,
        })
    }

    /// Passes an extension notification to its readers and its handler. Returns false if it has no handler. Inbound
    /// layers come before both.
    pub(crate) fn handle_custom(&self, method: &str, params: Option<&RawObject>) -> bool {
        let is_handled = self.notifications.push_custom(method, params);
        let is_layered = is_handled && !self.inputs.layers.is_empty();
        if !is_layered && self.events.has_readers() {
            self.events.publish(&ServerNotification::Other {
                method: method.into(),
                params: params.cloned(),
            });
        }
        is_handled
    }

    /// Handles a notification that belongs to no call.
    pub(crate) fn handle_notification(&self, notification: ServerNotification) {
        self.events.publish(&notification);
        match notification {
            ServerNotification::Other { method, params }
                if self.notifications.push_custom(&method, params.as_ref()) => {}
            ServerNotification::ElicitationComplete(completed) => {
                let elicitations = &self.inputs.url_elicitations;
                elicitations.complete(&completed.elicitation_id);
            }
            notification => {
                if let Some(change) = Change::from_notification(notification) {
                    self.handle_change(change);
                }
            }
        }
    }

    /// Invalidates the cache and notifies subscribers.
    pub(crate) fn handle_change(&self, change: Change) {
        self.cache.invalidate(self.identity, &change);
        // An error means that there is no subscriber.
        let _ = self.events.changes.send(change);
    }

    /// Returns the members for the `_meta` of a request: those of the client, and `own` of the call, which win.
    pub(crate) fn request_meta<'m>(&'m self, own: Option<&'m Meta>) -> Option<Cow<'m, Meta>> {
        let Some(own) = own.filter(|own| !own.is_empty()) else {
            return Some(Cow::Borrowed(&self.meta)).filter(|meta| !meta.is_empty());
        };
        if self.meta.is_empty() {
            return Some(Cow::Borrowed(own));
        }
        let all = self.meta.iter().chain(&**own);
        let all = all.map(|(key, value)| (key.clone(), value.clone()));
        Some(Cow::Owned(all.collect()))
    }

    /// Returns whether arguments of tools are mirrored in HTTP headers.
    // spec: XHDR-10, HTTP-C-10
    pub(crate) fn mirrors_arguments(&self, version: ProtocolVersion) -> bool {
        version.is_modern() && self.channel.mirrors_arguments()
    }

    /// Returns the arguments of a request that headers mirror.
    pub(crate) fn mirrored_params(
        &self,
        request: &ClientRequest,
        version: ProtocolVersion,
    ) -> ParamHeaderValues {
        if self.mirrors_arguments(version) {
            self.tools.params(request)
        } else {
            ParamHeaderValues::new()
        }
    }

    pub(crate) fn update_state(&self, update: impl FnOnce(&mut ConnectionState)) {
        update(&mut self.state.write());
    }
}

impl Client {
    /// Returns whether this client accepts tasks as results of tool calls.
    // spec: TASK-01
    pub(crate) fn declares_tasks(&self) -> bool {
        let declared = &self.inner.profile.capabilities;
        declared.has_extension(keys::TASKS_EXTENSION)
    }

    /// Returns true if the connection is a pipe, such as a child process's streams: one stream carries the
    /// messages of all calls, and extension notifications do not say which call they belong to.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> mcp::Result<()> {
    /// use mcp::prelude::*;
    ///
    /// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
    /// assert!(!client.is_pipe());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_pipe(&self) -> bool {
        self.inner.channel.is_pipe()
    }

    /// Returns the server's address, as errors show it: its URL without credentials, its command, or a
    /// word for a server in this process.
    pub fn peer(&self) -> Cow<'_, str> {
        self.inner.channel.peer()
    }

    /// Returns this connection's protocol revision.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.inner.version()
    }

    /// Returns the server's name and version as the server reports them. `None` when it does not
    /// report them, or was not queried: see [`ConnectMode::Pin`](crate::ConnectMode::Pin).
    // spec: VER-08
    pub fn server_info(&self) -> Option<Implementation> {
        self.inner.server()?.info.clone()
    }

    /// Returns the server's capabilities, or `None` when it was not queried.
    pub fn server_capabilities(&self) -> Option<ServerCapabilities> {
        let server = self.inner.server()?;
        Some(server.capabilities.clone())
    }

    /// Returns the server's instructions for a language model.
    pub fn instructions(&self) -> Option<String> {
        self.inner.server()?.instructions.clone()
    }

    /// Waits until the server reports that the user has finished at the elicitation `id`'s URL. Reports that came
    /// before this function was called do not count. For gateways, which pass elicitations on: a handler has
    /// [`UrlRequest::completed`](crate::UrlRequest::completed).
    // spec: ELIC-10
    pub fn elicitation_completed(&self, id: &str) -> impl Future<Output = ()> + Send + use<> {
        let elicitation = self.inner.inputs.url_elicitations.get_or_insert(Some(id));
        async move { elicitation.closed().await }
    }

    /// Cancels the call with this [id](crate::PreparedCall::id), as
    /// [`cancel_on`](crate::PreparedCall::cancel_on) does: the server is told, and awaiting the call returns an error
    /// with [`is_cancelled`](Error::is_cancelled). A call that was not started yet is not sent. Returns false, and
    /// does nothing, if no call of this client and its clones with this id is prepared or running.
    pub fn cancel(&self, id: &RequestId) -> bool {
        self.inner.call_ids.cancel(id)
    }

    /// Returns what the client has left out of the latest lists because it is malformed or repeated: items, unreadable
    /// members, pages. At most 1,000 are kept. [`omission_events`](Self::omission_events) reports each of them once.
    pub fn omissions(&self) -> Vec<Omission> {
        self.inner.omissions.present()
    }

    /// Waits for the end of the connection and returns its reason. Over HTTP in revision 2026-07-28
    /// each call has its own connection, so this waits until the client is [closed](Self::close).
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

    /// Returns the reason if the connection has ended. `None` does not guarantee that the next call
    /// succeeds.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.closed().now_or_never()
    }

    /// Closes the connection and the session, if there is one. Running and later calls of all clones
    /// fail.
    ///
    /// # Errors
    ///
    /// Returns a [timeout](Error::is_timeout) when closing takes longer than 5 seconds, and an error when the
    /// server cannot be reached or refuses to end its session. This client is closed nevertheless; the server
    /// ends the session when it expires. A server that has ended the session already, or lets clients end
    /// none (status 404 or 405), is not an error.
    pub async fn close(&self) -> Result<(), Error> {
        self.inner.closing.close(CloseReason::Local);
        self.inner.end_observed_session();
        let closing = self.inner.channel.close();
        match timeout(CLOSE_TIMEOUT, closing).await {
            Ok(closed) => closed.map_err(Into::into),
            Err(_) => Err(ErrorKind::TimedOut(CLOSE_TIMEOUT).into()),
        }
    }

    /// Removes all results from the cache, also those of other clients that share it.
    #[cfg(feature = "auth")]
    pub(crate) fn clear_cache(&self) {
        self.inner.cache.clear();
    }

    /// Returns the record of version negotiation, for logs and for
    /// [`ConnectMode::Prior`](crate::ConnectMode::Prior).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) {
    /// println!("{}", client.negotiation());
    /// // server/discover (2026-07-28): method not found; initialize (2025-11-25): 2025-06-18; …
    /// # }
    /// ```
    pub fn negotiation(&self) -> Arc<Negotiation> {
        self.inner.state.read().negotiation.clone()
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
