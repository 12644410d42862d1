//! `_meta`: what a message carries beside its parameters or its result.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

pub mod keys;
mod syntax;
mod trace;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use syntax::{InvalidKey, check_key, is_reserved_key};
pub use trace::{Baggage, InvalidTrace, TraceContext, TraceParent, TraceState};

use crate::json::{Piece, Read, Slot, Write, read_and_written};
use crate::{JsonObject, Settings};

/// The `_meta` object of a definition, a result or a notification. Unknown keys survive.
///
/// # Examples
///
/// ```
/// use mcp_types::Meta;
///
/// let meta = Meta::default().with("com.example/region", "eu");
/// assert_eq!(meta.get::<String>("com.example/region"), Some("eu".to_owned()));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meta(Settings);

impl Write for Meta {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        self.0.piece()
    }
}

impl Read for Meta {
    #[inline]
    fn blank() -> Self {
        Self::default()
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        self.0.slot()
    }
}

read_and_written!(Meta);

impl Meta {
    /// Adds a key; replaces its former value.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// The value at `key`, when it is there and of type `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let value = self.as_object().get(key);
        value.and_then(|value| T::deserialize(value).ok())
    }

    /// Adds a key; gives back its former value.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.as_object_mut().insert(key.into(), value.into())
    }

    /// Takes a key out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.as_object_mut().shift_remove(key)
    }

    /// No key at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members.
    pub fn as_object(&self) -> &JsonObject {
        self.0.as_object()
    }
}

impl From<JsonObject> for Meta {
    fn from(members: JsonObject) -> Self {
        Self(members.into())
    }
}

impl FromIterator<(String, Value)> for Meta {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(members: T) -> Self {
        Self::from(members.into_iter().collect::<JsonObject>())
    }
}

#[cfg(test)]
mod tests {
    use super::Meta;

    #[test]
    fn what_was_emptied_is_empty() {
        let mut meta = Meta::default().with("a", 1);
        assert_ne!(meta, Meta::default());
        assert_eq!(meta.remove("a"), Some(1.into()));
        assert!(meta.is_empty());
        assert_eq!(meta, Meta::default());
        assert_eq!(serde_json::to_string(&meta).unwrap(), "{}");
    }
}
