//! Requests that are answered with an error before a service is called.

use std::ops::Deref;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Response, StatusCode};
use mcp_core::Fault;
use mcp_types::{ErrorObject, Message, ProtocolVersion, RequestId, codes};

use super::super::response::{self, Body};
use crate::headers::names;
use crate::status;

/// The time after which a client may repeat a request that a store did not let run.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A request that is answered with an error before a service is called. Boxed so that it does not enlarge the
/// results on the path of each request.
#[derive(Debug)]
pub(crate) struct Rejection(Box<Details>);

/// The contents of a [`Rejection`].
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) status: StatusCode,
    pub(crate) id: Option<RequestId>,
    pub(crate) fault: Fault,
    /// The error's revision.
    version: ProtocolVersion,
    /// Additional header, such as `Allow`.
    header: Option<(HeaderName, HeaderValue)>,
}

impl Deref for Rejection {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Rejection {
    /// Creates a rejection of a request whose head or body violates a rule of HTTP (405, 406, 413, 415 and others).
    ///
    /// Its code is -32600, because the request is not a valid one. The reference server sends -32000, which
    /// here means a request that does not fit its session. Clients decide by the status.
    // spec: HTTP-S-03, HTTP-S-10
    pub(crate) fn http(status: StatusCode, message: impl Into<String>) -> Self {
        let fault = Fault::InvalidRequest(message.into().into());
        Self::new(ProtocolVersion::LATEST, status, None, fault)
    }

    /// Returns the error response for the server's request that the rejected message `body` was meant to answer.
    /// `None` if it was not.
    pub(crate) fn as_response(&self, body: &[u8]) -> Option<mcp_types::Response<'static>> {
        match Message::parse(body) {
            Ok(Message::Response(response)) => {
                let error = self.fault.to_error(self.version);
                Some(mcp_types::Response::new(response.id, Err(error)))
            }
            Ok(_) => None,
            Err(error) => error.as_response(body),
        }
    }

    /// Creates a rejection of a modern request.
    pub(crate) fn modern(id: Option<RequestId>, fault: Fault) -> Self {
        Self::new(
            ProtocolVersion::LATEST,
            status::for_rejection(&fault),
            id,
            fault,
        )
    }

    /// Creates a rejection of a legacy message.
    pub(crate) fn legacy(status: StatusCode, id: Option<RequestId>, fault: Fault) -> Self {
        Self::new(ProtocolVersion::LATEST_LEGACY, status, id, fault)
    }

    /// Creates a rejection of a legacy request with an error code of its own.
    pub(crate) fn session(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        let fault = Fault::Protocol(ErrorObject::new(code, message.into()));
        Self::legacy(status, None, fault)
    }

    /// Creates a rejection of a legacy request that does not fit its session.
    pub(crate) fn bad_session_request(message: impl Into<String>) -> Self {
        Self::session(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, message)
    }

    /// Creates a rejection of a legacy request whose session does not exist.
    // spec: SESS-07
    pub(crate) fn session_not_found() -> Self {
        let message = "session not found; open another one with `initialize`";
        Self::session(StatusCode::NOT_FOUND, codes::SESSION_NOT_FOUND, message)
    }

    /// Creates a rejection of a legacy request that has not run because a store or another server is not available. A
    /// client may repeat it. A store's error is in the log: it is not for clients.
    pub(crate) fn unavailable(message: &str) -> Self {
        let fault = Fault::overloaded(message, RETRY_AFTER);
        Self::legacy(StatusCode::SERVICE_UNAVAILABLE, None, fault)
    }

    /// Lets the client of a stream try again at once if this server cannot look for the stream: another server behind
    /// the same address may have it.
    pub(crate) fn retried_elsewhere(self) -> Self {
        if self.status == StatusCode::SERVICE_UNAVAILABLE
            && self.fault.retry_after() == Some(RETRY_AFTER)
        {
            self.with_header(names::RETRY_AFTER, 0_u64)
        } else {
            self
        }
    }

    /// Creates a rejection in a revision.
    pub(crate) fn new(
        version: ProtocolVersion,
        status: StatusCode,
        id: Option<RequestId>,
        fault: Fault,
    ) -> Self {
        Self(Box::new(Details {
            status,
            id,
            fault,
            version,
            header: None,
        }))
    }

    /// Sets an additional header of the response.
    pub(crate) fn with_header(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.0.header = Some((name, value.into()));
        self
    }

    /// Returns the additional header's value, if that is `name`.
    #[cfg(test)]
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&HeaderValue> {
        let (known, value) = self.header.as_ref()?;
        (known == name).then_some(value)
    }

    /// Returns the response.
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response =
            response::error(self.status, self.version, self.id.as_ref(), &self.fault);
        if let Some((name, value)) = self.0.header {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// Returns the status and the fault.
    pub(crate) fn into_fault(self) -> (StatusCode, Fault) {
        (self.0.status, self.0.fault)
    }
}
