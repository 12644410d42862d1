//! The error for bytes that are not a message.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{ErrorObject, RequestId};
use crate::codes;

/// Error for bytes that are not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The input is not valid JSON.
    #[error("invalid JSON: {0}")]
    Syntax(String),
    /// The JSON is not a valid message.
    #[error("invalid message: {reason}")]
    Invalid {
        /// The message's id, if it could be read.
        id: Option<RequestId>,
        /// The error's description.
        reason: Cow<'static, str>,
    },
    /// The JSON is an array: a batch, which only revision 2025-03-26 defines.
    #[error("batches of messages are not part of this protocol revision; send one message")]
    Batch,
}

impl ParseError {
    /// Returns the id for the error response, if it could be read.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Invalid { id, .. } => id.as_ref(),
            Self::Syntax(_) | Self::Batch => None,
        }
    }

    pub(super) fn utf8(text: &[u8]) -> Result<&str, Self> {
        std::str::from_utf8(text).map_err(|error| Self::Syntax(format!("not UTF-8: {error}")))
    }

    /// Returns the error for input that does not start with the expected bracket: `Invalid` with
    /// `reason` for valid JSON, otherwise `Syntax`.
    pub(super) fn unexpected_kind(text: &str, reason: &'static str) -> Self {
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Self::Invalid {
                id: None,
                reason: Cow::Borrowed(reason),
            },
            Err(error) => Self::syntax(&error),
        }
    }

    pub(super) fn syntax(error: &serde_json::Error) -> Self {
        Self::Syntax(error.to_string())
    }

    /// Returns the error object for the response.
    pub fn to_error(&self) -> ErrorObject {
        let code = match self {
            Self::Syntax(_) => codes::PARSE_ERROR,
            Self::Invalid { .. } | Self::Batch => codes::INVALID_REQUEST,
        };
        ErrorObject::new(code, self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::jsonrpc::{Message, RequestId};

    #[test]
    fn bytes_that_were_meant_as_a_response_name_their_request() {
        for (text, id) in [
            (&br#"{"jsonrpc":"1.0","id":7,"result":{}}"#[..], Some(7)),
            (br#"{"id":7,"result":{"method":"card"}}"#, Some(7)),
            (
                br#"{"jsonrpc":"2.0","id":7,"result":1,"error":{}}"#,
                Some(7),
            ),
            (br#"{"jsonrpc":"2.0","id":7,"error":"no"}"#, Some(7)),
            (br#"{"jsonrpc":"2.0","id":7}"#, None),
            (br#"{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}"#, Some(7)),
            (br#"{"jsonrpc":"2.0","id" : "7","result":{"#, Some(7)),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xe9\"}}",
                Some(7),
            ),
            (br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, None),
            (
                br#"{"jsonrpc":"2.0","id":7,"method":"m","params":NaN}"#,
                None,
            ),
            (br#"{"jsonrpc":"2.0","id":7"#, None),
            (br#"{"jsonrpc":"2.0","result":{}}"#, None),
            (br#"{"jsonrpc":"2.0","id":"x","result":{"#, None),
            (br#""result","id":99999999999999999999,"#, None),
            (b"Server started", None),
        ] {
            let error = Message::parse(text).unwrap_err();
            let response = error.as_response(text);
            let place = String::from_utf8_lossy(text);
            assert_eq!(
                response.and_then(|found| found.id),
                id.map(RequestId::Number),
                "{place}"
            );
        }
    }
}
