//! JSON text that is known to be an object.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::RawJson;
use crate::json::{self, Piece, Write, read_and_written, read_via};

/// The text of a JSON object, kept as it arrived: arguments of a tool, an opaque result.
///
/// Nothing is parsed until somebody asks for it, so no member, key order or number is lost.
///
/// # Examples
///
/// ```
/// use mcp_types::RawObject;
///
/// let raw = RawObject::from_text(r#"{"a": 1}"#)?;
/// assert_eq!(raw.as_str(), r#"{"a": 1}"#);
/// # Ok::<(), mcp_types::RawObjectError>(())
/// ```
#[derive(Clone)]
pub struct RawObject(Box<str>);

/// The text or value is not a JSON object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RawObjectError {
    /// The text is no JSON.
    #[error("not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but another kind of value.
    #[error("expected a JSON object, got {0}")]
    NotAnObject(&'static str),
}

impl RawObject {
    /// Takes the text of a JSON object.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when the text is no JSON or no object.
    pub fn from_text(text: impl Into<String>) -> Result<Self, RawObjectError> {
        Self::from_boxed(RawValue::from_string(text.into())?)
    }

    /// Serializes a value that becomes a JSON object: a struct or a map.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when the value cannot be serialized or becomes something else.
    pub fn from_value(value: &impl Serialize) -> Result<Self, RawObjectError> {
        Self::from_boxed(serde_json::value::to_raw_value(value)?)
    }

    /// Copies the text of an object that was borrowed from a message.
    ///
    /// # Errors
    ///
    /// [`RawObjectError::NotAnObject`] when it is another kind of value.
    pub fn from_raw(raw: RawJson<'_>) -> Result<Self, RawObjectError> {
        check(raw.as_str())?;
        Ok(Self(raw.as_str().into()))
    }

    /// [`from_value`](Self::from_value) without another copy of the writer in the crate that asks.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when the value is no object.
    #[doc(hidden)]
    pub fn of(value: &dyn Write) -> Result<Self, RawObjectError> {
        let mut text = Vec::new();
        json::write(&mut text, value);
        let text = String::from_utf8(text).unwrap_or_default();
        check(&text)?;
        Ok(Self(text.into()))
    }

    fn from_boxed(raw: Box<RawValue>) -> Result<Self, RawObjectError> {
        check(raw.get())?;
        Ok(Self(raw.into()))
    }

    /// The object without members.
    pub fn empty() -> Self {
        Self("{}".into())
    }

    pub(crate) fn into_text(self) -> Box<str> {
        self.0
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a value, to look into.
    pub fn as_raw(&self) -> RawJson<'_> {
        RawJson::checked(&self.0)
    }

    /// Reads the object as `T`.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the members do not fit `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }
}

/// Tells an object from every other value by its first character: raw JSON has no leading space.
fn check(text: &str) -> Result<(), RawObjectError> {
    let kind = match text.as_bytes().first() {
        Some(b'{') => return Ok(()),
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    Err(RawObjectError::NotAnObject(kind))
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Compares the JSON values, not their texts.
impl PartialEq for RawObject {
    fn eq(&self, other: &Self) -> bool {
        fn value(raw: &RawObject) -> Option<serde_json::Value> {
            raw.parse().ok()
        }
        self.as_str() == other.as_str() || value(self) == value(other)
    }
}

impl Write for RawObject {
    fn piece(&self) -> Piece<'_> {
        // The one form in which serde_json takes text as it is.
        serde_json::from_str(&self.0).map_or(Piece::Null, Piece::Raw)
    }
}

read_via!(RawObject, Self::empty(), |raw: Box<RawValue>| {
    Self::from_boxed(raw).map_err(|error| error.to_string())
});

read_and_written!(RawObject);

#[cfg(test)]
mod tests {
    use super::RawObject;

    #[test]
    fn only_objects() {
        for text in ["[]", "1", "-1", "null", "true", "\"x\"", "{", ""] {
            assert!(RawObject::from_text(text).is_err(), "{text}");
        }
        assert_eq!(
            RawObject::from_text(r#"{"a":1}"#).unwrap().as_str(),
            r#"{"a":1}"#
        );
        assert_eq!(RawObject::empty().as_str(), "{}");
    }

    #[test]
    fn survives_serde_in_both_forms() {
        let value = serde_json::json!({"b": 1, "a": [true]});
        let from_value: RawObject = serde_json::from_value(value.clone()).unwrap();
        let from_text: RawObject = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(from_value, from_text);
        assert!(serde_json::from_str::<RawObject>("[1]").is_err());
    }
}
