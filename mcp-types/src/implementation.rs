//! Who a client or a server says it is.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation>

use crate::Settings;
use crate::json::members;
use crate::setters::{display_name, setters};
use crate::text::text_enum;

/// Name and version of a client or a server. Never changes behaviour, never decides security.
// spec: VER-08, LIFE-16
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Implementation {
    /// Name for programs.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Name for people.
    pub title: Option<String>,
    /// What the program does.
    pub description: Option<String>,
    /// Where to read more.
    pub website_url: Option<String>,
    /// Pictures for user interfaces.
    pub icons: Vec<Icon>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(Implementation as "a name and a version" {
    "name" => name,
    "version" => version or default,
    "title" => title or nothing,
    "description" => description or nothing,
    "websiteUrl" => website_url or nothing,
    "icons" => icons or nothing,
} and other);

impl Implementation {
    setters! { title, icon }
    display_name!();

    /// A name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Says what the program does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says where to read more.
    #[must_use]
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }
}

/// A picture for user interfaces.
// spec: ICON-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// The background it is made for.
    pub theme: Option<IconTheme>,
}

members!(Icon as "a picture" {
    "src" => src,
    "mimeType" => mime_type or nothing,
    "sizes" => sizes or nothing,
    "theme" => theme or nothing,
});

text_enum! {
    /// The background that an icon is made for.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

impl Icon {
    /// A picture at an `https:` or `data:` URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            ..Self::default()
        }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size such as `48x48`, or `any`.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// Sets the background that it is made for.
    #[must_use]
    pub fn theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}
