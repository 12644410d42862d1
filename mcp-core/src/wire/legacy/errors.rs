//! Faults and error codes of the revisions with sessions, both ways.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

use mcp_types::{ErrorObject, ProtocolVersion, codes};
use serde::Deserialize;
use serde_json::json;

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
            .with_data(&json!({ "uri": id })),
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

/// The code means something in `version`, or is the server's own.
fn is_known(code: i64, version: ProtocolVersion) -> bool {
    match code {
        codes::URL_ELICITATION_REQUIRED => version.has_url_elicitation_error(),
        codes::HEADER_MISMATCH
        | codes::MISSING_CLIENT_CAPABILITY
        | codes::UNSUPPORTED_PROTOCOL_VERSION => false,
        _ => true,
    }
}

/// Errors that the client acts on become what they were. A modern code is no mistake here: it is
/// how a modern server answers a legacy client.
// spec: ERR-07, COMPAT-16
pub(super) fn to_fault(error: ErrorObject) -> Fault {
    #[derive(Deserialize)]
    struct Resource {
        uri: Box<str>,
    }

    match error.code {
        codes::RESOURCE_NOT_FOUND => match error.data_as::<Resource>() {
            Some(Resource { uri }) => Fault::NoSuchItem {
                kind: ItemKind::Resource,
                id: uri,
            },
            None => Fault::Protocol(error),
        },
        _ => modern::fault(error),
    }
}
