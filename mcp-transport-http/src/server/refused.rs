//! Requests of the legacy era that get no further.

use http::StatusCode;
use mcp_core::{Fault, wire};
use mcp_types::{ErrorObject, ProtocolVersion, RequestId, codes};

use super::respond::{self, Answer};
use crate::headers::names;

/// A request that gets no further.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) id: Option<RequestId>,
    pub(super) fault: Fault,
    /// In how many seconds it may be tried again.
    pub(super) retry_after: Option<u64>,
}

impl Refused {
    #[cold]
    pub(super) fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        Self {
            status,
            id: None,
            fault: Fault::Protocol(ErrorObject::new(code, message.into())),
            retry_after: None,
        }
    }

    #[cold]
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, message)
    }

    #[cold]
    pub(super) fn fault(status: StatusCode, id: Option<RequestId>, fault: Fault) -> Self {
        Self {
            status,
            id,
            fault,
            retry_after: None,
        }
    }

    /// The answer, whichever way it went.
    pub(super) fn or_answer(answered: Result<Answer, Self>) -> Answer {
        answered.unwrap_or_else(Self::into_answer)
    }

    #[cold]
    pub(super) fn into_answer(self) -> Answer {
        let wire = wire::for_version(ProtocolVersion::LATEST_LEGACY);
        let answer = respond::error(self.status, wire, self.id.as_ref(), &self.fault);
        match self.retry_after {
            Some(seconds) => answer.with(names::RETRY_AFTER, seconds.into()),
            None => answer,
        }
    }
}
