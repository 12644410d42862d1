//! `_meta`: metadata of requests, results, notifications and definitions.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

pub mod keys;
mod trace;

use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use trace::{Baggage, InvalidTrace, TraceContext, TraceParent, TraceState};

use crate::extra::{ExtraFields, JsonObject};

/// A `_meta` object. All keys are kept.
///
/// # Examples
///
/// ```
/// use mcp::types::Meta;
///
/// let meta = Meta::default().with("com.example/region", "eu");
/// assert_eq!(meta.get::<String>("com.example/region"), Some("eu".to_owned()));
/// ```
// spec: META-05
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Meta(ExtraFields);

impl Meta {
    /// Adds a key, or replaces its value.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// Reads the value of `key` as `T`. Returns `None` if the key is missing or its value is not a valid
    /// `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let value = self.0.get(key);
        value.and_then(|value| T::deserialize(value).ok())
    }

    /// Adds a key and returns its previous value.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.as_object_mut().insert(key.into(), value.into())
    }

    /// Removes a key and returns its value. The other keys keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.as_object_mut().shift_remove(key)
    }
}

/// The keys and values as a JSON object.
impl Deref for Meta {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        &self.0
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
    fn meta_is_empty_when_all_keys_are_removed() {
        let mut meta = Meta::default().with("a", 1);
        assert_ne!(meta, Meta::default());
        assert_eq!(meta.remove("a"), Some(1.into()));
        assert!(meta.is_empty());
        assert_eq!(meta, Meta::default());
        assert_eq!(serde_json::to_string(&meta).unwrap(), "{}");
    }
}
