//! A call with everything that is known about it.

use std::sync::Arc;

use mcp_types::json;
use mcp_types::meta::{Baggage, TraceContext};
use mcp_types::{Meta, RawObject};

use crate::{Call, ClientFacts, Extensions, Input, Outlet, Principal};

/// One call and its context, as a service gets it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// What is asked.
    pub call: Call,
    /// Who asks: version, capabilities, identity.
    pub facts: Arc<ClientFacts>,
    /// How the call gets what it asks its client for.
    pub input: Input,
    /// The request's `_meta` as it arrived.
    pub meta: Option<RawObject>,
    /// Where progress and log messages of this call go.
    pub outlet: Outlet,
    /// What the transport and its layers know: the HTTP request's parts, the [`Principal`],
    /// anything a layer inserted.
    pub extensions: Extensions,
}

impl Exchange {
    /// A call from a client, with nothing else known.
    #[inline]
    pub fn new(call: Call, facts: Arc<ClientFacts>) -> Self {
        Self {
            call,
            facts,
            input: Input::default(),
            meta: None,
            outlet: Outlet::none(),
            extensions: Extensions::new(),
        }
    }

    /// The trace that the request belongs to, when it says so. Read when asked for.
    // spec: META-14
    #[inline]
    pub fn trace(&self) -> Option<TraceContext> {
        self.parsed_meta()?.trace()
    }

    /// What the application of the client sends along the trace.
    // spec: META-14
    #[inline]
    pub fn baggage(&self) -> Option<Baggage> {
        self.parsed_meta()?.baggage()
    }

    #[inline]
    fn parsed_meta(&self) -> Option<Meta> {
        json::from_str(self.meta.as_ref()?.as_str()).ok()
    }

    /// Who is behind the call, when a layer has verified it.
    #[inline]
    pub fn principal(&self) -> Option<&Principal> {
        self.extensions.get()
    }
}
