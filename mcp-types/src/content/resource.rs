//! Resources inside of content: their contents, or a link to them.

use super::{Annotations, Blob};
use crate::json::{members, read_and_written, read_via, written_as_content};
use crate::setters::setters;
use crate::{Icon, Meta};

/// The contents of a resource (or of a part of it): text or bytes.
// spec: RSRC-04
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// A resource's text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// Which resource.
    pub uri: String,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(TextResourceContents as "a text" {
    "uri" => uri,
    "mimeType" => mime_type or nothing,
    "text" => text,
    "_meta" => meta or nothing,
});

/// A resource's bytes.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// Which resource.
    pub uri: String,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// The bytes.
    pub blob: Blob,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(BlobResourceContents as "bytes" {
    "uri" => uri,
    "mimeType" => mime_type or nothing,
    "blob" => blob,
    "_meta" => meta or nothing,
});

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
/// Contents of either kind.
struct Contents {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<Blob>,
    meta: Option<Meta>,
}

members!(Contents as "contents of a resource" {
    "uri" => uri,
    "mimeType" => mime_type or nothing,
    "text" => text or nothing,
    "blob" => blob or nothing,
    "_meta" => meta or nothing,
});

impl Contents {
    fn decided(self) -> Result<ResourceContents, String> {
        let Self {
            uri,
            mime_type,
            text,
            blob,
            meta,
        } = self;
        match (text, blob) {
            (Some(text), None) => Ok(ResourceContents::Text(TextResourceContents {
                uri,
                mime_type,
                text,
                meta,
            })),
            (None, Some(blob)) => Ok(ResourceContents::Blob(BlobResourceContents {
                uri,
                mime_type,
                blob,
                meta,
            })),
            (None, None) => Err("contents need `text` or `blob`".to_owned()),
            (Some(_), Some(_)) => Err("contents have only one of `text` and `blob`".to_owned()),
        }
    }
}

read_via!(ResourceContents, Self::text("", ""), |found: Contents| {
    found.decided()
});
written_as_content!(ResourceContents { Text, Blob });
read_and_written!(ResourceContents);

/// A resource put into content as a whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// Its contents.
    pub resource: ResourceContents,
    /// Who it is for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(EmbeddedResource as "a resource" {
    "resource" => resource,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
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
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// Which resource.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// What it is, for a language model.
    pub description: Option<String>,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Pictures for user interfaces.
    pub icons: Vec<Icon>,
    /// Who it is for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(ResourceLink as "a link to a resource" {
    "uri" => uri,
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "mimeType" => mime_type or nothing,
    "size" => size or nothing,
    "icons" => icons or nothing,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
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
    #[inline]
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
