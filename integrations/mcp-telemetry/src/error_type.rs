//! `error.type` and the status of a fault.

use std::borrow::Cow;

use mcp_core::{Fault, Reply};
use mcp_types::{ProtocolVersion, codes};

/// The `error.type` of a tool result that is an error.
pub(crate) const TOOL_ERROR: &str = "tool_error";
/// The `error.type` of an error without a class.
pub(crate) const OTHER: &str = "_OTHER";
/// The `error.type` of a request without a response in time.
const TIMEOUT: &str = "timeout";
/// The `error.type` of a request whose caller no longer waits.
pub(crate) const CANCELLED: &str = "cancelled";

/// A failed operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error_type: Cow<'static, str>,
    /// The code of a JSON-RPC error, as a string.
    pub(crate) code: Option<Cow<'static, str>>,
    pub(crate) message: Option<String>,
    /// A handler or a peer has chosen the code, so metrics do not contain it.
    pub(crate) is_custom: bool,
}

impl Failure {
    pub(crate) fn cancelled() -> Self {
        Self::class(CANCELLED, None)
    }

    fn class(error_type: &'static str, message: Option<String>) -> Self {
        Self {
            error_type: error_type.into(),
            code: None,
            message,
            is_custom: false,
        }
    }

    /// Returns the failure in a reply, or `None` for a success.
    pub(crate) fn of_reply(reply: &Reply, is_sent: bool, version: ProtocolVersion) -> Option<Self> {
        match reply {
            Reply::Complete { body, .. } if body.is_tool_error() => {
                Some(Self::class(TOOL_ERROR, None))
            }
            Reply::Fault(fault) => Some(Self::of_fault(fault, is_sent, version)),
            _ => None,
        }
    }

    /// Returns the failure for a fault. `is_sent`: this side has sent the request, so that an internal
    /// fault is a connection error, not of the peer.
    pub(crate) fn of_fault(fault: &Fault, is_sent: bool, version: ProtocolVersion) -> Self {
        match fault {
            Fault::Deadline if is_sent => Self::class(TIMEOUT, Some(fault.to_string())),
            Fault::Internal(_) if is_sent => Self::class(OTHER, Some(fault.to_string())),
            _ => {
                let error = fault.to_error(version);
                let code = Cow::from(error.code.to_string());
                Self {
                    error_type: code.clone(),
                    code: Some(code),
                    message: Some(error.message),
                    is_custom: !codes::RESERVED.contains(&error.code)
                        && error.code != codes::USER_REJECTED,
                }
            }
        }
    }
}
