//! The members of a message, read in one pass and then checked against the rules of JSON-RPC.
//!
//! A derived struct would stop at the first repeated member and lose the id, which the error response
//! has to carry. It could not distinguish `"id": null` from a missing `id` either.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::problem::Problem;
use super::read_params::ReadParams;
use super::{ErrorObject, Message, Notification, Params, ParseError, Request, RequestId, Response};
use crate::{de::Str, raw::RawJson};

/// The members of a message.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) version: Option<RawJson<'a>>,
    pub(super) id: Option<RawJson<'a>>,
    pub(super) method: Option<RawJson<'a>>,
    pub(super) params: Option<Params<'a>>,
    pub(super) result: Option<RawJson<'a>>,
    pub(super) error: Option<RawJson<'a>>,
    problem: Problem,
}

impl<'a> Envelope<'a> {
    /// Reads the members of a JSON object.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the input is not valid JSON.
    pub(super) fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut json = serde_json::Deserializer::from_str(text);
        let envelope = json.deserialize_map(EnvelopeVisitor)?;
        json.end()?;
        Ok(envelope)
    }

    /// Returns the message that the members form.
    ///
    /// # Errors
    ///
    /// Returns [`ParseError::Invalid`] if they do not form a message.
    pub(super) fn into_message(mut self) -> Result<Message<'a>, ParseError> {
        let id = self.read_id();
        if let Problem(Some(problem)) = self.problem {
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
                match (self.id, id) {
                    // spec: BASE-12
                    (None, _) => Ok(Message::Notification(Notification { method, params })),
                    (Some(_), Some(id)) => Ok(Message::Request(Request { id, method, params })),
                    (Some(_), None) => {
                        // spec: BASE-03
                        invalid(None, "`id` must be a string or an integer, not null")
                    }
                }
            }
            // spec: BASE-07
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
            // Some servers write both members, of which one is `null`.
            (None, Some(result), Some(error)) if error.is_null() && id.is_some() => {
                Ok(Message::Response(Response {
                    id,
                    outcome: Ok(result),
                }))
            }
            (None, Some(_), None) => invalid(id, "a result needs an `id`"),
            (None, None, None) => {
                invalid(id, "a message has one of `method`, `result` and `error`")
            }
            // spec: BASE-08
            _ => invalid(
                id,
                "a message has only one of `method`, `result` and `error`",
            ),
        }
    }

    /// Returns the id if it is valid. `null` is not an id: requests refuse it, error responses allow
    /// it.
    // spec: BASE-11
    fn read_id(&mut self) -> Option<RequestId> {
        let raw = self.id.filter(|raw| !raw.is_null())?;
        let mut id = RequestId::from_raw(raw);
        if id.is_none() && self.method.is_none() {
            id = RequestId::from_fraction(raw);
        }
        if id.is_none() {
            self.problem
                .note("`id` must be a string or a 64-bit integer");
        }
        id
    }
}

fn invalid<T>(
    id: Option<RequestId>,
    reason: impl Into<Cow<'static, str>>,
) -> Result<T, ParseError> {
    let reason = reason.into();
    Err(ParseError::Invalid { id, reason })
}

impl ParseError {
    /// Returns an error response in place of the one that `message`, the bytes with this error, was meant to be. It ends
    /// the request that waits for the response. `None` if the bytes are not a response, or name no request.
    // spec: BASE-11
    #[doc(hidden)]
    pub fn as_response(&self, message: &[u8]) -> Option<Response<'static>> {
        let text = String::from_utf8_lossy(message);
        let (is_request, has_outcome) = match Envelope::read(&text) {
            Ok(envelope) => {
                let has_outcome = envelope.result.is_some() || envelope.error.is_some();
                (envelope.method.is_some(), has_outcome)
            }
            Err(_) => {
                let has = |name| text.contains(name);
                (has("\"method\""), has("\"result\"") || has("\"error\""))
            }
        };
        let id = self.id().cloned().or_else(|| number_of_id(&text))?;
        let is_response = has_outcome && !is_request;
        is_response.then(|| Response::new(Some(id), Err(self.to_error())))
    }
}

/// Returns the number in the first `"id"` of a text that is not a message.
fn number_of_id(text: &str) -> Option<RequestId> {
    let (_, after) = text.split_once("\"id\"")?;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let digits = after.trim_start_matches('"');
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = digits[..end].parse().ok()?;
    Some(number.into())
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut found = Envelope::default();
        while let Some(Str(name)) = map.next_key()? {
            let slot = match &*name {
                "jsonrpc" => &mut found.version,
                "id" => &mut found.id,
                "method" => &mut found.method,
                "result" => &mut found.result,
                "error" => &mut found.error,
                "params" => {
                    let params = map.next_value_seed(ReadParams(&mut found.problem))?;
                    if found.params.replace(params).is_some() {
                        found.problem.note("`params` comes twice");
                    }
                    continue;
                }
                _ => {
                    // spec: BASE-19
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = RawJson::new(map.next_value()?);
            if slot.replace(value).is_some() {
                found.problem.note(format!("`{name}` comes twice"));
            }
        }
        Ok(found)
    }
}
