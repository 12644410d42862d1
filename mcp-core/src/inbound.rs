//! A decoded request that may be served, from either era.

use std::future::{Future, ready};
use std::sync::Arc;

use mcp_types::{LoggingLevel, Method, ProgressToken, ProtocolVersion, RequestId};

use crate::subscriptions::{self, ListenHooks};
use crate::wire;
use crate::{
    BoxFuture, ClientFacts, ClientRequest, Exchange, Extensions, Fault, Framing, Gate, Input,
    NotificationBuffer, Outlet, Principal, Reply, ResultBody, ServerProfile, Service,
};

/// A decoded request that may be served, from either era.
#[derive(Debug)]
#[non_exhaustive]
pub struct InboundRequest {
    /// What is asked.
    pub request: ClientRequest,
    /// Who asks.
    pub facts: Arc<ClientFacts>,
    /// How the call gets what it asks its client for.
    pub input: Input,
    /// The request's `_meta`.
    pub meta: Option<mcp_types::RawObject>,
    /// The token under which the client wants progress.
    pub progress_token: Option<ProgressToken>,
    /// What the transport lends to a subscription.
    pub(crate) listen_hooks: Option<Box<ListenHooks>>,
}

impl InboundRequest {
    /// The revision that the request speaks.
    pub fn version(&self) -> ProtocolVersion {
        self.facts.version
    }

    /// The request begins a subscription.
    pub fn is_subscription(&self) -> bool {
        self.listen_hooks.is_some()
    }

    /// Ends a subscription in good order when `ending` is ready; without effect on calls. Without
    /// it a subscription ends when its future is dropped.
    // spec: SUB-09
    pub fn end_subscription_on(&mut self, ending: impl Future<Output = ()> + Send + 'static) {
        if let Some(listen_hooks) = &mut self.listen_hooks {
            listen_hooks.ending = Some(Box::pin(ending));
        }
    }

    /// Puts time between two rounds of changes that a subscription tells, so that many that come
    /// one by one become few; without effect on calls. The first change is told at once.
    pub fn pace_subscription(
        &mut self,
        pause: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        if let Some(listen_hooks) = &mut self.listen_hooks {
            listen_hooks.pause = Some(Box::new(pause));
        }
    }

    /// Asks the gate. A subscription is cut down to what the gate lets its caller list and read.
    ///
    /// # Errors
    ///
    /// What the gate answers.
    pub fn authorize(
        &mut self,
        gate: &Arc<dyn Gate>,
        principal: Option<&Principal>,
    ) -> Result<(), Fault> {
        let facts = &self.facts;
        match &mut self.request {
            ClientRequest::Call(call) => gate.admit(call, facts, principal),
            ClientRequest::Listen(filter) => {
                if let Some(listen_hooks) = &mut self.listen_hooks {
                    listen_hooks.gate = Some(gate.clone());
                }
                let filter = Arc::make_mut(filter);
                subscriptions::admit(filter, |call| gate.admit(call, facts, principal))
            }
            ClientRequest::Discover | ClientRequest::Session(_) => Ok(()),
        }
    }

    /// The outlet for what the request may tell, and the buffer behind it. There is none when the
    /// client wants to hear nothing.
    pub fn open_outlet(
        &self,
        id: &RequestId,
        framing: Framing,
    ) -> (Outlet, Option<Arc<NotificationBuffer>>) {
        let buffer = || NotificationBuffer::new(wire::for_version(self.version()), framing);
        if self.is_subscription() {
            let notes = Arc::new(buffer().subscription(id.clone()));
            return (Outlet::for_subscription(notes.clone()), Some(notes));
        }
        let (token, level) = self.requested_notifications();
        if token.is_none() && level.is_none() {
            return (Outlet::none(), None);
        }
        let notes = Arc::new(buffer().for_call(token, level));
        (Outlet::from_buffer(notes.clone()), Some(notes))
    }

    /// The token under which the client wants progress, and from which level on it wants log
    /// messages.
    pub fn requested_notifications(&self) -> (Option<ProgressToken>, Option<LoggingLevel>) {
        (self.progress_token.clone(), self.facts.log_level)
    }

    /// Serves the request. `profile` is what is told about the service.
    pub fn serve(
        self,
        service: &dyn Service,
        profile: &ServerProfile,
        outlet: Outlet,
        extensions: Extensions,
    ) -> BoxFuture<'static, Reply> {
        let Self {
            request,
            facts,
            input,
            meta,
            listen_hooks,
            ..
        } = self;
        match request {
            ClientRequest::Call(call) => service.call(Exchange {
                call,
                facts,
                input,
                meta,
                outlet,
                extensions,
            }),
            ClientRequest::Discover => discover(profile),
            ClientRequest::Listen(filter) => {
                let caller = (facts, extensions);
                let listen_hooks = *listen_hooks.unwrap_or_default();
                let filter = Arc::unwrap_or_clone(filter);
                subscriptions::serve(filter, service, caller, outlet, listen_hooks)
            }
            // The modern wire reads none.
            ClientRequest::Session(call) => refuse(call.method()),
        }
    }
}

#[inline(never)]
fn discover(profile: &ServerProfile) -> BoxFuture<'static, Reply> {
    let body = ResultBody::Discover(Arc::new(profile.discover()));
    Box::pin(ready(Reply::Complete {
        body,
        cache: Some(profile.cache),
    }))
}

#[cold]
fn refuse(method: Method) -> BoxFuture<'static, Reply> {
    let fault = Fault::no_such_method(method.as_str());
    Box::pin(ready(Reply::Fault(fault)))
}
