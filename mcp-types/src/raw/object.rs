//! A JSON object that is stored as it arrived.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::RawJson;

/// A JSON object stored as the string that arrived: a tool's arguments, an opaque result.
///
/// The object is validated and not interpreted, so member order, repeated members and the spelling of
/// numbers survive.
///
/// # Examples
///
/// ```
/// use mcp::types::RawObject;
///
/// let raw = RawObject::from_text(r#"{"a": 1}"#)?;
/// assert_eq!(raw.as_str(), r#"{"a": 1}"#);
/// # Ok::<(), mcp::types::RawObjectError>(())
/// ```
#[derive(Clone)]
pub struct RawObject(Box<str>);

/// Error for JSON that is not an object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RawObjectError {
    /// The input is not valid JSON, or a value cannot be serialized.
    #[error("not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The JSON is another kind of value.
    #[error("expected a JSON object, got {0}")]
    NotAnObject(&'static str),
}

/// The object without members.
impl Default for RawObject {
    fn default() -> Self {
        Self("{}".into())
    }
}

impl RawObject {
    /// Creates an object from a JSON string and validates it.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if the string is not valid JSON or not an object.
    pub fn from_text(text: impl Into<String>) -> Result<Self, RawObjectError> {
        Self::from_boxed(RawValue::from_string(text.into())?)
    }

    /// Serializes a struct or a map.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if the value cannot be serialized or does not become an object.
    pub fn from_value(value: &(impl Serialize + ?Sized)) -> Result<Self, RawObjectError> {
        Self::from_boxed(serde_json::value::to_raw_value(value)?)
    }

    /// Copies an object out of its message.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError::NotAnObject`] if `raw` is another kind of value.
    pub fn from_raw(raw: RawJson<'_>) -> Result<Self, RawObjectError> {
        check(raw.as_str())?;
        Ok(Self(raw.as_str().into()))
    }

    fn from_boxed(raw: Box<RawValue>) -> Result<Self, RawObjectError> {
        check(raw.get())?;
        Ok(Self(raw.into()))
    }

    /// Returns the JSON as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the object as a borrowed JSON value.
    pub fn as_raw(&self) -> RawJson<'_> {
        RawJson::from_valid(&self.0)
    }

    /// Reads the object as `T`.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the object is not a valid `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }
}

/// Checks the first character, which tells the kind of the value: a `RawValue` has no leading space.
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

/// Compares the JSON values. Whitespace and member order do not matter.
impl PartialEq for RawObject {
    fn eq(&self, other: &Self) -> bool {
        fn value(raw: &RawObject) -> Option<serde_json::Value> {
            raw.parse().ok()
        }
        self.as_str() == other.as_str() || value(self) == value(other)
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Only `serde_json` can create a `RawValue`, and it reads the JSON for that.
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_boxed(Box::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::RawObject;

    #[test]
    fn from_text_other_than_object_is_refused() {
        for text in ["[]", "1", "-1", "null", "true", "\"x\"", "{", ""] {
            assert!(RawObject::from_text(text).is_err(), "{text}");
        }
        assert_eq!(
            RawObject::from_text(r#"{"a":1}"#).unwrap().as_str(),
            r#"{"a":1}"#
        );
        assert_eq!(RawObject::default().as_str(), "{}");
    }

    #[test]
    fn deserialize_from_value_and_from_text_gives_same_object() {
        let value = serde_json::json!({"b": 1, "a": [true]});
        let from_value: RawObject = serde_json::from_value(value.clone()).unwrap();
        let from_text: RawObject = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(from_value, from_text);
        assert!(serde_json::from_str::<RawObject>("[1]").is_err());
    }
}
