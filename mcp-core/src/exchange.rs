//! A call with everything that is known about it.

use std::sync::Arc;

use mcp_types::RawObject;

use crate::{Call, ClientFacts, Outlet, Principal};

/// One call and its context, as a service gets it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// What is asked.
    pub call: Call,
    /// Who asks: version, capabilities, identity.
    pub facts: Arc<ClientFacts>,
    /// What the client sends along when it asks again.
    pub input: InputState,
    /// The request's `_meta` as it arrived.
    pub meta: Option<RawObject>,
    /// Where progress and log messages of this call go.
    pub outlet: Outlet,
    /// What the transport and its layers know: the HTTP request's parts, the [`Principal`],
    /// anything a layer inserted.
    pub extensions: http::Extensions,
}

impl Exchange {
    /// A call from a client, with nothing else known.
    pub fn new(call: Call, facts: Arc<ClientFacts>) -> Self {
        Self {
            call,
            facts,
            input: InputState::default(),
            meta: None,
            outlet: Outlet::none(),
            extensions: http::Extensions::new(),
        }
    }

    /// Who is behind the call, when a layer has verified it.
    pub fn principal(&self) -> Option<&Principal> {
        self.extensions.get()
    }
}

/// What a client sends along when it asks again after an input-required answer.
// spec: MRTR-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputState {
    /// Its answers, by key.
    pub responses: Option<RawObject>,
    /// The state that the server gave it. Controlled by the client until its seal was checked.
    // spec: MRTR-07
    pub state: Option<Box<str>>,
}
