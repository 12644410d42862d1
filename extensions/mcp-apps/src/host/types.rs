//! Values in the messages between hosts and views.

use std::time::Duration;

use mcp_types::{
    ContentBlock, ErrorObject, JsonObject, RequestId, ResourceContents, Role, Tool, codes,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The place in which a host displays a view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DisplayMode {
    /// In the conversation.
    #[default]
    Inline,
    /// Over the whole window.
    Fullscreen,
    /// In a small window above the others.
    Pip,
}

/// The colors of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Theme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// The kind of program that a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Platform {
    /// A web page.
    Web,
    /// A program for desktops.
    Desktop,
    /// A program for telephones and tablets.
    Mobile,
}

/// The frame size, in CSS pixels. A dimension without a fixed value follows
/// [`HostBridge::on_size`](crate::HostBridge::on_size).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "hosts write it as a literal")]
pub struct ContainerSize {
    /// The fixed width.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// The fixed height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
    /// The largest width.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<f64>,
    /// The largest height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_height: Option<f64>,
}

/// The surroundings of a view: an open object. Views use the members that they know.
///
/// # Examples
///
/// ```
/// use mcp::apps::{HostContext, Theme};
///
/// let context = HostContext::new()
///     .theme(Theme::Dark)
///     .styles([("--color-text-primary", "#eee"), ("--font-sans", "Inter, sans-serif")])
///     .locale("de-DE")
///     .time_zone("Europe/Berlin");
/// ```
// spec: APP-14
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct HostContext(JsonObject);

impl HostContext {
    /// An empty context.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets any member, also one that the specification does not define.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    /// Sets the colors.
    #[must_use]
    pub fn theme(self, theme: Theme) -> Self {
        self.with_value("theme", &theme)
    }

    /// Sets the language, as BCP 47.
    #[must_use]
    pub fn locale(self, locale: impl Into<String>) -> Self {
        self.with("locale", locale.into())
    }

    /// Sets the frame size.
    #[must_use]
    pub fn container(self, size: ContainerSize) -> Self {
        self.with_value("containerDimensions", &size)
    }

    /// Sets the time zone, as a name of the IANA database.
    #[must_use]
    pub fn time_zone(self, name: impl Into<String>) -> Self {
        self.with("timeZone", name.into())
    }

    /// Sets the name and version of the host program, as in the header `User-Agent`.
    #[must_use]
    pub fn user_agent(self, text: impl Into<String>) -> Self {
        self.with("userAgent", text.into())
    }

    /// Sets the kind of program.
    #[must_use]
    pub fn platform(self, platform: Platform) -> Self {
        self.with_value("platform", &platform)
    }

    /// Sets the user's input devices.
    #[must_use]
    pub fn device(self, touch: bool, hover: bool) -> Self {
        let device = serde_json::json!({ "touch": touch, "hover": hover });
        self.with("deviceCapabilities", device)
    }

    /// Sets the frame borders that something covers, in CSS pixels, in the order of CSS: top,
    /// right, bottom, left.
    #[must_use]
    pub fn safe_area(self, [top, right, bottom, left]: [f64; 4]) -> Self {
        let insets =
            serde_json::json!({ "top": top, "right": right, "bottom": bottom, "left": left });
        self.with("safeAreaInsets", insets)
    }

    /// Sets CSS variables of the host, such as `--color-text-primary`. Replaces those that were set.
    #[must_use]
    pub fn styles<K: Into<String>, V: Into<String>>(
        self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let variables = variables.into_iter();
        let variables = variables.map(|(name, value)| (name.into(), Value::String(value.into())));
        self.with_style("variables", Value::Object(variables.collect()))
    }

    /// Sets CSS for the host's fonts: `@font-face` rules, or imports.
    #[must_use]
    pub fn fonts(self, css: impl Into<String>) -> Self {
        self.with_style("css", serde_json::json!({ "fonts": css.into() }))
    }

    fn with_style(mut self, member: &str, value: Value) -> Self {
        let styles = self.0.entry("styles").or_insert(Value::Null);
        if !styles.is_object() {
            *styles = Value::Object(JsonObject::new());
        }
        if let Some(styles) = styles.as_object_mut() {
            styles.insert(member.to_owned(), value);
        }
        self
    }

    /// Sets the tool whose results the view displays.
    #[must_use]
    pub fn tool(self, tool: &Tool) -> Self {
        self.with_value("toolInfo", &serde_json::json!({ "tool": tool }))
    }

    /// Sets the tool, and its call's id.
    #[must_use]
    pub fn tool_call(self, id: &RequestId, tool: &Tool) -> Self {
        self.with_value("toolInfo", &serde_json::json!({ "id": id, "tool": tool }))
    }

    pub(super) fn with_value(self, key: &str, value: &impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => self.with(key, value),
            Err(_) => self,
        }
    }
}

/// The capabilities that a view declares.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AppCapabilities {
    /// The view has tools of its own.
    pub tools: Option<JsonObject>,
    /// The modes that it can be displayed in. Empty if it declares none.
    #[serde(deserialize_with = "known_modes")]
    pub available_display_modes: Vec<DisplayMode>,
    /// Experimental capabilities.
    pub experimental: Option<JsonObject>,
}

/// Reads the modes that this library knows.
fn known_modes<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Vec<DisplayMode>, D::Error> {
    let modes = Option::<Vec<Value>>::deserialize(json)?.unwrap_or_default();
    let modes = modes.into_iter();
    Ok(modes
        .filter_map(|mode| serde_json::from_value(mode).ok())
        .collect())
}

/// A message that a view writes in the user's name.
// spec: APP-20
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ViewMessage {
    /// The author: the user.
    pub role: Role,
    /// The content.
    pub content: Vec<ContentBlock>,
}

/// View data for the language model's next turn. Untrusted, like everything that a view sends.
// spec: APP-20
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ModelContext {
    /// Content blocks.
    pub content: Vec<ContentBlock>,
    /// Structured data.
    pub structured_content: Option<JsonObject>,
}

/// Files that a view offers to the user. Show a confirmation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Download {
    /// Embedded resources, and links to resources.
    pub contents: Vec<ContentBlock>,
}

impl Download {
    /// Returns the files with names for the disk: the URI's last segment, without characters that a
    /// file system could read as a path, and at most 100 characters. Several files may have one name.
    pub fn files(&self) -> impl Iterator<Item = (String, &ContentBlock)> {
        let named = |block| Some((file_name(uri_of(block)?), block));
        self.contents.iter().filter_map(named)
    }

    /// Refuses content that is not a file.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.contents.iter().all(|block| uri_of(block).is_some()) {
            Ok(())
        } else {
            Err(Refusal::new(
                "`contents` must be resources and links to resources",
            ))
        }
    }
}

fn uri_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::Text(text) => Some(&text.uri),
            ResourceContents::Blob(blob) => Some(&blob.uri),
            _ => None,
        },
        ContentBlock::ResourceLink(link) => Some(&link.uri),
        _ => None,
    }
}

/// Returns a safe file name from a URI's last segment.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_allowed = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let name: String = name.chars().filter(is_allowed).take(100).collect();
    // A leading dot hides a file, and only dots name a folder.
    let name = name
        .trim_start_matches(['.', ' '])
        .trim_end_matches(['.', ' ']);
    if name.is_empty() {
        "download".to_owned()
    } else {
        name.to_owned()
    }
}

/// The size that a view would like to have, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ViewSize {
    /// The width.
    pub width: Option<f64>,
    /// The height.
    pub height: Option<f64>,
}

/// A refused view request. The view receives the message, with the code -32000.
// spec: APP-20
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    /// A refusal with a message for the view.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(super) fn into_error(self) -> ErrorObject {
        ErrorObject::new(codes::BAD_REQUEST, self.0)
    }
}

/// The error of a conversation with a view.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The connection to the view has ended.
    #[error("the view is closed")]
    Closed,
    /// The view did not answer.
    #[error("the view did not answer `{method}` within {after:?}")]
    TimedOut {
        /// The method.
        method: &'static str,
        /// The time limit.
        after: Duration,
    },
    /// The message is not allowed now.
    #[error("`{method}` cannot be sent: {reason}")]
    Order {
        /// The method.
        method: &'static str,
        /// The rule.
        reason: &'static str,
    },
    /// The view answered with an error.
    #[error("the view refuses `{method}`: {error}")]
    Refused {
        /// The method.
        method: &'static str,
        /// The error.
        error: ErrorObject,
    },
    /// The message or the answer cannot be serialized or read.
    #[error("`{method}`: {reason}")]
    Malformed {
        /// The method.
        method: &'static str,
        /// The mistake.
        reason: String,
    },
    /// A view message is larger than [`ViewLimits::message_bytes`](crate::ViewLimits).
    #[error("the view sent a message of {bytes} bytes; the limit is {limit}")]
    MessageTooLarge {
        /// The size of the message.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The view sent too many messages that are not valid, or that answer nothing.
    #[error("the view sent {count} invalid messages")]
    TooManyInvalid {
        /// The number of messages.
        count: usize,
    },
    /// The view waits for too many answers.
    #[error("{limit} requests to the view are pending; wait for one of them")]
    TooManyPending {
        /// The limit.
        limit: usize,
    },
}

impl ViewError {
    pub(super) fn malformed(method: &'static str, error: impl ToString) -> Self {
        let reason = error.to_string();
        Self::Malformed { method, reason }
    }
}
