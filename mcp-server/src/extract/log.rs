//! Log messages for the client.

use mcp_core::NotificationSender;
use mcp_types::{LogMessage, LoggingLevel};
use serde_json::Value;

use super::from_call::FromCall;
use crate::call::{CallContext, RouteSpec};
use crate::rejection::Rejection;

/// Sends log messages to the client, if it asked for messages of their level. Never waits; a message
/// is lost when the buffer for the client is full.
///
/// # Examples
///
/// ```
/// use mcp::Log;
///
/// async fn import(log: Log) -> &'static str {
///     log.info("started");
///     log.warning(serde_json::json!({"skipped": 3}));
///     "done"
/// }
/// ```
// spec: LOG-02
#[derive(Debug, Clone)]
pub struct Log(NotificationSender);

macro_rules! levels {
    ($($(#[$doc:meta])* $method:ident: $level:ident),*) => {
        $($(#[$doc])*
        pub fn $method(&self, data: impl Into<Value>) {
            self.log(LoggingLevel::$level, data);
        })*
    };
}

impl Log {
    levels! {
        /// Sends details for developers.
        debug: Debug,
        /// Sends a message about normal operation.
        info: Info,
        /// Sends a message about a normal but significant event.
        notice: Notice,
        /// Sends a message about a possible problem.
        warning: Warning,
        /// Sends a message about a failure.
        error: Error
    }

    /// Sends a message of any level: a string, or any other JSON.
    pub fn log(&self, level: LoggingLevel, data: impl Into<Value>) {
        if self.is_wanted(level) {
            self.send(LogMessage::new(level, data));
        }
    }

    /// Sends a message that may have a logger's name.
    pub fn send(&self, message: LogMessage) {
        self.0.log(message);
    }

    /// Returns whether the client asked for this level's messages.
    pub fn is_wanted(&self, level: LoggingLevel) -> bool {
        self.0.wants_log(level)
    }
}

impl FromCall for Log {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.notifications().clone()))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.sends_logs();
    }
}
