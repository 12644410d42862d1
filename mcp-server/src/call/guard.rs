//! Resources of a running handler.

use std::sync::Arc;

use mcp_core::close_signal::CloseSignal;

use crate::input_round::InputRound;

/// Resources of a running handler. Dropping the guard signals the end of the call.
#[derive(Debug, Default)]
pub(super) struct CallGuard {
    close_signal: Option<CloseSignal>,
    pub(super) input_round: Option<Arc<InputRound>>,
}

impl CallGuard {
    pub(super) fn new(close_signal: CloseSignal, input_round: Option<Arc<InputRound>>) -> Self {
        Self {
            close_signal: Some(close_signal),
            input_round,
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if let Some(signal) = &self.close_signal {
            signal.close(());
        }
    }
}
