//! Calls that a server of 2025-11-25 refuses until the user has visited URLs: the handlers are
//! asked as if the server had asked, and the call is made again once the visits are over.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_core::mrtr::InputRound;
use mcp_types::{
    ElicitParams, ElicitUrlParams, InputRequest, InputRequests, InputRequired, InputResponse,
    RawObjectError,
};
use tokio::time::timeout;

use crate::InputError;
use crate::inputs::{Visit, Visits};

/// How long a call waits for a visit whose end nobody tells.
const VISIT_LIMIT: Duration = Duration::from_secs(300);

/// The visits of one call.
#[derive(Default)]
pub(crate) struct Visiting {
    /// What the user is about to visit.
    open: Vec<Arc<Visit>>,
    /// Elicitations that were made for this call.
    known: HashSet<String>,
}

impl Visiting {
    /// The server wants these visits. Not a second time: what is refused after a visit stays
    /// refused.
    pub(crate) fn begin(&mut self, visits: &Visits, wanted: &[ElicitUrlParams]) -> bool {
        let mut ids = wanted.iter().filter_map(|it| it.elicitation_id.as_ref());
        if wanted.is_empty() || ids.any(|id| self.known.contains(id)) {
            return false;
        }
        for wanted in wanted {
            self.open.push(visits.of(wanted));
            self.known.extend(wanted.elicitation_id.clone());
        }
        true
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Waits for the end of all visits that were begun, for a time.
    // spec: ELIC-10
    pub(crate) async fn wait(&self) {
        let visits = self.open.iter().map(|visit| visit.completed());
        // Without a word of anybody the server itself says whether it is satisfied.
        let _ = timeout(VISIT_LIMIT, join_all(visits)).await;
    }

    /// The call is made again.
    pub(crate) fn end(&mut self) {
        self.open.clear();
    }
}

/// The visits as a round of questions.
// spec: ERR-13
pub(crate) fn required(wanted: &[ElicitUrlParams]) -> Result<InputRequired, RawObjectError> {
    let requests = wanted.iter().enumerate().map(|(at, wanted)| {
        let request: InputRequest = ElicitParams::Url(wanted.clone()).into();
        (at.to_string(), request)
    });
    InputRequired::new(&requests.collect::<InputRequests>())
}

/// Whether the user agreed to all visits.
pub(crate) fn check(
    round: &InputRound,
    answers: &BTreeMap<String, InputResponse>,
) -> Result<(), InputError> {
    for (key, request) in round.requests() {
        let agreed =
            matches!(answers.get(key), Some(InputResponse::Elicit(it)) if it.is_accepted());
        if let (InputRequest::Elicit(asked), false) = (request, agreed)
            && let ElicitParams::Url(asked) = &**asked
        {
            let url = asked.url.clone();
            return Err(InputError::Unvisited { url });
        }
    }
    Ok(())
}
