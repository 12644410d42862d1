//! Faults and error codes of the revisions with sessions, both ways.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

use mcp_types::codes::{self, MissingResource, RequiredElicitations};
use mcp_types::{ElicitUrlParams, ErrorObject, Method, ProtocolVersion};

use crate::wire::modern;
use crate::{Fault, ItemKind};

/// What differs from the modern codes: the modern ones mean nothing here.
// spec: RSRC-05, LIFE-11, ERR-13
pub(super) fn to_error(fault: &Fault, version: ProtocolVersion) -> ErrorObject {
    match fault {
        Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id,
        } => ErrorObject::new(codes::RESOURCE_NOT_FOUND, fault.to_string())
            .with_object(&MissingResource::new(&**id)),
        Fault::UrlElicitationRequired { elicitations } if version.has_url_elicitation_error() => {
            let named = elicitations.iter().cloned().map(with_id);
            ErrorObject::new(codes::URL_ELICITATION_REQUIRED, fault.to_string())
                .with_object(&RequiredElicitations::new(named))
        }
        Fault::Protocol(error) if !is_known(error.code, version) => {
            error.clone().with_code(codes::INTERNAL_ERROR)
        }
        Fault::Protocol(error) => error.clone(),
        _ => {
            let mut error = modern::error(fault);
            if !is_known(error.code, version) {
                error.code = codes::INVALID_PARAMS;
            }
            error
        }
    }
}

/// Every elicitation has an id there; without one of its own it is called after its URL.
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

/// The code means something in `version`, or is the sender's own.
fn is_known(code: i64, version: ProtocolVersion) -> bool {
    match code {
        codes::URL_ELICITATION_REQUIRED => version.has_url_elicitation_error(),
        codes::HEADER_MISMATCH
        | codes::MISSING_CLIENT_CAPABILITY
        | codes::UNSUPPORTED_PROTOCOL_VERSION => false,
        _ => true,
    }
}

/// The error of a client that was asked. It has no other one that says more than its text.
// spec: ERR-10
pub(super) fn of_client(error: ErrorObject, method: Option<Method>) -> Fault {
    match error.code {
        codes::USER_REJECTED if method == Some(Method::CreateMessage) => {
            Fault::UserRejected(error.message.into())
        }
        _ => Fault::Protocol(error),
    }
}

/// Errors that the client acts on become what they were. A modern code is no mistake here: it is
/// how a modern server answers a legacy client.
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
        // A missing resource has a code of its own here.
        codes::INVALID_PARAMS => Fault::Protocol(error),
        _ => modern::fault(error, method),
    }
}
