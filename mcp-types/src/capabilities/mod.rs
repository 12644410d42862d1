//! What a client or a server offers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod client;
mod server;

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use serde_json::Value;

pub use client::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
pub use server::{ListChangedCapability, ResourcesCapability, ServerCapabilities};

use crate::JsonObject;
use crate::json::read_and_written;

/// The members of an object of which this library knows none: settings of a capability, which means
/// supported when it is present, or what an object has beside its known members.
///
/// Without members it costs no memory beside its place, since capabilities come with every modern
/// request; with them, a clone shares them.
// spec: VER-19
#[derive(Clone, Default)]
pub struct Settings(Option<Arc<JsonObject>>);

static EMPTY: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

impl Settings {
    /// The members.
    pub fn as_object(&self) -> &JsonObject {
        self.0.as_deref().unwrap_or(&EMPTY)
    }

    /// Adds a member, or replaces the one of that name.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.add(key.into(), value.into());
    }

    pub(crate) fn add(&mut self, key: String, value: Value) {
        self.as_object_mut().insert(key, value);
    }

    pub(crate) fn as_object_mut(&mut self) -> &mut JsonObject {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// There are no members.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|members| members.is_empty())
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        self.as_object() == other.as_object()
    }
}

impl From<JsonObject> for Settings {
    fn from(members: JsonObject) -> Self {
        Self((!members.is_empty()).then(|| Arc::new(members)))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_object().fmt(f)
    }
}

read_and_written!(Settings);

/// The settings of an extension, written as an object; nothing where they are no object.
fn extension_settings(settings: &impl Serialize) -> JsonObject {
    match serde_json::to_value(settings) {
        Ok(Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}

/// Writes what both sides can do with extensions, which each declares in the same way.
macro_rules! extensions {
    () => {
        /// Declares an extension with its settings: a struct or a map.
        // spec: EXT-01
        #[must_use]
        pub fn with_extension(
            mut self,
            id: impl Into<String>,
            settings: &impl serde::Serialize,
        ) -> Self {
            let settings = $crate::capabilities::extension_settings(settings);
            self.extensions.insert(id, settings);
            self
        }

        /// The settings of an extension, when it is declared and they are of type `T`.
        // spec: EXT-05
        pub fn extension<T: serde::de::DeserializeOwned>(&self, id: &str) -> Option<T> {
            T::deserialize(self.extensions.as_object().get(id)?).ok()
        }

        /// An extension is declared.
        pub fn has_extension(&self, id: &str) -> bool {
            self.extensions.as_object().contains_key(id)
        }
    };
}

pub(crate) use extensions;
