//! Conversion between faults and the error codes of 2026-07-28.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>

use std::sync::Arc;
use std::time::Duration;

use mcp_types::codes::{
    self, MissingCapabilities, MissingResource, RetryAfter, UnsupportedVersion,
};
use mcp_types::{ErrorObject, Method};

use crate::message::{Fault, ItemKind};

/// Converts a fault into an error object.
// spec: ERR-01, ERR-02, ERR-05, TOOL-19
pub(in crate::wire) fn to_error(fault: &Fault) -> ErrorObject {
    let plain = |code| ErrorObject::new(code, fault.to_string());
    match fault {
        Fault::InvalidMessage(error) => error.to_error(),
        Fault::InvalidRequest(_) => plain(codes::INVALID_REQUEST),
        Fault::BadParams {
            data: Some(data), ..
        } => plain(codes::INVALID_PARAMS).with_data(data),
        Fault::BadParams { data: None, .. } => plain(codes::INVALID_PARAMS),
        Fault::NoSuchMethod { .. } => plain(codes::METHOD_NOT_FOUND),
        Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id,
            // spec: RSRC-05
        } => with_uri(plain(codes::INVALID_PARAMS), id),
        Fault::NoSuchItem { .. } => plain(codes::INVALID_PARAMS),
        Fault::MissingCapability { required } => {
            let mut data = MissingCapabilities::default();
            // spec: VER-15
            data.required_capabilities = (**required).clone();
            plain(codes::MISSING_CLIENT_CAPABILITY).with_data(&data)
        }
        Fault::UnsupportedVersion {
            requested,
            supported,
        } => {
            let mut data = UnsupportedVersion::default();
            // spec: VER-02
            data.requested = requested.to_string();
            data.supported.clone_from(supported);
            plain(codes::UNSUPPORTED_PROTOCOL_VERSION).with_data(&data)
        }
        // spec: HTTP-SM-10
        Fault::HeaderMismatch(_) => plain(codes::HEADER_MISMATCH),
        Fault::UserRejected(_) => plain(codes::USER_REJECTED),
        // spec: ERR-06
        Fault::UrlElicitationRequired { .. } => plain(codes::INTERNAL_ERROR),
        Fault::Refused(_) | Fault::InsufficientScope { .. } => plain(codes::REFUSED),
        Fault::RateLimited { .. } => with_retry(plain(codes::RATE_LIMITED), fault),
        Fault::Overloaded { .. } => with_retry(plain(codes::OVERLOADED), fault),
        Fault::Deadline | Fault::Internal(_) => plain(codes::INTERNAL_ERROR),
        Fault::Protocol(error) => {
            let mut error = error.clone();
            error.code = match error.code {
                codes::RESOURCE_NOT_FOUND => codes::INVALID_PARAMS,
                code if is_defined(code) => code,
                _ => codes::INTERNAL_ERROR,
            };
            error
        }
    }
}

/// Adds the URI of a missing resource.
pub(in crate::wire) fn with_uri(error: ErrorObject, uri: &str) -> ErrorObject {
    let mut data = MissingResource::default();
    data.uri = uri.to_owned();
    error.with_data(&data)
}

/// Adds the time to wait.
fn with_retry(error: ErrorObject, fault: &Fault) -> ErrorObject {
    let mut data = RetryAfter::default();
    data.retry_after = fault.retry_after().map_or(1, |wait| wait.as_secs());
    error.with_data(&data)
}

/// Returns false for reserved codes that this revision does not define.
// spec: ERR-04, ERR-06
fn is_defined(code: i64) -> bool {
    match code {
        // Codes of the events extension.
        codes::EVENTS_CALLBACK_ENDPOINT_ERROR..=codes::EVENTS_NOT_FOUND => true,
        codes::PARSE_ERROR
        | codes::INVALID_REQUEST
        | codes::METHOD_NOT_FOUND
        | codes::INVALID_PARAMS
        | codes::INTERNAL_ERROR
        | codes::HEADER_MISMATCH
        | codes::MISSING_CLIENT_CAPABILITY
        | codes::UNSUPPORTED_PROTOCOL_VERSION => true,
        codes::RESOURCE_NOT_FOUND => false,
        // Servers used the codes behind `HEADER_MISMATCH` for purposes of their own: they have no protocol
        // meaning.
        _ => {
            !codes::RESERVED.contains(&code)
                || (codes::HEADER_MISMATCH..=codes::BAD_REQUEST).contains(&code)
        }
    }
}

/// Converts the error response of a server into the fault that the client acts on. Other errors
/// stay error objects ([`Fault::Protocol`]).
///
/// Older servers report a missing resource with a separate code.
// spec: ERR-03, ERR-07
#[inline]
pub(in crate::wire) fn to_fault(error: ErrorObject, method: Option<Method>) -> Fault {
    match error.code {
        codes::UNSUPPORTED_PROTOCOL_VERSION => match error.data_as::<UnsupportedVersion>() {
            Some(data) => Fault::UnsupportedVersion {
                requested: data.requested.into(),
                supported: data.supported,
            },
            None => Fault::Protocol(error),
        },
        codes::MISSING_CLIENT_CAPABILITY => match error.data_as::<MissingCapabilities>() {
            Some(data) => Fault::MissingCapability {
                required: Arc::new(data.required_capabilities),
            },
            None => Fault::Protocol(error),
        },
        codes::HEADER_MISMATCH => Fault::HeaderMismatch(error.message.into()),
        codes::RATE_LIMITED | codes::OVERLOADED => too_many_calls(error),
        codes::RESOURCE_NOT_FOUND => missing_resource(error),
        codes::INVALID_PARAMS if method == Some(Method::ReadResource) => missing_resource(error),
        _ => Fault::Protocol(error),
    }
}

/// Converts the error of a server that has refused a call because of too many. An error without the time
/// to wait may have another meaning, because other programs define codes of their own.
#[inline]
fn too_many_calls(error: ErrorObject) -> Fault {
    let Some(RetryAfter { retry_after, .. }) = error.data_as() else {
        return Fault::Protocol(error);
    };
    let (message, retry_after) = (error.message.into(), Duration::from_secs(retry_after));
    if error.code == codes::RATE_LIMITED {
        Fault::RateLimited {
            message,
            retry_after,
        }
    } else {
        Fault::Overloaded {
            message,
            retry_after,
        }
    }
}

#[inline]
fn missing_resource(error: ErrorObject) -> Fault {
    match error.data_as::<MissingResource>() {
        Some(data) => Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: data.uri.into(),
        },
        None => Fault::Protocol(error),
    }
}
