//! The parser: text to [`Message`] in one pass, nothing copied that need not be.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{ErrorObject, Message, Notification, Params, Request, RequestId, Response};
use crate::raw::{Malformed, Scanner};
use crate::{RawJson, codes};

/// The text is no JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Not JSON at all.
    #[error("invalid JSON: {0}")]
    Syntax(String),
    /// JSON, but no valid message.
    #[error("invalid message: {reason}")]
    Invalid {
        /// The id of the message where it could be read.
        id: Option<RequestId>,
        /// What is wrong.
        reason: Cow<'static, str>,
    },
    /// An array: several messages at once, which only 2025-03-26 knows.
    #[error("batches of messages are not part of this protocol revision; send one message")]
    Batch,
}

impl ParseError {
    /// The id that an answer to the broken message has to carry.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Invalid { id, .. } => id.as_ref(),
            Self::Syntax(_) | Self::Batch => None,
        }
    }

    pub(super) fn utf8(text: &[u8]) -> Result<&str, Self> {
        std::str::from_utf8(text).map_err(|error| Self::Syntax(format!("not UTF-8: {error}")))
    }

    /// Tells JSON of another kind (-32600) from no JSON (-32700).
    #[cold]
    pub(super) fn other_kind(text: &str, reason: &'static str) -> Self {
        let mut scanner = Scanner::new(text);
        match scanner.value().and_then(|_| scanner.end()) {
            Ok(()) => Self::Invalid {
                id: None,
                reason: Cow::Borrowed(reason),
            },
            Err(Malformed) => Self::syntax(text),
        }
    }

    /// Tells where text is no JSON.
    #[cold]
    pub(super) fn syntax(text: &str) -> Self {
        let error = serde_json::from_str::<IgnoredAny>(text).err();
        // What only we refuse is a name whose escapes make no character.
        let reason = error.map(|error| error.to_string());
        Self::Syntax(reason.unwrap_or_else(|| "a name has a broken escape".to_owned()))
    }

    /// The error object that tells the peer.
    pub fn to_error(&self) -> ErrorObject {
        let code = match self {
            Self::Syntax(_) => codes::PARSE_ERROR,
            Self::Invalid { .. } | Self::Batch => codes::INVALID_REQUEST,
        };
        ErrorObject::new(code, self.to_string())
    }
}

impl<'a> Message<'a> {
    /// Parses one message. The members of `params` and a `result` are borrowed, not decoded.
    ///
    /// Envelope keys and members of `params` that come twice are refused: two readers of one
    /// message must never see two different messages.
    ///
    /// # Errors
    ///
    /// [`ParseError`]: no JSON, an array, or no valid request, notification or response.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_types::Message;
    ///
    /// let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#;
    /// let Message::Request(request) = Message::parse(text)? else { unreachable!() };
    /// assert_eq!(request.method, "tools/list");
    /// assert_eq!(request.params.optional::<&str>("cursor").unwrap(), Some("x"));
    /// # Ok::<(), mcp_types::ParseError>(())
    /// ```
    pub fn parse(text: &'a [u8]) -> Result<Self, ParseError> {
        let text = ParseError::utf8(text)?;
        let mut scanner = Scanner::new(text);
        match scanner.peek() {
            b'[' => return Err(ParseError::Batch),
            b'{' => {}
            _ => return Err(ParseError::other_kind(text, "a message is a JSON object")),
        }
        Envelope::find(scanner)
            .map_err(|Malformed| ParseError::syntax(text))?
            .into_message()
    }
}

/// What was found in the text, before it is judged.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<RawJson<'a>>,
    id: Option<RawJson<'a>>,
    method: Option<RawJson<'a>>,
    params: Option<Params<'a>>,
    result: Option<RawJson<'a>>,
    error: Option<RawJson<'a>>,
    problem: Option<Cow<'static, str>>,
}

impl<'a> Envelope<'a> {
    fn find(mut scanner: Scanner<'a>) -> Result<Self, Malformed> {
        let mut found = Self::default();
        scanner.object(|scanner, name| {
            let slot = match &*name {
                "jsonrpc" => &mut found.version,
                "id" => &mut found.id,
                "method" => &mut found.method,
                "result" => &mut found.result,
                "error" => &mut found.error,
                "params" => return found.find_params(scanner),
                _ => return scanner.value().map(drop),
            };
            if slot.replace(scanner.value()?).is_some() {
                found.note(format!("`{name}` comes twice"));
            }
            Ok(())
        })?;
        scanner.end()?;
        Ok(found)
    }

    // spec: BASE-13
    fn find_params(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Malformed> {
        let params = match scanner.peek() {
            b'{' => Params::find(scanner, |problem| self.note(problem))?,
            _ => {
                if !scanner.value()?.is_null() {
                    self.note("`params` must be an object");
                }
                Params::default()
            }
        };
        if self.params.replace(params).is_some() {
            self.note("`params` comes twice");
        }
        Ok(())
    }

    /// Keeps the first problem: it is the one closest to the cause.
    #[cold]
    fn note(&mut self, problem: impl Into<Cow<'static, str>>) {
        self.problem.get_or_insert_with(|| problem.into());
    }

    fn into_message(mut self) -> Result<Message<'a>, ParseError> {
        let id = self.read_id();
        if let Some(problem) = self.problem {
            return invalid(id, problem);
        }
        if self.version.is_none_or(|raw| raw.as_str() != r#""2.0""#) {
            return invalid(id, r#"`jsonrpc` must be "2.0""#);
        }
        let params = self.params.unwrap_or_default();
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                let Some(method) = method.text() else {
                    return invalid(id, "`method` must be a string");
                };
                // A null id on a request would make it unanswerable.
                match (self.id, id) {
                    (None, _) => Ok(Message::Notification(Notification { method, params })),
                    (Some(_), Some(id)) => Ok(Message::Request(Request { id, method, params })),
                    (Some(_), None) => {
                        invalid(None, "`id` must be a string or an integer, not null")
                    }
                }
            }
            (None, Some(result), None) if id.is_some() => Ok(Message::Response(Response {
                id,
                outcome: Ok(result),
            })),
            (None, None, Some(error)) => match error.read::<ErrorObject>() {
                Ok(error) => Ok(Message::Response(Response {
                    id,
                    outcome: Err(error),
                })),
                Err(error) => invalid(id, format!("`error`: {error}")),
            },
            (None, Some(_), None) => invalid(id, "a result needs an `id`"),
            (None, None, None) => {
                invalid(id, "a message has one of `method`, `result` and `error`")
            }
            _ => invalid(
                id,
                "a message has only one of `method`, `result` and `error`",
            ),
        }
    }

    /// The id, when it is one. `null` is left for the shape of the message to judge.
    // spec: BASE-11
    fn read_id(&mut self) -> Option<RequestId> {
        let raw = self.id.filter(|raw| !raw.is_null())?;
        let id = RequestId::from_raw(raw);
        if id.is_none() {
            self.note("`id` must be a string or a 64-bit integer");
        }
        id
    }
}

#[cold]
fn invalid<T>(
    id: Option<RequestId>,
    reason: impl Into<Cow<'static, str>>,
) -> Result<T, ParseError> {
    let reason = reason.into();
    Err(ParseError::Invalid { id, reason })
}

#[cfg(test)]
mod tests;
