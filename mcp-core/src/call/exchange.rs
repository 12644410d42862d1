//! A call with its context.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_types::meta::{Baggage, TraceContext};
use mcp_types::{Meta, RawObject, RequestId};

use super::input::Input;
use super::notification_sender::NotificationSender;
use crate::authorization::Principal;
use crate::connection::{ClientContext, Extensions};
use crate::message::{Call, Reply, RequestMetaObject};

/// One call with its context: the argument of [`Service::call`](crate::Service::call).
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// The call.
    pub call: Call,
    /// The request id. `None` for a notification, and where a layer or a program has made the
    /// call.
    pub id: Option<RequestId>,
    /// The client: version, capabilities, identity.
    pub facts: Arc<ClientContext>,
    /// The source of the input that the call asks its client for. Not used by clients.
    pub input: Input,
    /// Protocol-level metadata (`_meta`) of the request, as it arrived; see
    /// [`update_meta`](Self::update_meta).
    pub meta: RequestMetaObject,
    /// Sends this call's progress, log messages and extension notifications. Layers change them
    /// with [`NotificationSender::map`], on a client those that arrive.
    pub notifications: NotificationSender,
    /// The head of the HTTP request, the [`Principal`], and values that layers have inserted.
    pub extensions: Extensions,
    /// The service behind the layers of the call.
    pub(crate) endpoint: Option<Endpoint>,
}

/// The service behind the layers of a call; see [`Next::run_to`](crate::tower::Next::run_to).
pub(crate) struct Endpoint(pub(crate) Box<EndpointFn>);

type EndpointFn = dyn FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send + Sync;

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

impl Exchange {
    /// A client call, without further context.
    pub fn new(call: Call, facts: Arc<ClientContext>) -> Self {
        Self {
            call,
            id: None,
            facts,
            input: Input::default(),
            meta: RequestMetaObject::default(),
            notifications: NotificationSender::default(),
            extensions: Extensions::default(),
            endpoint: None,
        }
    }

    /// Returns the trace that the request belongs to. Parses `_meta` on each call.
    pub fn trace(&self) -> Option<TraceContext> {
        parse(self.meta.beyond_envelope()?)?.trace()
    }

    /// Returns the trace's W3C baggage. Parses `_meta` on each call.
    pub fn baggage(&self) -> Option<Baggage> {
        parse(self.meta.beyond_envelope()?)?.baggage()
    }

    /// Changes the request's `_meta`. Keys that `update` does not touch are kept. On a server the
    /// handler sees the change, on a client the server does.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::middleware::{Exchange, Next, Reply, from_fn};
    ///
    /// async fn add_tenant(mut exchange: Exchange, next: Next) -> Reply {
    ///     exchange.update_meta(|meta| meta.with("com.example/tenant", "acme"));
    ///     next.run(exchange).await
    /// }
    ///
    /// let layer = from_fn(add_tenant);
    /// ```
    pub fn update_meta(&mut self, update: impl FnOnce(Meta) -> Meta) {
        let meta = self.meta.object().and_then(parse);
        let meta = update(meta.unwrap_or_default());
        self.meta = RawObject::from_value(&meta).ok().into();
    }

    /// Returns the principal that a layer has verified.
    pub fn principal(&self) -> Option<&Principal> {
        self.extensions.get()
    }
}

fn parse(meta: &RawObject) -> Option<Meta> {
    serde_json::from_str(meta.as_str()).ok()
}
