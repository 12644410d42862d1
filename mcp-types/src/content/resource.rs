//! Resources in content: embedded contents and links.

use serde::{Deserialize, Serialize};

use super::{Annotations, Blob};
use crate::{de, icon::Icon, meta::Meta, setters::setters};

/// Resource contents, or a part of them: text or bytes.
///
/// In JSON the member `text` or `blob` determines the variant. An object with both or none of them is an
/// error.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-contents>
// spec: RSRC-04
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(!try_from))]
#[serde(untagged, try_from = "EitherContents")]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// Text contents of a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Binary contents of a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes.
    pub blob: Blob,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceContents {
    /// Creates text contents of the resource at `uri`.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents {
            uri: uri.into(),
            text: text.into(),
            ..TextResourceContents::default()
        })
    }

    /// Creates binary contents of the resource at `uri`.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Blob>) -> Self {
        Self::Blob(BlobResourceContents {
            uri: uri.into(),
            blob: bytes.into(),
            ..BlobResourceContents::default()
        })
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        let slot = match &mut self {
            Self::Text(contents) => &mut contents.mime_type,
            Self::Blob(contents) => &mut contents.mime_type,
        };
        *slot = Some(mime_type.into());
        self
    }

    /// Adds a key to `_meta`, or replaces its value.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        let slot = match &mut self {
            Self::Text(contents) => &mut contents.meta,
            Self::Blob(contents) => &mut contents.meta,
        };
        *slot = Some(slot.take().unwrap_or_default().with(key, value));
        self
    }

    /// Returns the text of text contents.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }

    /// Returns the resource's URI.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }
}

/// The members that both variants of [`ResourceContents`] have.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EitherContents {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<Blob>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

impl TryFrom<EitherContents> for ResourceContents {
    type Error = &'static str;

    fn try_from(found: EitherContents) -> Result<Self, &'static str> {
        let EitherContents {
            uri,
            mime_type,
            text,
            blob,
            meta,
        } = found;
        match (text, blob) {
            (Some(text), None) => Ok(Self::Text(TextResourceContents {
                uri,
                mime_type,
                text,
                meta,
            })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents {
                uri,
                mime_type,
                blob,
                meta,
            })),
            (None, None) => Err("contents need `text` or `blob`"),
            (Some(_), Some(_)) => Err("contents have only one of `text` and `blob`"),
        }
    }
}

/// Resource contents, embedded in content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The resource's contents.
    pub resource: ResourceContents,
    /// Hints about audience and importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A link to a resource that the client can read from the server.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#resource-links>
// spec: TOOL-25
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's URI.
    pub uri: String,
    /// Programmatic name.
    pub name: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size in bytes, before Base64 encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Icons for user interfaces.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Hints about audience and importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceLink {
    setters! { title, description, mime_type, size, icon, annotations, meta }

    /// Creates a link from the URI and programmatic name of a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}
