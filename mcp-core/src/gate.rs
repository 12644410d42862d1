//! Authorization of calls.

use std::sync::Arc;

use crate::{Call, ClientFacts, Fault, Principal};

/// Admits or refuses a decoded call, before its handler runs and before a stream starts.
pub trait Gate: Send + Sync + 'static {
    /// Checks a call. `principal` is the one that a layer has verified.
    ///
    /// # Errors
    ///
    /// Returns the [`Fault`] to answer a refused call with.
    fn admit(
        &self,
        call: &Call,
        facts: &ClientFacts,
        principal: Option<&Principal>,
    ) -> Result<(), Fault>;
}

/// A gate that admits every call.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct AllowAll;

impl Gate for AllowAll {
    fn admit(&self, _: &Call, _: &ClientFacts, _: Option<&Principal>) -> Result<(), Fault> {
        Ok(())
    }
}

impl<G: Gate + ?Sized> Gate for Arc<G> {
    fn admit(
        &self,
        call: &Call,
        facts: &ClientFacts,
        principal: Option<&Principal>,
    ) -> Result<(), Fault> {
        (**self).admit(call, facts, principal)
    }
}
