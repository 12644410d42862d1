//! Capabilities of clients and servers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod client;
mod server;

use serde::Serialize;
use serde_json::Value;

pub use client::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
pub use server::{ListChangedCapability, ResourcesCapability, ServerCapabilities};

use crate::extra::JsonObject;

/// Serializes the settings of an extension. Settings that are not an object become an empty object.
fn extension_settings(settings: &impl Serialize) -> JsonObject {
    match serde_json::to_value(settings) {
        Ok(Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}

/// Defines the methods for extensions, which client and server capabilities share.
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

        /// Reads the settings of an extension as `T`. Returns `None` if the extension is not declared
        /// or its settings are not a valid `T`.
        pub fn extension<T: serde::de::DeserializeOwned>(&self, id: &str) -> Option<T> {
            T::deserialize(self.extensions.get(id)?).ok()
        }

        /// Returns `true` if the extension is declared.
        pub fn has_extension(&self, id: &str) -> bool {
            self.extensions.contains_key(id)
        }
    };
}

pub(crate) use extensions;
