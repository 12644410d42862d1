//! Log messages of servers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::meta::Meta;

/// Severity of a log message as in RFC 5424. The order is ascending.
// spec: LOG-02
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LoggingLevel {
    /// Debugging information.
    Debug,
    /// Normal operation.
    Info,
    /// Normal but significant events.
    Notice,
    /// Conditions that may lead to an error.
    Warning,
    /// Errors.
    Error,
    /// Failures of a component.
    Critical,
    /// Conditions that require immediate action.
    Alert,
    /// An unusable system.
    Emergency,
}

/// Parameters of `notifications/message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogMessage {
    /// Severity.
    pub level: LoggingLevel,
    /// The logger's name, such as a server component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The message's content: a string or any other JSON value. It must not contain secrets.
    pub data: Value,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl LogMessage {
    /// Creates a log message without a logger name.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            data: data.into(),
            meta: None,
        }
    }
}

/// Parameters of `logging/setLevel` (legacy revisions).
// spec: LOG-03
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetLevelParams {
    /// Minimum severity of the messages that the client receives.
    pub level: LoggingLevel,
}

impl From<LoggingLevel> for SetLevelParams {
    fn from(level: LoggingLevel) -> Self {
        Self { level }
    }
}
