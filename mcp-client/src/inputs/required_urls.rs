//! URLs that a server of 2025-11-25 requires the user to visit before it accepts a call. The
//! handlers run as if the server had elicited the visits. After the visits the call is repeated.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_types::{
    ElicitParams, ElicitUrlParams, InputRequest, InputRequests, InputRequired, InputResponse,
    RawObjectError,
};
use tokio::time::timeout;

use super::error::InputError;
use super::mrtr::InputRound;
use super::url_elicitations::{UrlElicitation, UrlElicitations};

/// Longest wait for the completion of all visits. The server may never report it.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(300);

/// The URLs that one call requires.
#[derive(Default)]
pub(crate) struct RequiredUrls {
    /// Elicitations that are not completed yet.
    open: Vec<Arc<UrlElicitation>>,
    /// Ids of all elicitations in this call.
    ids: HashSet<String>,
}

impl RequiredUrls {
    /// Adds the URLs that the server requires. Returns whether they are new: a call that is refused
    /// again after its visits fails.
    pub(crate) fn add(
        &mut self,
        elicitations: &UrlElicitations,
        required: &[ElicitUrlParams],
    ) -> bool {
        let mut ids = required
            .iter()
            .filter_map(|url| url.elicitation_id.as_ref());
        if required.is_empty() || ids.any(|id| self.ids.contains(id)) {
            return false;
        }
        for required in required {
            let id = required.elicitation_id.as_deref();
            self.open.push(elicitations.get_or_insert(id));
            self.ids.extend(id.map(str::to_owned));
        }
        true
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Waits until all visits are completed, or until a timeout. After the timeout the server
    /// decides whether it accepts the call.
    // spec: ELIC-10
    pub(crate) async fn completed(&self) {
        let completed = self.open.iter().map(|elicitation| elicitation.closed());
        let _ = timeout(COMPLETION_TIMEOUT, join_all(completed)).await;
    }

    /// Removes the open elicitations before the call is repeated.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

/// Converts the required URLs to a round of input requests.
// spec: ERR-13
pub(crate) fn to_input_required(
    required: &[ElicitUrlParams],
) -> Result<InputRequired, RawObjectError> {
    let requests = required.iter().enumerate().map(|(index, required)| {
        let request: InputRequest = ElicitParams::Url(required.clone()).into();
        (index.to_string(), request)
    });
    InputRequired::new(&requests.collect::<InputRequests>())
}

/// Checks that the user agreed to all visits.
///
/// # Errors
///
/// Returns [`InputError::NotConfirmed`] with the first URL that the user did not agree to.
pub(crate) fn check_accepted(
    round: &InputRound,
    responses: &BTreeMap<String, InputResponse>,
) -> Result<(), InputError> {
    for (key, request) in &round.requests {
        let is_accepted =
            matches!(responses.get(key), Some(InputResponse::Elicit(it)) if it.is_accepted());
        if let (InputRequest::Elicit(params), false) = (request, is_accepted)
            && let ElicitParams::Url(params) = &**params
        {
            let url = params.url.clone();
            return Err(InputError::NotConfirmed { url });
        }
    }
    Ok(())
}
