//! The client at the end of a connection.

use mcp_types::{ClientCapabilities, Implementation, LoggingLevel, ProtocolVersion, RawObject};
use serde_json::Value;

/// The client of a call, as the server knows it. A modern request carries these facts, and a legacy
/// session stores them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientContext {
    /// The call's revision.
    pub version: ProtocolVersion,
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The least severe level of log messages that the client wants. `None`: no log messages.
    pub log_level: Option<LoggingLevel>,
    /// The client's identity, as JSON.
    pub info: Option<RawObject>,
}

impl ClientContext {
    /// The size of the identity and the capabilities together, as JSON, of a client that the server
    /// keeps longer than one call (a session, a subscription): 16 KiB.
    pub(crate) const MAX_BYTES: usize = 16 * 1024;
    /// The number of JSON values in the capabilities of such a client: 256. A parsed value takes much
    /// more memory than its JSON.
    pub(crate) const MAX_VALUES: usize = 256;

    /// A client without capabilities.
    pub fn new(version: ProtocolVersion) -> Self {
        Self {
            version,
            capabilities: ClientCapabilities::default(),
            log_level: None,
            info: None,
        }
    }

    /// Checks that a client may be kept longer than one call.
    pub(crate) fn check_size(&self) -> Result<(), ClientTooLarge> {
        check_client_size(self.info.as_ref(), &self.capabilities)
    }

    /// Returns the name and version that the client claims. They prove nothing. Parses the JSON on each
    /// call.
    // spec: VER-08
    pub fn client_info(&self) -> Option<Implementation> {
        serde_json::from_str(self.info.as_ref()?.as_str()).ok()
    }
}

/// A client whose identity and capabilities are larger than `MAX_BYTES` or `MAX_VALUES` allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientTooLarge {
    #[error(
        "client info and capabilities have {0} bytes of JSON; they can have {max} together",
        max = ClientContext::MAX_BYTES
    )]
    Bytes(usize),
    #[error(
        "the client capabilities have {0} JSON values; they can have {max}",
        max = ClientContext::MAX_VALUES
    )]
    Values(usize),
}

/// Checks the size of a client. See `ClientContext::MAX_BYTES`.
pub(crate) fn check_client_size(
    info: Option<&RawObject>,
    capabilities: &ClientCapabilities,
) -> Result<(), ClientTooLarge> {
    // Capabilities come from JSON, and can be written as JSON again.
    let json = serde_json::to_vec(capabilities).unwrap_or_default();
    let bytes = info.map_or(0, |info| info.as_str().len()) + json.len();
    if bytes > ClientContext::MAX_BYTES {
        return Err(ClientTooLarge::Bytes(bytes));
    }
    let values = serde_json::to_value(capabilities).map_or(0, |value| count_values(&value));
    if values > ClientContext::MAX_VALUES {
        return Err(ClientTooLarge::Values(values));
    }
    Ok(())
}

pub(crate) fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count_values).sum(),
        Value::Object(members) => members.values().map(count_values).sum(),
        _ => 0,
    }
}

/// The identity and the capabilities of a client, which it sends to servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientProfile {
    /// Name and version.
    pub info: Implementation,
    /// The capabilities that the client declares.
    pub capabilities: ClientCapabilities,
}

impl ClientProfile {
    /// A client without capabilities.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            capabilities: ClientCapabilities::default(),
        }
    }
}
