//! A call with its context.

use std::fmt;
use std::sync::Arc;

use mcp_types::meta::{Baggage, TraceContext};
use mcp_types::{Meta, RawObject};

use crate::{BoxFuture, Call, ClientFacts, Extensions, Input, Outlet, Principal, Reply};

/// One call with its context: the argument of [`Service::call`](crate::Service::call).
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// The call.
    pub call: Call,
    /// The client: version, capabilities, identity.
    pub facts: Arc<ClientFacts>,
    /// The source of the input that the call asks its client for.
    pub input: Input,
    /// Protocol-level metadata (`_meta`) of the request, as it arrived.
    pub meta: Option<RawObject>,
    /// Sends progress and log messages of this call.
    pub outlet: Outlet,
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
    /// A call of a client, without further context.
    pub fn new(call: Call, facts: Arc<ClientFacts>) -> Self {
        Self {
            call,
            facts,
            input: Input::default(),
            meta: None,
            outlet: Outlet::none(),
            extensions: Extensions::new(),
            endpoint: None,
        }
    }

    /// Returns the trace that the request belongs to. Parses `_meta` on each call.
    // spec: META-14
    pub fn trace(&self) -> Option<TraceContext> {
        self.parsed_meta()?.trace()
    }

    /// Returns the W3C baggage of the trace. Parses `_meta` on each call.
    // spec: META-14
    pub fn baggage(&self) -> Option<Baggage> {
        self.parsed_meta()?.baggage()
    }

    fn parsed_meta(&self) -> Option<Meta> {
        serde_json::from_str(self.meta.as_ref()?.as_str()).ok()
    }

    /// Returns the principal that a layer has verified.
    pub fn principal(&self) -> Option<&Principal> {
        self.extensions.get()
    }
}
