//! A decoded request of a client, ready to be served.

use std::future::{Future, ready};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_types::ext::events::STREAM;
use mcp_types::{LoggingLevel, Method, ProgressToken, ProtocolVersion, RequestId};
use tracing::Instrument;

use super::subscriptions::{self, ListenHooks};
use crate::authorization::{self, Gate, Principal};
use crate::call::{Exchange, Input, NotificationBuffer, NotificationSender, Service};
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::extension;
use crate::message::{Call, ClientRequest, Fault, Reply, RequestMetaObject, ResultBody};
use crate::observe::{Observation, ObservedMessage};
use crate::wire::{DecodedRequest, Framing};

/// A decoded request of a client, ready to be served. Both eras produce it:
/// [`modern::read_request`](crate::modern::read_request) from a self-contained request, and a
/// [`legacy::Session`](crate::legacy::Session) from its state.
#[derive(Debug)]
#[non_exhaustive]
pub struct InboundRequest {
    /// The request id.
    pub id: RequestId,
    /// The request.
    pub request: ClientRequest,
    /// The client.
    pub facts: Arc<ClientContext>,
    /// The source of the input that the call asks its client for.
    pub input: Input,
    /// Protocol-level metadata (`_meta`).
    pub meta: RequestMetaObject,
    /// The token under which the client wants progress.
    pub progress_token: Option<ProgressToken>,
    /// The call as the client has sent it, if another one runs in its place.
    pub(crate) sent: Option<Box<Call>>,
    /// The transport's part in a subscription. `None` for other requests.
    pub(crate) listen_hooks: Option<Box<ListenHooks>>,
}

impl InboundRequest {
    /// A call of the legacy era, with the client as its session knows it. It cannot ask its client
    /// until its [`input`](Self::input) is set.
    pub(crate) fn from_legacy(
        id: RequestId,
        decoded: DecodedRequest,
        facts: Arc<ClientContext>,
    ) -> Self {
        Self {
            id,
            request: decoded.request,
            sent: None,
            facts,
            input: Input::Absent,
            meta: decoded.meta.into(),
            progress_token: decoded.progress_token,
            listen_hooks: None,
        }
    }

    /// Returns true for `events/stream`, whose notifications carry the request's id.
    fn streams_events(&self) -> bool {
        matches!(&self.request, ClientRequest::Call(Call::Other { method, .. }) if **method == *STREAM)
    }

    /// Returns the request's revision.
    pub(crate) fn version(&self) -> ProtocolVersion {
        self.facts.version
    }

    /// Sets the timers of a subscription; other requests have none.
    ///
    /// A subscription waits for `pause()` after each round of changes, so that changes that come one by
    /// one are merged. The first change is sent at once. It ends with a response when the future of
    /// `end`, which is called only for a subscription, is ready. Without timers, a subscription runs
    /// until its future is dropped.
    // spec: SUB-09
    pub fn limit_subscription<E: Future<Output = ()> + Send + 'static>(
        &mut self,
        pause: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
        end: impl FnOnce() -> E,
    ) {
        if let Some(hooks) = &mut self.listen_hooks {
            hooks.pause = Some(Box::new(pause));
            hooks.end = Some(Box::pin(end()));
        }
    }

    /// Replaces the call by the one that the service runs in its place. Transports do so before each check: all of
    /// them are about the call that runs. Returns true if it was replaced.
    pub fn replace_call(&mut self, service: &dyn Service) -> bool {
        if let ClientRequest::Call(call) = &mut self.request
            && self.sent.is_none()
            && let Some(replacement) = service.replacement(call)
        {
            self.sent = Some(Box::new(std::mem::replace(call, replacement)));
        }
        self.sent.is_some()
    }

    /// Checks the request with a gate, after [`replace_call`](Self::replace_call). A subscription is reduced to what the gate lets its caller
    /// list and read.
    ///
    /// # Errors
    ///
    /// Returns the fault of the gate.
    pub fn authorize(
        &mut self,
        gate: &Arc<dyn Gate>,
        principal: Option<&Principal>,
    ) -> Result<(), Fault> {
        let facts = &self.facts;
        match &mut self.request {
            ClientRequest::Call(call) => authorization::admit(&**gate, call, facts, principal),
            ClientRequest::Listen(filter) => {
                if let Some(hooks) = &mut self.listen_hooks {
                    hooks.gate = Some(gate.clone());
                }
                let filter = Arc::make_mut(filter);
                subscriptions::authorize(filter, |call| {
                    authorization::admit(&**gate, call, facts, principal)
                })
            }
            ClientRequest::Discover | ClientRequest::Session(_) => Ok(()),
        }
    }

    /// Returns the request's notifications and the buffer behind it. The buffer is `None` when the
    /// client asked for no notifications, and declares no extension of the server.
    pub(crate) fn open_sender(
        &self,
        id: &RequestId,
        framing: Framing,
        profile: &ServerProfile,
    ) -> (NotificationSender, Option<Arc<NotificationBuffer>>) {
        let buffer = || NotificationBuffer::new(self.version(), framing);
        if self.listen_hooks.is_some() {
            let buffer = Arc::new(buffer().subscription(id.clone()));
            return (
                NotificationSender::for_subscription(buffer.clone()),
                Some(buffer),
            );
        }
        if self.streams_events() {
            let buffer = Arc::new(buffer().stream(id.clone()));
            return (
                NotificationSender::open(None, None, buffer.clone()),
                Some(buffer),
            );
        }
        let wants_extensions = self.has_common_extension(profile);
        let (token, level) = self.requested_notifications();
        if token.is_none() && level.is_none() && !wants_extensions {
            return (NotificationSender::default(), None);
        }
        let buffer = Arc::new(buffer());
        (self.notifications(profile, buffer.clone()), Some(buffer))
    }

    /// Returns the notifications of a call whose notifications are written to `buffer`.
    pub(crate) fn notifications(
        &self,
        profile: &ServerProfile,
        buffer: Arc<NotificationBuffer>,
    ) -> NotificationSender {
        let (token, level) = self.requested_notifications();
        if self.has_common_extension(profile) {
            NotificationSender::open(token, level, buffer)
        } else {
            NotificationSender::new(token, level, buffer)
        }
    }

    fn has_common_extension(&self, profile: &ServerProfile) -> bool {
        extension::has_common(&self.facts.capabilities, &profile.capabilities)
    }

    /// Returns the token under which the client wants progress, and the least severe level of log
    /// messages that it wants.
    fn requested_notifications(&self) -> (Option<ProgressToken>, Option<LoggingLevel>) {
        (self.progress_token.clone(), self.facts.log_level)
    }

    /// Serves the request. `profile` is the answer to `server/discover`.
    pub(crate) fn serve(
        mut self,
        service: &dyn Service,
        profile: &ServerProfile,
        notifications: NotificationSender,
        mut extensions: Extensions,
    ) -> BoxFuture<'static, Reply> {
        if let Some(sent) = self.sent.take() {
            extensions.insert(*sent);
        }
        let observation = self.observe(service, &extensions);
        let reply: BoxFuture<'static, Reply> = match self.request {
            ClientRequest::Call(call) => service.call(Exchange {
                call,
                id: Some(self.id),
                facts: self.facts,
                input: self.input,
                meta: self.meta,
                notifications,
                extensions,
                endpoint: None,
            }),
            ClientRequest::Discover => Box::pin(ready(Reply::Complete {
                body: ResultBody::Discover(Arc::new(profile.discover())),
                cache: Some(profile.cache),
            })),
            ClientRequest::Listen(filter) => {
                let caller = (self.facts, extensions);
                let hooks = *self.listen_hooks.unwrap_or_default();
                let filter = Arc::unwrap_or_clone(filter);
                subscriptions::serve(filter, service, caller, notifications, hooks)
            }
            // The session answers these itself, and the modern wire does not decode them.
            ClientRequest::Session(request) => {
                let fault = Fault::no_such_method(request.method().as_str());
                Box::pin(ready(fault.into()))
            }
        };
        match observation {
            Some(observation) => observed(observation, reply),
            None => reply,
        }
    }

    /// Starts the observation of a request that layers do not see.
    fn observe(
        &self,
        service: &dyn Service,
        extensions: &Extensions,
    ) -> Option<Box<dyn Observation>> {
        let method = match &self.request {
            ClientRequest::Discover => Method::Discover,
            ClientRequest::Listen(_) => Method::Listen,
            ClientRequest::Call(_) | ClientRequest::Session(_) => return None,
        };
        let mut message = ObservedMessage::received(method.as_str(), self.version());
        (message.id, message.meta) = (Some(&self.id), self.meta.object());
        message.extensions = Some(extensions);
        Some(service.observer()?.message(&message))
    }
}

fn observed(
    observation: Box<dyn Observation>,
    reply: BoxFuture<'static, Reply>,
) -> BoxFuture<'static, Reply> {
    let span = observation.span();
    let reply = async move {
        let reply = reply.await;
        observation.end(match &reply {
            Reply::Fault(fault) => Err(fault),
            _ => Ok(()),
        });
        reply
    };
    Box::pin(reply.instrument(span))
}
