//! Conversation state: message order, and requests that wait for an answer.

use std::collections::HashMap;

use mcp_types::{ErrorObject, Implementation, RawObject, RequestId};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::bridge::ViewLimits;
use super::types::{AppCapabilities, DisplayMode, ModelContext, ViewError};

/// The part of a conversation that has been reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The view has not sent `ui/initialize`.
    New,
    /// `ui/initialize` was answered.
    Initializing,
    /// The view has sent `ui/notifications/initialized`.
    Ready,
    /// The connection has ended.
    Closed,
}

/// The messages about the tool call that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPhase {
    /// Neither input nor result.
    Input,
    /// The input.
    Result,
    /// The result, or the cancellation.
    Ended,
}

/// The answer to a host request.
pub(super) type Answer = Result<RawObject, ErrorObject>;

/// A conversation, as the connection and the handles of the host share it.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) limits: ViewLimits,
    pub(super) outbox: mpsc::Sender<String>,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) call: CallPhase,
    pub(super) capabilities: AppCapabilities,
    pub(super) info: Option<Implementation>,
    pub(super) mode: DisplayMode,
    pub(super) model_context: Option<ModelContext>,
    /// The view's running requests, for their cancellation.
    pub(super) running: HashMap<RequestId, AbortHandle>,
    pending: HashMap<RequestId, oneshot::Sender<Answer>>,
    last_id: i64,
    invalid: usize,
}

impl Conversation {
    pub(super) fn new(limits: ViewLimits, outbox: mpsc::Sender<String>) -> Self {
        Self {
            limits,
            outbox,
            phase: watch::Sender::new(Phase::New),
            state: Mutex::new(State {
                call: CallPhase::Input,
                capabilities: AppCapabilities::default(),
                info: None,
                mode: DisplayMode::default(),
                model_context: None,
                running: HashMap::new(),
                pending: HashMap::new(),
                last_id: 0,
                invalid: 0,
            }),
        }
    }

    /// Registers a request to the view. Requests that nobody waits for any more count only until the limit is
    /// reached: their late answers are valid.
    pub(super) fn start_request(
        &self,
    ) -> Result<(RequestId, oneshot::Receiver<Answer>), ViewError> {
        let mut state = self.state.lock();
        let limit = self.limits.pending_requests;
        if state.pending.len() >= limit {
            state.pending.retain(|_, waiting| !waiting.is_closed());
        }
        if state.pending.len() >= limit {
            return Err(ViewError::TooManyPending { limit });
        }
        state.last_id += 1;
        let id = RequestId::from(state.last_id);
        let (sender, receiver) = oneshot::channel();
        state.pending.insert(id.clone(), sender);
        Ok((id, receiver))
    }

    /// Passes an answer to its request. An answer without a request counts as invalid.
    pub(super) fn answer(&self, id: &RequestId, answer: Answer) -> Result<(), ViewError> {
        let sender = self.state.lock().pending.remove(id);
        match sender {
            Some(sender) => {
                // Nobody may wait for it any more.
                let _ = sender.send(answer);
                Ok(())
            }
            None => self.count_invalid(),
        }
    }

    /// Counts a message that is not valid.
    pub(super) fn count_invalid(&self) -> Result<(), ViewError> {
        let mut state = self.state.lock();
        state.invalid += 1;
        let count = state.invalid;
        if count > self.limits.invalid_messages {
            Err(ViewError::TooManyInvalid { count })
        } else {
            Ok(())
        }
    }

    /// Ends all that waits.
    pub(super) fn close(&self) {
        self.phase.send_replace(Phase::Closed);
        self.state.lock().pending.clear();
    }

    pub(super) fn current_phase(&self) -> Phase {
        *self.phase.borrow()
    }
}
