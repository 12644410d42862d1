//! Protocol extensions: their identity, their settings and their messages, for both sides.
//!
//! An [`Extension`] is a name with two types of settings. Its [requests](CustomRequest) and
//! [notifications](CustomNotification) are types, too, so that both sides agree on their parameters
//! and results. The crates of servers and clients register handlers for them.
//!
//! Spec: <https://modelcontextprotocol.io/docs/extensions/overview>

mod json;
mod registration;

use mcp_types::{ClientCapabilities, JsonObject, ServerCapabilities};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use json::{from_params, to_object};
pub use registration::{Registration, find_problems};

use crate::connection::ClientContext;

/// A protocol extension: its identifier and its settings.
///
/// Use `()` for a side without settings. The settings must serialize to a JSON object.
///
/// # Examples
///
/// ```
/// use mcp::extension::Extension;
///
/// /// The time of a server.
/// struct Clock;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct ClockSettings {
///     zone: String,
/// }
///
/// impl Extension for Clock {
///     const ID: &'static str = "com.example/clock";
///     type ServerSettings = ClockSettings;
///     type ClientSettings = ();
/// }
/// ```
// spec: EXT-01, EXT-03
pub trait Extension: Send + Sync + 'static {
    /// The identifier: a domain name in reverse order, a slash, and a name, such as
    /// `com.example/clock`. A breaking change gets another identifier.
    const ID: &'static str;

    /// The settings that servers publish.
    type ServerSettings: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The settings that clients publish.
    type ClientSettings: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// An extension request, from either side.
///
/// Parameters and results are JSON objects, or `()`.
///
/// # Examples
///
/// ```
/// use mcp::extension::{CustomRequest, Extension};
///
/// # struct Clock;
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ();
/// #     type ClientSettings = ();
/// # }
/// struct Now;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Time {
///     seconds: u64,
/// }
///
/// impl CustomRequest for Now {
///     const METHOD: &'static str = "clock/now";
///     type Extension = Clock;
///     type Params = ();
///     type Result = Time;
/// }
/// ```
pub trait CustomRequest: Send + Sync + 'static {
    /// The method name. No method of the protocol or another extension has it.
    const METHOD: &'static str;

    /// The extension that defines the request.
    type Extension: Extension;

    /// The parameters, without `_meta`.
    type Params: Serialize + DeserializeOwned + Send + 'static;

    /// The result, without `_meta`.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A request of an extension for one page of a list. It pages like the lists of the protocol: its
/// parameters are the `cursor` of a page, and its result has the `nextCursor` of the next one. A client
/// requests all pages by `ExtensionClient::list`.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>
///
/// # Examples
///
/// ```
/// use mcp::extension::{CustomRequest, Extension, ListRequest};
///
/// # struct Clock;
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ();
/// #     type ClientSettings = ();
/// # }
/// struct ListZones;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Zones {
///     zones: Vec<String>,
///     #[serde(skip_serializing_if = "Option::is_none")]
///     next_cursor: Option<String>,
/// }
///
/// impl CustomRequest for ListZones {
///     const METHOD: &'static str = "clock/zones";
///     type Extension = Clock;
///     type Params = mcp::types::Page;
///     type Result = Zones;
/// }
///
/// impl ListRequest for ListZones {
///     type Item = String;
///
///     fn into_items(page: Zones) -> Vec<String> {
///         page.zones
///     }
/// }
/// ```
// spec: PAG-01
pub trait ListRequest: CustomRequest {
    /// A list item.
    type Item: Send + 'static;

    /// Returns the items of a page.
    fn into_items(page: Self::Result) -> Vec<Self::Item>;
}

/// An extension notification, from either side.
///
/// # Examples
///
/// ```
/// use mcp::extension::{CustomNotification, Extension};
///
/// # struct Clock;
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ();
/// #     type ClientSettings = ();
/// # }
/// struct Tick;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TickParams {
///     number: u32,
/// }
///
/// impl CustomNotification for Tick {
///     const METHOD: &'static str = "notifications/clock/tick";
///     type Extension = Clock;
///     type Params = TickParams;
/// }
/// ```
pub trait CustomNotification: Send + Sync + 'static {
    /// The method name. No method of the protocol or another extension has it.
    const METHOD: &'static str;

    /// The extension that defines the notification.
    type Extension: Extension;

    /// The parameters, without `_meta`.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

/// Reads the settings that a peer declares for an extension in its capabilities. `None` when it does not declare the
/// extension.
///
/// # Errors
///
/// Returns [`InvalidSettings`] when the settings are not a `T`.
pub fn read_settings<T: DeserializeOwned>(
    extensions: &JsonObject,
    id: &'static str,
) -> Result<Option<T>, InvalidSettings> {
    let Some(settings) = extensions.get(id) else {
        return Ok(None);
    };
    let read = from_params(Some(&settings.to_string()));
    read.map(Some).map_err(|reason| InvalidSettings {
        id,
        reason: reason.to_string(),
    })
}

impl ClientContext {
    /// Returns the settings that the client declares for an extension, or `None` when it does not
    /// declare the extension.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidSettings`] when the settings do not have the type that the extension defines.
    pub fn extension<E: Extension>(&self) -> Result<Option<E::ClientSettings>, InvalidSettings> {
        read_settings(&self.capabilities.extensions, E::ID)
    }
}

/// Settings of an extension that do not have the type that the extension defines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the settings of the extension `{id}` are malformed: {reason}")]
#[non_exhaustive]
pub struct InvalidSettings {
    /// The extension.
    pub id: &'static str,
    /// The error, with the path of the value that does not fit.
    pub reason: String,
}

/// Returns the extensions that both sides declare.
pub(crate) fn common(client: &ClientCapabilities, server: &ServerCapabilities) -> Vec<Box<str>> {
    let ids = client.extensions.keys();
    let ids = ids.filter(|id| server.has_extension(id));
    ids.map(|id| id.as_str().into()).collect()
}

/// Returns true if both sides declare a common extension.
pub(crate) fn has_common(client: &ClientCapabilities, server: &ServerCapabilities) -> bool {
    if client.extensions.is_empty() || server.extensions.is_empty() {
        return false;
    }
    let mut ids = client.extensions.keys();
    ids.any(|id| server.has_extension(id))
}
