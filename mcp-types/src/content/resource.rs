//! Resources inside of content: their contents, or a link to them.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Annotations, Blob};
use crate::members::read_members;
use crate::setters::setters;
use crate::{Icon, Meta};

/// The contents of a resource (or of a part of it): text or bytes.
// spec: RSRC-04
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(untagged)]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// A resource's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct TextResourceContents {
    /// Which resource.
    pub uri: String,
    /// The MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// What it carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A resource's bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct BlobResourceContents {
    /// Which resource.
    pub uri: String,
    /// The MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes.
    pub blob: Blob,
    /// What it carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceContents {
    /// Text of a resource.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents {
            uri: uri.into(),
            text: text.into(),
            ..TextResourceContents::default()
        })
    }

    /// Bytes of a resource.
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

    /// Adds a key to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        let slot = match &mut self {
            Self::Text(contents) => &mut contents.meta,
            Self::Blob(contents) => &mut contents.meta,
        };
        *slot = Some(slot.take().unwrap_or_default().with(key, value));
        self
    }

    /// The text, when it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }

    /// Which resource.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }
}

/// Text and bytes are told apart by the member that is there, not by trying one after the other.
impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default)]
        struct Contents {
            uri: String,
            mime_type: Option<String>,
            text: Option<String>,
            blob: Option<Blob>,
            meta: Option<Meta>,
        }

        read_members!(Contents as "contents of a resource" { "uri" => uri, } {
            "mimeType" => mime_type,
            "text" => text,
            "blob" => blob,
            "_meta" => meta,
        });

        let Contents {
            uri,
            mime_type,
            text,
            blob,
            meta,
        } = Contents::deserialize(deserializer)?;
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
            (None, None) => Err(serde::de::Error::custom("contents need `text` or `blob`")),
            (Some(_), Some(_)) => Err(serde::de::Error::custom(
                "contents have only one of `text` and `blob`",
            )),
        }
    }
}

/// A resource put into content as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// Its contents.
    pub resource: ResourceContents,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(EmbeddedResource as "a resource" from EmbeddedResource::new(ResourceContents::text("", "")), {
    "resource" => resource,
} {
    "annotations" => annotations,
    "_meta" => meta,
});

impl EmbeddedResource {
    setters! { annotations, meta }

    /// Embeds contents.
    pub fn new(resource: ResourceContents) -> Self {
        Self {
            resource,
            annotations: None,
            meta: None,
        }
    }
}

/// A link to a resource that the server can read.
// spec: TOOL-25
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    /// Which resource.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Pictures for user interfaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(ResourceLink as "a link to a resource" {
    "uri" => uri,
    "name" => name,
} {
    "title" => title,
    "description" => description,
    "mimeType" => mime_type,
    "size" => size,
    "icons" => icons or default,
    "annotations" => annotations,
    "_meta" => meta,
});

impl ResourceLink {
    setters! { title, describe, mime_type, size, icon, annotations, meta }

    /// A link with a name for programs.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}

impl From<&crate::Resource> for ResourceLink {
    fn from(resource: &crate::Resource) -> Self {
        Self {
            uri: resource.uri.clone(),
            name: resource.name.clone(),
            title: resource.title.clone(),
            description: resource.description.clone(),
            mime_type: resource.mime_type.clone(),
            size: resource.size,
            icons: resource.icons.clone(),
            annotations: resource.annotations.clone(),
            meta: resource.meta.clone(),
        }
    }
}
