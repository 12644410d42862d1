//! The HTTP status that goes with a JSON-RPC error.
//!
//! Errors that the protocol layer finds have the status of the specification. Errors that come
//! out of a service are answers like others: 200, with the two exceptions that clients act on.
//! Clients of the legacy era know no such statuses: within a session errors are 200.

use http::StatusCode;
use mcp_core::Fault;
use mcp_types::ProtocolVersion;

/// The status for a request that was refused before a service saw it.
// spec: ERR-14, HTTP-SM-01, HTTP-SM-05, HTTP-SM-10
pub(crate) fn of_refusal(fault: &Fault) -> StatusCode {
    match fault {
        Fault::NoSuchMethod { .. } => StatusCode::NOT_FOUND,
        Fault::Refused(_) => StatusCode::FORBIDDEN,
        Fault::Deadline => StatusCode::GATEWAY_TIMEOUT,
        Fault::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// The status for a fault that a service replied.
// spec: GAP-05, HTTP-SL-15
pub(crate) fn of_reply(fault: &Fault, version: ProtocolVersion) -> StatusCode {
    match fault {
        _ if !version.is_modern() => StatusCode::OK,
        Fault::NoSuchMethod { .. } => StatusCode::NOT_FOUND,
        Fault::MissingCapability { .. } => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// The status for a message that a session refuses.
// spec: HTTP-SL-15
pub(crate) fn of_session(fault: &Fault) -> StatusCode {
    match fault {
        Fault::InvalidRequest(_) | Fault::InvalidMessage(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests;
