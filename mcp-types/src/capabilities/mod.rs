//! What a client or a server offers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod client;
mod server;

use serde::{Deserialize, Serialize};

pub use client::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
pub use server::{ListChangedCapability, ResourcesCapability, ServerCapabilities};

use crate::JsonObject;

/// A capability without members of its own: present means supported. Unknown members survive.
// spec: VER-19
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(JsonObject);

impl Settings {
    /// The members.
    pub fn as_object(&self) -> &JsonObject {
        &self.0
    }
}

impl From<JsonObject> for Settings {
    fn from(members: JsonObject) -> Self {
        Self(members)
    }
}
