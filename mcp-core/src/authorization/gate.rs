//! Call authorization.

use std::sync::Arc;

use crate::authorization::Principal;
use crate::connection::ClientContext;
use crate::message::{Call, Fault};
use crate::panic::catch_panic_sync;

/// Admits or refuses a decoded call, before its handler runs and before a stream starts.
///
/// A call during whose check the gate panics is refused with an internal error.
pub trait Gate: Send + Sync + 'static {
    /// Checks a call. `principal` is the one that a layer has verified.
    ///
    /// # Errors
    ///
    /// Returns the [`Fault`] to answer a refused call with.
    fn admit(
        &self,
        call: &Call,
        facts: &ClientContext,
        principal: Option<&Principal>,
    ) -> Result<(), Fault>;
}

/// Checks a call with a gate. A panic refuses the call: the task that reads the messages of a
/// connection runs this function.
pub(crate) fn admit(
    gate: &dyn Gate,
    call: &Call,
    facts: &ClientContext,
    principal: Option<&Principal>,
) -> Result<(), Fault> {
    let checked = catch_panic_sync(|| gate.admit(call, facts, principal));
    checked.unwrap_or_else(|panic| {
        tracing::error!(panic = %mcp_types::escaped(&panic), "the gate panicked");
        Err(Fault::internal("the authorization of the call failed"))
    })
}

impl<G: Gate + ?Sized> Gate for Arc<G> {
    fn admit(
        &self,
        call: &Call,
        facts: &ClientContext,
        principal: Option<&Principal>,
    ) -> Result<(), Fault> {
        (**self).admit(call, facts, principal)
    }
}
