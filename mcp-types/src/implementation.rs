//! Name and version of clients and servers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation>

use serde::{Deserialize, Serialize};

use crate::setters::{display_name, setters};
use crate::{de, extra::ExtraFields, icon::Icon};

/// Name and version of a client or a server, as it claims them.
///
/// Use it for display and logs. It is unverified, so neither behavior nor security depends on it.
// spec: VER-08, LIFE-16
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Programmatic name.
    pub name: String,
    /// Version of the program. Empty if the peer did not send it.
    #[serde(default, deserialize_with = "de::null_to_default")]
    pub version: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The program's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// URL of the program's website. Read a peer's with
    /// `checked_website_url` (feature `url`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Icons for user interfaces.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl Implementation {
    setters! { title, icon }
    display_name!();

    /// Creates an implementation from its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    setters! {
        /// Sets the program's description.
        description(description: impl Into<String>) => description;
        /// Sets the website's URL.
        website_url(url: impl Into<String>) => website_url;
    }
}
