//! HTTP status codes for JSON-RPC errors.
//!
//! The protocol layer's errors have the status that the specification requires. Errors of a
//! service are results: their status is 200, with exceptions that clients and proxies evaluate. Legacy
//! clients do not know these statuses: errors within a session have the status 200.

use http::StatusCode;
use mcp_core::Fault;
use mcp_types::ProtocolVersion;

/// Returns the status for a request that was rejected before the service was called.
// spec: ERR-14, HTTP-SM-01, HTTP-SM-05, HTTP-SM-10, HTTP-SM-04
pub(crate) fn for_rejection(fault: &Fault) -> StatusCode {
    match fault {
        Fault::NoSuchMethod { .. } => StatusCode::NOT_FOUND,
        Fault::Refused(_) | Fault::InsufficientScope { .. } => StatusCode::FORBIDDEN,
        Fault::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Fault::Overloaded { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Fault::Deadline => StatusCode::GATEWAY_TIMEOUT,
        Fault::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Returns the status for a fault that the service replied with.
// spec: GAP-05, HTTP-SL-15
pub(crate) fn for_reply(fault: &Fault, version: ProtocolVersion) -> StatusCode {
    match fault {
        // Clients of every revision get further scopes after this status.
        Fault::InsufficientScope { .. } => StatusCode::FORBIDDEN,
        // Libraries of these revisions end their session at other statuses
        // (docs/decisions/0136-codes-of-refused-calls.md).
        _ if !version.is_modern() => StatusCode::OK,
        Fault::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Fault::Overloaded { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Fault::NoSuchMethod { .. } => StatusCode::NOT_FOUND,
        // spec: VER-15
        Fault::MissingCapability { .. } => StatusCode::BAD_REQUEST,
        // spec: HTTP-SM-10
        Fault::HeaderMismatch(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Returns the status for a message that a session rejects.
// spec: HTTP-SL-15
pub(crate) fn for_session_error(fault: &Fault) -> StatusCode {
    match fault {
        Fault::InvalidRequest(_) | Fault::InvalidMessage(_) => StatusCode::BAD_REQUEST,
        // Clients of every revision get further scopes after this status.
        Fault::InsufficientScope { .. } => StatusCode::FORBIDDEN,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use mcp_types::{ErrorObject, ParseError, codes};

    use super::*;

    #[test]
    fn every_fault_has_its_status() {
        let unsupported = Fault::UnsupportedVersion {
            requested: "v999".into(),
            supported: vec!["v1".into()],
        };
        let missing = Fault::MissingCapability {
            required: Arc::default(),
        };
        let protocol = Fault::Protocol(ErrorObject::new(codes::METHOD_NOT_FOUND, "x"));
        let table = [
            (Fault::InvalidMessage(ParseError::Batch), 400, 200, 400),
            (Fault::InvalidRequest("x".into()), 400, 200, 400),
            (Fault::bad_params("x"), 400, 200, 200),
            (Fault::no_such_method("x"), 404, 404, 200),
            (Fault::no_such_tool("x"), 400, 200, 200),
            (missing, 400, 400, 200),
            (unsupported, 400, 200, 200),
            (Fault::HeaderMismatch("x".into()), 400, 400, 200),
            (Fault::Refused("x".into()), 403, 200, 200),
            (Fault::rate_limited("x", Duration::ZERO), 429, 429, 200),
            (Fault::overloaded("x", Duration::ZERO), 503, 503, 200),
            (Fault::Deadline, 504, 200, 200),
            (Fault::internal("x"), 500, 200, 200),
            (protocol, 400, 200, 200),
        ];
        let required = vec!["files".to_owned()];
        let scope = Fault::InsufficientScope { required };
        for version in [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY] {
            let statuses = [
                for_rejection(&scope),
                for_reply(&scope, version),
                for_session_error(&scope),
            ];
            // spec: AUTH-S-08
            assert_eq!(statuses, [StatusCode::FORBIDDEN; 3], "{version}");
        }
        for (fault, rejected, replied, in_session) in table {
            assert_eq!(for_rejection(&fault).as_u16(), rejected, "{fault}");
            let version = ProtocolVersion::LATEST;
            assert_eq!(for_reply(&fault, version).as_u16(), replied, "{fault}");
            // spec: HTTP-SL-15
            let version = ProtocolVersion::LATEST_LEGACY;
            assert_eq!(for_reply(&fault, version).as_u16(), 200, "{fault}");
            assert_eq!(for_session_error(&fault).as_u16(), in_session, "{fault}");
        }
    }
}
