//! Messages of extensions that the gateway does not know, and notifications of them that a server sends to all clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcp_client::Change;
use mcp_core::{ClientContext, Extensions, Fault};
use mcp_server::{CallContext, Caller, FromCall, Method, RawExtension, Rejection, RequestError};
use mcp_types::RawObject;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use crate::calls::failure::CallFailure;
use crate::calls::request::Request;
use crate::calls::server_info;
use crate::calls::upstream::{Directory, Upstream};
use crate::sessions::broadcast::Broadcast;
use crate::sessions::lease::Lease;

/// The kind of audit entries.
const KIND: &str = "extension";

/// An extension, and the server that has it.
#[derive(Clone)]
pub(crate) struct ExtensionOwner {
    directory: Directory,
    server: Arc<str>,
    id: Arc<str>,
}

impl ExtensionOwner {
    pub(crate) fn new(directory: Directory, server: Arc<str>, id: String) -> Self {
        Self {
            directory,
            server,
            id: id.into(),
        }
    }

    /// The extension as the gateway publishes it.
    pub(crate) fn extension(self, settings: &Value) -> RawExtension {
        let (requests, notifications) = (self.clone(), self.clone());
        RawExtension::new(&*self.id, settings)
            .requests(
                self.clone().matches(),
                move |params: RawObject,
                      Method(method): Method,
                      caller: CallerContext,
                      request: Request| {
                    let owner = requests.clone();
                    async move {
                        let upstream = owner.find_visible(&method, &caller)?;
                        pass_request(&upstream, &method, params, &request).await
                    }
                },
            )
            .notifications(
                self.matches(),
                move |params: RawObject,
                      Method(method): Method,
                      caller: CallerContext,
                      request: Request| {
                    let owner = notifications.clone();
                    async move {
                        let upstream = owner.find_visible(&method, &caller)?;
                        owner
                            .pass_notification(&upstream, &method, params, &request)
                            .await
                    }
                },
            )
    }

    fn matches(self) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        move |method| self.find(method).is_some()
    }

    /// Returns the server that handles a method, with its current settings.
    fn find(&self, method: &str) -> Option<Arc<Upstream>> {
        let upstream = self.directory.find(&self.server)?;
        let is_own = upstream.settings.extensions.find(method) == Some(&*self.id);
        is_own.then_some(upstream)
    }

    /// Returns the server that handles a method. For a caller that does not see the server, the method is unknown.
    fn find_visible(
        &self,
        method: &str,
        caller: &CallerContext,
    ) -> Result<Arc<Upstream>, RequestError> {
        let CallerContext { facts, extensions } = caller;
        self.find(method)
            .filter(|upstream| {
                let caller = Caller::new(facts, extensions);
                upstream.settings.is_visible(None, &caller)
            })
            .ok_or_else(|| RequestError::fault(Fault::no_such_method(method)))
    }

    /// Passes a notification on, if its client declares the extension.
    async fn pass_notification(
        &self,
        upstream: &Arc<Upstream>,
        method: &str,
        params: RawObject,
        request: &Request,
    ) -> Result<(), RequestError> {
        if !request.caller.facts.capabilities.has_extension(&self.id) {
            return Ok(());
        }
        let sent = pass_notification(upstream, method, params, request);
        let sent = upstream.audited(&request.caller.key, KIND, method, sent);
        sent.await.map_err(RequestError::fault)
    }
}

/// Sends a notification as a call of this client would be sent. A legacy server that knows the caller receives it in a
/// session of the caller, any other one in the session that calls share.
async fn pass_notification(
    upstream: &Arc<Upstream>,
    method: &str,
    params: RawObject,
    request: &Request,
) -> Result<(), CallFailure> {
    let _in_use = upstream.usage.begin();
    let capabilities = upstream.capabilities(&request.caller.facts, true);
    let key = upstream.key(&request.caller, capabilities).await?;
    let lease = if key.caller.principal().is_none() && key.credentials.is_none() {
        Lease::shared(&upstream.sessions, upstream.client().await?, None, None)
    } else {
        upstream.lease(&request.caller, &key, false).await?
    };
    let notification = lease.client.notify(method, params);
    let mut notification = notification.capabilities(key.capabilities);
    for (name, value) in upstream.headers(&request.caller.key, key.credentials)? {
        notification = notification.header(name, value);
    }
    for (key, value) in request.meta.iter().flat_map(|meta| &**meta) {
        notification = notification.meta(key.clone(), value.clone());
    }
    let sent = notification.await;
    lease.end();
    sent.map_err(|error| upstream.failure(&error))
}

async fn pass_request(
    upstream: &Arc<Upstream>,
    method: &str,
    params: RawObject,
    request: &Request,
) -> Result<RawObject, RequestError> {
    let call = upstream.call(request, |client| client.request(method, params.clone()));
    let result = upstream.audited(&request.caller.key, KIND, method, call);
    let result = result.await.map_err(RequestError::fault)?;
    Ok(server_info::without(result))
}

/// The caller of a request, for filters.
struct CallerContext {
    facts: Arc<ClientContext>,
    extensions: Extensions,
}

impl FromCall for CallerContext {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self {
            facts: call.facts().clone(),
            extensions: call.extensions().clone(),
        })
    }
}

/// The gateway's subscriptions, one for each server of 2026-07-28 with such extensions. In older revisions
/// the session of the server receives the notifications.
#[derive(Default)]
pub(crate) struct Broadcasts(HashMap<Arc<str>, AbortOnDropHandle<()>>);

impl Broadcasts {
    /// Subscribes to a server that runs.
    pub(crate) fn start(&mut self, upstream: &Arc<Upstream>) {
        let extensions = upstream.settings.extensions.clone();
        let server = &upstream.server;
        let is_running = self.0.get(server).is_some_and(|task| !task.is_finished());
        if extensions.is_empty() || is_running {
            return;
        }
        let broadcast = Broadcast::new(extensions, upstream.clients.clone(), None);
        let following = tokio::spawn(follow(upstream.clone(), broadcast));
        let following = AbortOnDropHandle::new(following);
        self.0.insert(server.clone(), following);
    }

    /// Ends the subscriptions of servers that are stopped.
    pub(crate) fn stop(&mut self, stopped: &HashSet<Arc<str>>) {
        self.0.retain(|server, _| !stopped.contains(server));
    }

    /// Ends the subscriptions of servers that the gateway does not have.
    pub(crate) fn retain<'a>(&mut self, servers: impl Iterator<Item = &'a Arc<Upstream>>) {
        let servers: HashSet<_> = servers.map(|upstream| &upstream.server).collect();
        self.0.retain(|server, _| servers.contains(server));
    }
}

async fn follow(upstream: Arc<Upstream>, broadcast: Broadcast) {
    let server = &upstream.server;
    let Ok(client) = upstream.client().await else {
        return;
    };
    if !client.protocol_version().is_modern() {
        return;
    }
    let subscribe = client.changes().tools_changed().extensions();
    drop(client);
    let mut changes = match subscribe.await {
        Ok(changes) => changes,
        Err(error) => {
            tracing::warn!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "the gateway cannot forward extension notifications");
            return;
        }
    };
    while let Some(Ok(change)) = changes.next().await {
        if let Change::Other { method, params } = change {
            broadcast.send(&method, params.as_ref());
        }
    }
}
