//! Who may call what.

use std::sync::Arc;

use crate::{Call, ClientFacts, Fault, Principal};

/// Admits or refuses a decoded call before any stream starts and any handler runs.
pub trait Gate: Send + Sync + 'static {
    /// Looks at a call. `principal` is whoever a layer has verified, if any.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that the client gets instead of an answer.
    fn admit(
        &self,
        call: &Call,
        facts: &ClientFacts,
        principal: Option<&Principal>,
    ) -> Result<(), Fault>;
}

/// The gate that admits everything.
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
