//! An app document, as a host receives it.

use mcp_types::meta::keys;
use mcp_types::{Meta, ReadResourceResult, Resource, ResourceContents};

use crate::csp::{InvalidSource, content_security_policy};
use crate::ui::{MIME_TYPE, Permissions, ResourceUi, SCHEME};

/// Largest document in bytes.
const MAX_BYTES: usize = 16 << 20;

/// The document of an app with its display requirements, ready for a sandboxed frame.
///
/// # Examples
///
/// ```
/// use mcp::apps::AppDocument;
///
/// # async fn example(client: mcp::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let read = client.read_resource("ui://chart").await?;
/// let document = AppDocument::new("ui://chart", &read, None)?;
/// println!("Content-Security-Policy: {}", document.csp_header());
/// # Ok(())
/// # }
/// ```
// spec: APP-03
#[derive(Debug, Clone, PartialEq)]
pub struct AppDocument {
    html: String,
    ui: ResourceUi,
    csp_header: String,
}

/// The error of a resource that is not an app.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The URI has another scheme.
    #[error("{0:?} is not an app: its URI must begin with `ui://`")]
    Scheme(String),
    /// No contents have the MIME type of apps.
    #[error("{0:?} has no contents with the type `text/html;profile=mcp-app`")]
    MimeType(String),
    /// The document is not UTF-8, or is larger than 16 MiB.
    #[error("{0:?} is not UTF-8 text of at most 16 MiB")]
    NoText(String),
    /// The metadata has another shape.
    #[error("{0:?} has malformed metadata in `_meta.ui`")]
    Metadata(String),
    /// The content security policy is refused.
    #[error(transparent)]
    Csp(#[from] InvalidSource),
}

impl AppDocument {
    /// Creates the document from the result of `resources/read`. `listed` is the entry of
    /// `resources/list`, if there is one: its metadata counts if the contents have none.
    ///
    /// # Errors
    ///
    /// Returns [`DocumentError`] if the resource is not an app, or its metadata is refused.
    pub fn new(
        uri: &str,
        read: &ReadResourceResult,
        listed: Option<&Resource>,
    ) -> Result<Self, DocumentError> {
        // spec: APP-02
        if !uri.starts_with(SCHEME) {
            return Err(DocumentError::Scheme(uri.to_owned()));
        }
        let mut parts = read.contents.iter().filter_map(parts);
        // spec: APP-02
        let app = parts.find(|(mime_type, ..)| *mime_type == Some(MIME_TYPE));
        let (_, meta, bytes) = app.ok_or_else(|| DocumentError::MimeType(uri.to_owned()))?;
        let html = std::str::from_utf8(bytes).ok();
        let html = html.filter(|html| html.len() <= MAX_BYTES);
        let html = html.ok_or_else(|| DocumentError::NoText(uri.to_owned()))?;
        let listed = listed.and_then(|resource| resource.meta.as_ref());
        let ui = match read_ui(meta, uri)? {
            Some(ui) => ui,
            None => read_ui(listed, uri)?.unwrap_or_default(),
        };
        let csp_header = content_security_policy(ui.csp.as_ref())?;
        tracing::debug!(uri, csp = csp_header, "content security policy of an app");
        Ok(Self {
            html: html.to_owned(),
            ui,
            csp_header,
        })
    }

    /// Returns the HTML.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Returns the display requirements.
    pub fn ui(&self) -> &ResourceUi {
        &self.ui
    }

    /// Grants at most these permissions, of those that the document asks for. Default: all of them.
    // spec: APP-03
    #[must_use]
    pub fn grant(mut self, granted: &Permissions) -> Self {
        if let Some(asked) = &mut self.ui.permissions {
            let pairs = [
                (&mut asked.camera, &granted.camera),
                (&mut asked.microphone, &granted.microphone),
                (&mut asked.geolocation, &granted.geolocation),
                (&mut asked.clipboard_write, &granted.clipboard_write),
            ];
            for (asked, granted) in pairs {
                if granted.is_none() {
                    *asked = None;
                }
            }
        }
        self
    }

    /// Returns the attribute `allow` of the frame: the [granted](Self::grant) permissions.
    pub fn allow_attribute(&self) -> String {
        let none = Permissions::new();
        let granted = self.ui.permissions.as_ref().unwrap_or(&none);
        let names = [
            (&granted.camera, "camera"),
            (&granted.microphone, "microphone"),
            (&granted.geolocation, "geolocation"),
            (&granted.clipboard_write, "clipboard-write"),
        ];
        let names = names.into_iter().filter(|(granted, _)| granted.is_some());
        names.map(|(_, name)| name).collect::<Vec<_>>().join("; ")
    }

    /// Returns the header `Content-Security-Policy`.
    pub fn csp_header(&self) -> &str {
        &self.csp_header
    }
}

fn read_ui(meta: Option<&Meta>, uri: &str) -> Result<Option<ResourceUi>, DocumentError> {
    let Some(meta) = meta.filter(|meta| meta.get::<serde_json::Value>(keys::UI).is_some()) else {
        return Ok(None);
    };
    let ui = meta.get::<ResourceUi>(keys::UI);
    ui.map(Some)
        .ok_or_else(|| DocumentError::Metadata(uri.to_owned()))
}

/// Returns the MIME type, the metadata and the bytes.
fn parts(contents: &ResourceContents) -> Option<(Option<&str>, Option<&Meta>, &[u8])> {
    Some(match contents {
        ResourceContents::Text(text) => (
            text.mime_type.as_deref(),
            text.meta.as_ref(),
            text.text.as_bytes(),
        ),
        ResourceContents::Blob(blob) => (
            blob.mime_type.as_deref(),
            blob.meta.as_ref(),
            blob.blob.as_bytes(),
        ),
        _ => return None,
    })
}
