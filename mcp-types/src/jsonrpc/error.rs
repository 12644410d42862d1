//! Error objects of responses.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::escape::escape_line;

/// The `error` member of a response.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>
// spec: BASE-09
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ErrorObject {
    /// Error code. [`codes`](crate::codes) lists the protocol's codes.
    pub code: i64,
    /// The error's short description, limited to one sentence.
    pub message: String,
    /// Additional information about the error: any JSON value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Sets the data. A value that cannot be serialized leaves the error without data.
    #[must_use]
    pub fn with_data(mut self, data: &(impl Serialize + ?Sized)) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// Reads the data as `T`. Returns `None` if there is no data or it is not a valid `T`.
    pub fn data_as<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.data.as_deref()?.get()).ok()
    }
}

/// Shows message and code on one line. The message is text of a peer: hidden characters are
/// [escaped](escape_line).
impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", escape_line(&self.message), self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// Compares the data as strings.
impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        let text = |error: &Self| error.data.as_ref().map(|raw| raw.get().to_owned());
        self.code == other.code && self.message == other.message && text(self) == text(other)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorObject;

    #[test]
    fn display_escapes_message_from_peer() {
        let error = ErrorObject::new(
            -32000,
            "no\r\n12:00 INFO paid\u{1b}[2K\u{9b}\u{202e}\u{200b}",
        );
        assert_eq!(
            error.to_string(),
            r"no\r\n12:00 INFO paid\u{1b}[2K\u{9b}\u{202e}\u{200b} (-32000)"
        );
    }
}
