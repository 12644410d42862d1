//! What a client or a server offers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod client;
mod server;

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use client::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
pub use server::{ListChangedCapability, ResourcesCapability, ServerCapabilities};

use crate::JsonObject;

/// A capability without members of its own: present means supported. Unknown members survive.
///
/// Without members it costs no memory beside its place, since capabilities come with every modern
/// request.
// spec: VER-19
#[derive(Clone, Default, PartialEq)]
pub struct Settings(Option<Box<JsonObject>>);

static EMPTY: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

impl Settings {
    /// The members.
    pub fn as_object(&self) -> &JsonObject {
        self.0.as_deref().unwrap_or(&EMPTY)
    }

    /// There are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl From<JsonObject> for Settings {
    fn from(members: JsonObject) -> Self {
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_object().fmt(f)
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_object().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(Self::from)
    }
}

/// The settings of an extension, written as an object; nothing where they are no object.
fn extension_settings(settings: &impl Serialize) -> JsonObject {
    match serde_json::to_value(settings) {
        Ok(serde_json::Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}
