//! Faults and error codes of 2026-07-28, both ways.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>

use mcp_types::{ClientCapabilities, ErrorObject, codes};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Fault, ItemKind};

#[derive(Serialize, Deserialize)]
struct Versions {
    supported: Vec<String>,
    requested: Box<str>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Missing {
    required_capabilities: Box<ClientCapabilities>,
}

// spec: ERR-01, ERR-05, VER-02, VER-15, HTTP-SM-10, RSRC-05, TOOL-19
pub(in crate::wire) fn to_error(fault: &Fault) -> ErrorObject {
    let plain = |code| ErrorObject::new(code, fault.to_string());
    match fault {
        Fault::InvalidMessage(error) => error.to_error(),
        Fault::InvalidRequest(_) => plain(codes::INVALID_REQUEST),
        Fault::BadParams { data, .. } => {
            let mut error = plain(codes::INVALID_PARAMS);
            error.data = data.as_ref().map(|data| data.as_raw().to_owned());
            error
        }
        Fault::NoSuchMethod { .. } => plain(codes::METHOD_NOT_FOUND),
        Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id,
        } => plain(codes::INVALID_PARAMS).with_data(&json!({ "uri": id })),
        Fault::NoSuchItem { .. } => plain(codes::INVALID_PARAMS),
        Fault::MissingCapability { required } => {
            plain(codes::MISSING_CLIENT_CAPABILITY).with_data(&Missing {
                required_capabilities: required.clone(),
            })
        }
        Fault::UnsupportedVersion {
            requested,
            supported,
        } => plain(codes::UNSUPPORTED_PROTOCOL_VERSION).with_data(&Versions {
            requested: requested.clone(),
            supported: supported.clone(),
        }),
        Fault::HeaderMismatch(_) => plain(codes::HEADER_MISMATCH),
        Fault::Refused(_) | Fault::Deadline | Fault::Internal(_) => plain(codes::INTERNAL_ERROR),
        // spec: ERR-06
        Fault::Protocol(error) => match error.code {
            codes::RESOURCE_NOT_FOUND => error.clone().with_code(codes::INVALID_PARAMS),
            codes::URL_ELICITATION_REQUIRED => error.clone().with_code(codes::INTERNAL_ERROR),
            _ => error.clone(),
        },
    }
}

/// Errors that the client acts on become what they were; all others stay as they came.
pub(in crate::wire) fn to_fault(error: ErrorObject) -> Fault {
    match error.code {
        codes::UNSUPPORTED_PROTOCOL_VERSION => match error.data_as::<Versions>() {
            Some(Versions {
                supported,
                requested,
            }) => Fault::UnsupportedVersion {
                requested,
                supported,
            },
            None => Fault::Protocol(error),
        },
        codes::MISSING_CLIENT_CAPABILITY => match error.data_as::<Missing>() {
            Some(Missing {
                required_capabilities: required,
            }) => Fault::MissingCapability { required },
            None => Fault::Protocol(error),
        },
        codes::HEADER_MISMATCH => Fault::HeaderMismatch(error.message.into()),
        _ => Fault::Protocol(error),
    }
}
