//! Data of a call that travels through the client between two runs of its handler.

use std::collections::{BTreeMap, BTreeSet};

use mcp_core::Fault;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::{invalid_state, seal_failed};
use crate::request_state::{Binding, Sealer};

/// Answers and results from a handler's earlier runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RecordedAnswers {
    /// Keys of questions that the handler asked.
    pub(super) asked: BTreeSet<String>,
    pub(super) answers: BTreeMap<String, Box<RawValue>>,
    /// Results of `Ask::once`.
    pub(super) results: BTreeMap<String, Box<RawValue>>,
    /// The value of `Ask::keep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Box<RawValue>>,
}

impl RecordedAnswers {
    /// Decrypts the `requestState` of a request with `binding`.
    pub(super) fn unseal(state: &str, binding: &Binding, sealer: &Sealer) -> Result<Self, Fault> {
        let plain = sealer.open(state, binding);
        // spec: MRTR-07
        let plain = plain.map_err(|_| invalid_state())?;
        serde_json::from_slice(&plain).map_err(|_| invalid_state())
    }

    /// Encrypts the data as `requestState` for requests with `binding`.
    pub(super) fn seal(&self, binding: &Binding, sealer: &Sealer) -> Result<String, Fault> {
        let plain = serde_json::to_vec(self).map_err(|error| Fault::internal(error.to_string()))?;
        let sealed = sealer.seal(&plain, binding);
        sealed.map_err(|error| seal_failed(&error))
    }
}
