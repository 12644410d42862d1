//! Resources.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use crate::json::members;
use crate::setters::{display_name, setters};
use crate::text::joined;
use crate::{Annotations, Cursor, Icon, Meta, ResourceContents, Settings};

/// A resource as a server lists it. Unknown members survive.
// spec: RSRC-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
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
    /// Members that this library does not know.
    pub other: Settings,
}

members!(Resource as "a resource" {
    "uri" => uri,
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "mimeType" => mime_type or nothing,
    "size" => size or nothing,
    "icons" => icons or nothing,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
} and other);

impl Resource {
    setters! { name, title, describe, mime_type, size, icon, annotations, meta }
    display_name!();

    /// A resource. Its name for programs is the URI until [`name`](Self::name) sets another.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        let uri = uri.into();
        Self {
            name: uri.clone(),
            uri,
            ..Self::default()
        }
    }
}

/// A family of resources: a URI template of RFC 6570. Unknown members survive.
// spec: RSRC-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// What the resources are, for a language model.
    pub description: Option<String>,
    /// The MIME type that all of them have.
    pub mime_type: Option<String>,
    /// Pictures for user interfaces.
    pub icons: Vec<Icon>,
    /// Who they are for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ResourceTemplate as "a resource template" {
    "uriTemplate" => uri_template,
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "mimeType" => mime_type or nothing,
    "icons" => icons or nothing,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
} and other);

impl ResourceTemplate {
    setters! { name, title, describe, mime_type, icon, annotations, meta }
    display_name!();

    /// A family of resources: a URI template of RFC 6570. Its name for programs is the template
    /// until [`name`](Self::name) sets another.
    #[inline]
    pub fn new(uri_template: impl Into<String>) -> Self {
        let uri_template = uri_template.into();
        Self {
            name: uri_template.clone(),
            uri_template,
            ..Self::default()
        }
    }
}

/// The result of `resources/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources of this page.
    pub resources: Vec<Resource>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListResourcesResult as "a list of resources" {
    "resources" => resources,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListResourcesResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }
}

/// The result of `resources/templates/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates of this page.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListResourceTemplatesResult as "a list of resource templates" {
    "resourceTemplates" => resource_templates,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListResourceTemplatesResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            ..Self::default()
        }
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// Which resource.
    pub uri: String,
}

members!(ReadResourceParams as "which resource" {
    "uri" => uri,
});

impl ReadResourceParams {
    /// Reads a resource.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The result of `resources/read`.
// spec: RSRC-04
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents; several when the resource has parts.
    pub contents: Vec<ResourceContents>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ReadResourceResult as "the contents of a resource" {
    "contents" => contents,
    "_meta" => meta or nothing,
});

impl ReadResourceResult {
    setters! { meta }

    /// The contents; several when the resource has parts.
    #[inline]
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            meta: None,
        }
    }

    /// All contents that are text, one per line.
    ///
    /// ```
    /// use mcp_types::{ReadResourceResult, ResourceContents};
    ///
    /// let note = ResourceContents::text("notes://1", "milk");
    /// let picture = ResourceContents::blob("notes://1/picture", vec![0xff]);
    /// assert_eq!(ReadResourceResult::new(vec![note, picture]).text(), "milk");
    /// ```
    #[inline]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .contents
            .iter()
            .filter_map(ResourceContents::as_text)
            .collect();
        joined(&texts, "\n")
    }
}

impl From<ResourceContents> for ReadResourceResult {
    #[inline]
    fn from(contents: ResourceContents) -> Self {
        Self::new(vec![contents])
    }
}

/// Parameters of `resources/subscribe` and `resources/unsubscribe` (legacy era alone).
// spec: RSRC-12, SUB-14
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscribeParams {
    /// Which resource.
    pub uri: String,
}

members!(SubscribeParams as "which resource" {
    "uri" => uri,
});

impl SubscribeParams {
    /// Names a resource.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// Parameters of `notifications/resources/updated`.
// spec: RSRC-12, SUB-12
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceUpdated {
    /// Which resource, or one below the one that was asked for.
    pub uri: String,
    /// What the notification carries beside.
    pub meta: Option<Meta>,
}

members!(ResourceUpdated as "a resource that changed" {
    "uri" => uri,
    "_meta" => meta or nothing,
});

impl ResourceUpdated {
    /// A resource has changed.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}
