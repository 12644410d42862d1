//! The request states that clients have used.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::store::{MemoryUsedStates, UsedStateStore};
use mcp_core::{CallerKey, Fault};
use mcp_server::ToolError;
use tokio::time::timeout;
use uuid::Uuid;

/// Time that a state counts beyond its own lifetime, because the clocks of nodes differ.
const MARGIN: Duration = Duration::from_secs(60);

/// Longest wait for the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The used states of a gateway, or those of all gateways with the same store.
#[derive(Clone)]
pub(super) struct UsedStates(pub(super) Arc<dyn UsedStateStore>);

impl Default for UsedStates {
    fn default() -> Self {
        Self(Arc::new(MemoryUsedStates::default()))
    }
}

impl UsedStates {
    /// Counts the use of a state, which is valid for `lifetime`.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when the state was used before, or when the store fails.
    pub(super) async fn count(
        &self,
        caller: &CallerKey,
        state: Uuid,
        lifetime: Duration,
    ) -> Result<(), ToolError> {
        let (id, ttl) = (state.to_string(), lifetime.saturating_add(MARGIN));
        let inserting = self.0.insert(caller, &id, ttl);
        let error = match timeout(STORE_TIMEOUT, inserting).await {
            Ok(Ok(true)) => return Ok(()),
            Ok(Ok(false)) => {
                return Err(ToolError::new(
                    "this answer to a question of the tool was used already; call the tool again",
                ));
            }
            Ok(Err(error)) => error.to_string(),
            Err(elapsed) => elapsed.to_string(),
        };
        tracing::error!(%error, "the use of a request state cannot be counted");
        let fault = Fault::internal("the gateway cannot count this call; try again");
        Err(ToolError::fault(fault))
    }
}
