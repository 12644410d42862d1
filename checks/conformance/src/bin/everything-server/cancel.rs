//! Tools that make cancellation observable.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp::prelude::*;

/// Maximum number of stored probes.
const MAX_PROBES: usize = 1000;

#[derive(Default)]
pub(crate) struct Probes(Mutex<HashMap<String, &'static str>>);

impl Probes {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, &'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, token: &str, status: &'static str) {
        self.lock().insert(token.to_owned(), status);
    }
}

#[mcp::server(routes = tools)]
impl Probes {
    /// Runs for some seconds and stores its outcome
    #[tool]
    async fn test_cancel_probe(
        &self,
        /** name of the probe, for test_cancel_status */
        token: String,
        /** duration in seconds */
        #[arg(range = 0.0..=600.0)]
        seconds: f64,
    ) -> Result<&'static str, ToolError> {
        if self.lock().len() >= MAX_PROBES {
            return Err(ToolError::new("too many probes; restart the server"));
        }
        let mut running = Running {
            probes: self,
            token: &token,
            outcome: "cancelled",
        };
        self.set(&token, "running");
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        running.outcome = "done";
        Ok("done")
    }

    /// Returns the state of a probe: running, done, cancelled or unknown
    #[tool(read_only)]
    fn test_cancel_status(
        &self,
        /** name of the probe */
        token: String,
    ) -> &'static str {
        self.lock().get(&token).copied().unwrap_or("unknown")
    }
}

/// Stores the outcome when it is dropped at the end of the call.
struct Running<'a> {
    probes: &'a Probes,
    token: &'a str,
    outcome: &'static str,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.probes.set(self.token, self.outcome);
    }
}
