//! Conversion between faults and the error codes of the revisions with sessions.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

use mcp_types::codes::{self, RequiredElicitations};
use mcp_types::{ElicitUrlParams, ErrorObject, Method, ProtocolVersion};

use crate::message::{Fault, ItemKind};
use crate::wire::modern;

/// Converts a fault into an error object. Codes that only the modern era defines are replaced.
// spec: RSRC-05, LIFE-11, ERR-13
pub(in crate::wire) fn to_error(fault: &Fault, version: ProtocolVersion) -> ErrorObject {
    match fault {
        Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id,
        } => {
            let error = ErrorObject::new(codes::RESOURCE_NOT_FOUND, fault.to_string());
            modern::with_uri(error, id)
        }
        // A URL with a scheme that clients must not open is not sent.
        Fault::UrlElicitationRequired { elicitations }
            if version.has_url_elicitation_error()
                && elicitations
                    .iter()
                    // spec: ELIC-15
                    .all(|elicitation| elicitation.check_own_url().is_ok()) =>
        {
            let mut data = RequiredElicitations::default();
            data.elicitations = elicitations.iter().cloned().map(with_id).collect();
            ErrorObject::new(codes::URL_ELICITATION_REQUIRED, fault.to_string()).with_data(&data)
        }
        Fault::Protocol(error) => {
            let mut error = error.clone();
            if !is_known(error.code, version) {
                error.code = codes::INTERNAL_ERROR;
            }
            error
        }
        _ => {
            let mut error = modern::to_error(fault);
            if !is_known(error.code, version) {
                error.code = codes::INVALID_PARAMS;
            }
            error
        }
    }
}

/// Adds the id that these revisions require. An elicitation without one gets its URL as id.
// spec: ERR-13
fn with_id(elicitation: ElicitUrlParams) -> ElicitUrlParams {
    match elicitation.elicitation_id {
        Some(_) => elicitation,
        None => {
            let url = elicitation.url.clone();
            elicitation.elicitation_id(url)
        }
    }
}

/// Returns false for codes that only other revisions define.
fn is_known(code: i64, version: ProtocolVersion) -> bool {
    match code {
        codes::URL_ELICITATION_REQUIRED => version.has_url_elicitation_error(),
        codes::HEADER_MISMATCH
        | codes::MISSING_CLIENT_CAPABILITY
        | codes::UNSUPPORTED_PROTOCOL_VERSION => false,
        _ => true,
    }
}

/// Converts the error response of a server into the fault that the client acts on.
///
/// Modern codes are converted as well: a modern server answers a legacy client with them.
// spec: ERR-13, LIFE-11, COMPAT-16
#[inline]
pub(super) fn to_fault(
    error: ErrorObject,
    method: Option<Method>,
    version: ProtocolVersion,
) -> Fault {
    match error.code {
        codes::URL_ELICITATION_REQUIRED if version.has_url_elicitation_error() => {
            match error.data_as::<RequiredElicitations>() {
                Some(data) => Fault::UrlElicitationRequired {
                    elicitations: data.elicitations,
                },
                None => Fault::Protocol(error),
            }
        }
        codes::INVALID_PARAMS if method == Some(Method::Initialize) => {
            match error.data_as::<codes::UnsupportedVersion>() {
                Some(data) => Fault::UnsupportedVersion {
                    requested: data.requested.into(),
                    supported: data.supported,
                },
                None => Fault::Protocol(error),
            }
        }
        // These revisions have a separate code for missing resources.
        codes::INVALID_PARAMS => Fault::Protocol(error),
        _ => modern::to_fault(error, method),
    }
}
