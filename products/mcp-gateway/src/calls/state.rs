//! [`RequestState`]: a call between two requests of its client.

use std::collections::{BTreeMap, BTreeSet};

use mcp_core::{BackChannelError, Fault};
use mcp_server::AskError;
use mcp_types::{InputRequests, InputRequired};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Data that the gateway needs when the client repeats its request. The call keeps it with each question that the reply
/// contains; it travels, sealed, through the client, and ends with the client's next request.
#[derive(Serialize, Deserialize)]
pub(crate) enum RequestState {
    /// The server requires input for its next request: no node of the gateway keeps anything.
    Round {
        id: Uuid,
        number: usize,
        required: InputRequired,
        /// The keys of the client's answers, by the server's keys.
        keys: BTreeMap<String, String>,
        /// The keys of earlier rounds.
        former: BTreeSet<String>,
        /// The calls of the server declare tasks.
        declares_tasks: bool,
    },
    /// The server waits for the answer to a question. This node has parked its call.
    Parked { id: Uuid },
    /// The call has not begun. The gateway has asked its client for its roots.
    Roots { id: Uuid },
    /// The gateway follows a task of the server, which requires input.
    Task { id: Uuid, task: FollowedTask },
}

impl RequestState {
    /// Returns the id under which the use of the state is counted; a state that is sent again has the same one. `None`
    /// for a parked call, which can be taken once. At another node it continues nothing.
    pub(crate) fn counted_id(&self) -> Option<Uuid> {
        match self {
            Self::Round { id, .. } | Self::Roots { id } | Self::Task { id, .. } => Some(*id),
            Self::Parked { .. } => None,
        }
    }
}

/// A task of a server whose client declares no tasks, while it requires input.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FollowedTask {
    pub(crate) id: String,
    pub(crate) poll_interval_ms: Option<u64>,
    /// The keys that were answered.
    pub(crate) answered: BTreeSet<String>,
    /// The requests that the client is asked.
    pub(crate) open: InputRequests,
}

/// Returns the fault for a question without an answer.
pub(crate) fn to_fault(error: AskError) -> Fault {
    match error {
        AskError::NoAnswer(BackChannelError::Refused(fault)) => fault,
        error => error
            .to_fault()
            .unwrap_or_else(|| Fault::Refused(error.to_string().into())),
    }
}
