//! The modern front: discovery is answered here, every other call goes to the service. Shared by
//! all transports.

use std::future::ready;
use std::sync::Arc;

use mcp_types::{Method, ProtocolVersion, Request, SubscriptionFilter};

use crate::Fault;
use crate::wire::{Envelope, MODERN};
use crate::{
    Asked, BoxFuture, ClientFacts, Exchange, Gate, Input, Outlet, Principal, Reply, ResultBody,
    ServerProfile, Service, versioning,
};

/// A modern request that was read and may be served.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// What is asked.
    pub asked: Asked,
    /// Who asks.
    pub facts: Arc<ClientFacts>,
    /// How the call gets what it asks its client for.
    pub input: Input,
    /// The request's `_meta`.
    pub meta: Option<mcp_types::RawObject>,
    /// The token under which the client wants progress.
    pub progress_token: Option<mcp_types::ProgressToken>,
}

/// Reads a request whose envelope was found: is its revision offered, does its method exist, do
/// its parameters fit? Transports check what they mirror before they call this.
///
/// # Errors
///
/// The [`Fault`] that the client gets, by the order of the checks.
// spec: HTTP-SM-22
pub fn read(
    request: &Request<'_>,
    envelope: Envelope<'_>,
    profile: &ServerProfile,
) -> Result<Inbound, Fault> {
    let version = versioning::offered(&profile.versions, &envelope.version)?;
    let decoded = MODERN.decode_call(request)?;
    Ok(Inbound {
        asked: decoded.asked,
        input: decoded.input.into(),
        meta: envelope.meta(),
        progress_token: envelope.progress_token.clone(),
        facts: Arc::new(envelope.into_facts(version)),
    })
}

impl Inbound {
    /// The revision that the request speaks.
    pub fn version(&self) -> ProtocolVersion {
        self.facts.version
    }

    /// Asks the gate.
    ///
    /// # Errors
    ///
    /// What the gate answers.
    pub fn admit(&self, gate: &dyn Gate, principal: Option<&Principal>) -> Result<(), Fault> {
        match &self.asked {
            Asked::Call(call) => gate.admit(call, &self.facts, principal),
            Asked::Discover | Asked::Listen(_) | Asked::Session(_) => Ok(()),
        }
    }

    /// Serves the request.
    pub fn serve<S: Service + ?Sized>(
        self,
        service: &S,
        outlet: Outlet,
        extensions: http::Extensions,
    ) -> BoxFuture<'static, Reply> {
        let Self {
            asked,
            facts,
            input,
            meta,
            ..
        } = self;
        match asked {
            Asked::Call(call) => service.call(Exchange {
                call,
                facts,
                input,
                meta,
                outlet,
                extensions,
            }),
            Asked::Discover => {
                let profile = service.profile();
                let body = ResultBody::Discover(Box::new(profile.discover()));
                Box::pin(ready(Reply::Complete {
                    body,
                    cache: Some(profile.cache),
                }))
            }
            Asked::Listen(filter) => listen(&filter),
            // The modern wire reads none.
            Asked::Session(call) => refuse(call.method()),
        }
    }
}

/// The place for subscriptions. There are none yet: the method does not exist here.
// spec: BASE-20
fn listen(_: &SubscriptionFilter) -> BoxFuture<'static, Reply> {
    refuse(Method::Listen)
}

fn refuse(method: Method) -> BoxFuture<'static, Reply> {
    let fault = Fault::no_such_method(method.as_str());
    Box::pin(ready(Reply::Fault(fault)))
}
