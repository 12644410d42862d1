//! Requests of the legacy era that get no further.

use http::{Response, StatusCode};
use mcp_core::{Fault, wire};
use mcp_types::{ErrorObject, ProtocolVersion, RequestId, codes};

use super::respond::{self, Body};
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

    /// The response, whichever way it went.
    pub(super) fn or_response(answered: Result<Response<Body>, Self>) -> Response<Body> {
        answered.unwrap_or_else(Self::into_response)
    }

    #[cold]
    pub(super) fn into_response(self) -> Response<Body> {
        let wire = wire::of(ProtocolVersion::LATEST_LEGACY);
        let mut response = respond::error(self.status, wire, self.id.as_ref(), &self.fault);
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(names::RETRY_AFTER, seconds.into());
        }
        response
    }
}
