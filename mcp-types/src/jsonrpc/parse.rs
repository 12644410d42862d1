//! The parser: text to [`Message`] in one pass, nothing copied that need not be.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{ErrorObject, Message, Notification, Params, Request, RequestId, Response};
use crate::codes;
use crate::text::Str;

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
        let text = std::str::from_utf8(text)
            .map_err(|error| ParseError::Syntax(format!("not UTF-8: {error}")))?;
        match text.trim_start().as_bytes().first() {
            Some(b'[') => return Err(ParseError::Batch),
            Some(b'{') | None => {}
            Some(_) => return not_an_object(text),
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let envelope = EnvelopeSeed
            .deserialize(&mut deserializer)
            .and_then(|envelope| deserializer.end().map(|()| envelope))
            .map_err(|error| ParseError::Syntax(error.to_string()))?;
        envelope.into_message()
    }
}

/// Tells JSON of another kind (-32600) from no JSON (-32700).
#[cold]
fn not_an_object<T>(text: &str) -> Result<T, ParseError> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Err(ParseError::Invalid {
            id: None,
            reason: Cow::Borrowed("a message is a JSON object"),
        }),
        Err(error) => Err(ParseError::Syntax(error.to_string())),
    }
}

/// What was found in the text, before it is judged.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<Params<'a>>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    problem: Option<Cow<'static, str>>,
}

impl<'a> Envelope<'a> {
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
        if self.version.is_none_or(|raw| raw.get() != r#""2.0""#) {
            return invalid(id, r#"`jsonrpc` must be "2.0""#);
        }
        let params = self.params.unwrap_or_default();
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                let Some(method) = read_string(method) else {
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
            (None, None, Some(error)) => match serde_json::from_str::<ErrorObject>(error.get()) {
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
        let raw = self.id.filter(|raw| raw.get() != "null")?;
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

/// A JSON string, borrowed unless it has escapes.
pub(super) fn read_string<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    let text = raw.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

struct EnvelopeSeed;

impl<'de> DeserializeSeed<'de> for EnvelopeSeed {
    type Value = Envelope<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Envelope::default();
        while let Some(Str(key)) = map.next_key()? {
            let slot = match key.as_ref() {
                "jsonrpc" => &mut found.version,
                "id" => &mut found.id,
                "method" => &mut found.method,
                "result" => &mut found.result,
                "error" => &mut found.error,
                "params" => {
                    let (params, problem) = map.next_value_seed(ParamsSeed)?;
                    if found.params.replace(params).is_some() {
                        found.note("`params` comes twice");
                    }
                    if let Some(problem) = problem {
                        found.note(problem);
                    }
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                found.note(format!("`{key}` comes twice"));
            }
        }
        Ok(found)
    }
}

/// Finds the members of `params`. What is wrong with them is told beside them, so that the rest
/// of the message (its id above all) is still read.
struct ParamsSeed;

type Found<'de> = (Params<'de>, Option<Cow<'static, str>>);

impl<'de> DeserializeSeed<'de> for ParamsSeed {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ParamsSeed {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut params = Params::with_room();
        let mut problem = None;
        while let Some(Str(key)) = map.next_key()? {
            let value = map.next_value()?;
            if params.len() == Params::MAX_MEMBERS {
                problem = Some(Cow::Borrowed("`params` has too many members"));
            } else if params.get(&key).is_some() {
                problem = Some(Cow::Owned(format!("`params.{key}` comes twice")));
            } else {
                params.push(key, value);
            }
        }
        Ok((params, problem))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok((Params::default(), None))
    }

    // spec: BASE-13
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(not_members())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(not_members())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(not_members())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(not_members())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(not_members())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(not_members())
    }
}

#[cold]
fn not_members<'de>() -> Found<'de> {
    (
        Params::default(),
        Some(Cow::Borrowed("`params` must be an object")),
    )
}

#[cfg(test)]
mod tests;
