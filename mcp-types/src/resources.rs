//! Resources and resource templates.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use serde::{Deserialize, Serialize};

use crate::content::{Annotations, ResourceContents, ResourceLink, lines};
use crate::setters::{display_name, setters};
use crate::{de, extra::ExtraFields, icon::Icon, meta::Meta, page::list_result};

/// The definition of a resource, as `resources/list` returns it. Unknown members are kept.
///
/// # Examples
///
/// A resource of a server:
///
/// ```
/// use mcp::prelude::*;
///
/// let server = Server::new("notes", "1.0.0").resource(
///     Resource::new("notes://today")
///         .description("The notes of today")
///         .mime_type("text/plain")
///         .read(|| "Buy bread."),
/// );
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
// spec: RSRC-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
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
    /// Size of the content in bytes, before Base64 encoding.
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
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl Resource {
    setters! { name, title, description, mime_type, size, icon, annotations, meta }
    display_name!();

    /// Creates a resource from its URI. The URI is also its programmatic name, unless
    /// [`name`](Self::name) sets another one.
    pub fn new(uri: impl Into<String>) -> Self {
        let uri = uri.into();
        Self {
            name: uri.clone(),
            uri,
            ..Self::default()
        }
    }
}

/// The definition of a resource template, as `resources/templates/list` returns it. Unknown members are
/// kept.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates>
// spec: RSRC-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// URI template (RFC 6570).
    pub uri_template: String,
    /// Programmatic name.
    pub name: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// MIME type, if all resources of the template have the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
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
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl ResourceTemplate {
    setters! { name, title, description, mime_type, icon, annotations, meta }
    display_name!();

    /// Creates a template from a URI template (RFC 6570). The URI template is also its programmatic name,
    /// unless [`name`](Self::name) sets another one.
    pub fn new(uri_template: impl Into<String>) -> Self {
        let uri_template = uri_template.into();
        Self {
            name: uri_template.clone(),
            uri_template,
            ..Self::default()
        }
    }
}

list_result! {
    /// Result of `resources/list`.
    ListResourcesResult {
        /// This page's resources.
        resources: Resource
    }
}

list_result! {
    /// Result of `resources/templates/list`.
    ListResourceTemplatesResult {
        /// This page's resource templates.
        resource_templates: ResourceTemplate
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// The resource's URI.
    pub uri: String,
}

impl<T: Into<String>> From<T> for ReadResourceParams {
    fn from(uri: T) -> Self {
        Self { uri: uri.into() }
    }
}

/// Result of `resources/read`.
// spec: RSRC-04
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// Contents: one for the resource, or one for each of its parts.
    pub contents: Vec<ResourceContents>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceResult {
    setters! { meta }

    /// Returns the texts of all text contents, separated by line breaks.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::ResourceContents;
    /// use mcp::types::ReadResourceResult;
    ///
    /// let note = ResourceContents::text("notes://1", "milk");
    /// let picture = ResourceContents::blob("notes://1/picture", vec![0xff]);
    /// assert_eq!(ReadResourceResult::from(vec![note, picture]).text(), "milk");
    /// ```
    pub fn text(&self) -> String {
        lines(self.contents.iter().filter_map(ResourceContents::as_text))
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            meta: None,
        }
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        vec![contents].into()
    }
}

/// Parameters of `resources/subscribe` and `resources/unsubscribe` (legacy revisions).
// spec: RSRC-12, SUB-14
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SubscribeParams {
    /// The resource's URI.
    pub uri: String,
}

impl<T: Into<String>> From<T> for SubscribeParams {
    fn from(uri: T) -> Self {
        Self { uri: uri.into() }
    }
}

/// Parameters of `notifications/resources/updated`.
// spec: RSRC-12, SUB-12
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResourceUpdated {
    /// The changed resource's URI: the subscribed resource or one below it.
    pub uri: String,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl<T: Into<String>> From<T> for ResourceUpdated {
    fn from(uri: T) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}

impl From<&Resource> for ResourceLink {
    fn from(resource: &Resource) -> Self {
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
