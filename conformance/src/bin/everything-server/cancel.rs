//! Tools that show cancellation from outside.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp::prelude::*;

/// Probes that are remembered at a time.
const MOST: usize = 1000;

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

#[mcp::tools]
impl Probes {
    /// Runs for some seconds and remembers what became of it
    #[tool]
    async fn test_cancel_probe(
        &self,
        /** name under which test_cancel_status tells the outcome */
        token: String,
        /** how long to run */
        #[arg(range = 0.0..=600.0)]
        seconds: f64,
    ) -> Result<&'static str, ToolError> {
        if self.lock().len() >= MOST {
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

    /// Tells what became of a probe: running, done, cancelled or unknown
    #[tool(read_only)]
    fn test_cancel_status(
        &self,
        /** name of the probe */
        token: String,
    ) -> &'static str {
        self.lock().get(&token).copied().unwrap_or("unknown")
    }
}

/// Remembers the outcome when the call ends, however it ends.
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
