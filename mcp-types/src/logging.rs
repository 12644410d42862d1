//! Log messages for the client.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>

use serde_json::Value;

use crate::Meta;
use crate::json::members;
use crate::text::plain_enum;

/// How severe a log message is (RFC 5424), least severe first.
// spec: LOG-02
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For developers.
    Debug,
    /// What happens normally.
    Info,
    /// Normal, but worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A component failed.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

plain_enum!(LoggingLevel {
    Debug = "debug",
    Info = "info",
    Notice = "notice",
    Warning = "warning",
    Error = "error",
    Critical = "critical",
    Alert = "alert",
    Emergency = "emergency",
} first Debug);

/// Parameters of `notifications/message`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LogMessage {
    /// How severe.
    pub level: LoggingLevel,
    /// Which part of the server speaks.
    pub logger: Option<String>,
    /// What it says: text or any other JSON. Never secrets.
    // spec: LOG-07
    pub data: Value,
    /// What the notification carries beside.
    pub meta: Option<Meta>,
}

members!(LogMessage as "a log message" {
    "level" => level,
    "logger" => logger or nothing,
    "data" => data,
    "_meta" => meta or nothing,
});

impl LogMessage {
    /// A message.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            data: data.into(),
            meta: None,
        }
    }

    /// Says which part of the server speaks.
    #[must_use]
    pub fn logger(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }
}

/// Parameters of `logging/setLevel` (legacy era alone).
// spec: LOG-03
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// The least level that the client wants.
    pub level: LoggingLevel,
}

members!(SetLevelParams as "a level of messages" {
    "level" => level,
});

impl SetLevelParams {
    /// Wants this level and every more severe one.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level }
    }
}
