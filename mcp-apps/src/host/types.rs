//! Values in the messages between hosts and views.

use std::time::Duration;

use mcp_types::{ContentBlock, ErrorObject, JsonObject, Role, Tool, codes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The place in which a host displays a view.
// spec: APP-21
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

/// The colours of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Theme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// The size of the frame, in CSS pixels. A dimension without a fixed value follows
/// [`HostBridge::on_size`](crate::HostBridge::on_size).
// spec: APP-22
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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

impl ContainerSize {
    /// A size without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a fixed width.
    #[must_use]
    pub fn width(mut self, pixels: f64) -> Self {
        self.width = Some(pixels);
        self
    }

    /// Sets a fixed height.
    #[must_use]
    pub fn height(mut self, pixels: f64) -> Self {
        self.height = Some(pixels);
        self
    }

    /// Sets the largest height.
    #[must_use]
    pub fn max_height(mut self, pixels: f64) -> Self {
        self.max_height = Some(pixels);
        self
    }
}

/// The surroundings of a view: an open object, of which views use what they know.
///
/// # Examples
///
/// ```
/// use mcp::apps::{HostContext, Theme};
///
/// let context = HostContext::new().theme(Theme::Dark).locale("de-DE").with("platform", "desktop");
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

    /// Sets any member: `timeZone`, `platform`, `styles`, `safeAreaInsets`, ….
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    /// Sets the colours.
    #[must_use]
    pub fn theme(self, theme: Theme) -> Self {
        self.with_value("theme", &theme)
    }

    /// Sets the language, as BCP 47.
    #[must_use]
    pub fn locale(self, locale: impl Into<String>) -> Self {
        self.with("locale", locale.into())
    }

    /// Sets the size of the frame.
    #[must_use]
    pub fn container(self, size: ContainerSize) -> Self {
        self.with_value("containerDimensions", &size)
    }

    /// Sets the tool whose results the view displays.
    #[must_use]
    pub fn tool(self, tool: &Tool) -> Self {
        self.with_value("toolInfo", &serde_json::json!({ "tool": tool }))
    }

    pub(super) fn with_value(self, key: &str, value: &impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => self.with(key, value),
            Err(_) => self,
        }
    }
}

/// The capabilities that a view declares.
// spec: APP-13
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AppCapabilities {
    /// The view has tools of its own.
    pub tools: Option<JsonObject>,
    /// The modes that it can be displayed in. Empty if it declares none.
    #[serde(deserialize_with = "known_modes")]
    pub available_display_modes: Vec<DisplayMode>,
}

/// Reads the modes that this library knows.
fn known_modes<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Vec<DisplayMode>, D::Error> {
    let modes = Option::<Vec<Value>>::deserialize(json)?.unwrap_or_default();
    let modes = modes.into_iter();
    Ok(modes
        .filter_map(|mode| serde_json::from_value(mode).ok())
        .collect())
}

/// A message that a view writes in the name of the user.
// spec: APP-20
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ViewMessage {
    /// The author: the user.
    pub role: Role,
    /// The content.
    pub content: Vec<ContentBlock>,
}

/// Data of a view for the next turn of the language model. Untrusted, as everything of a view.
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

/// Files that a view offers to the user. Show a confirmation, and clean the names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Download {
    /// Embedded resources, and links to resources.
    pub contents: Vec<ContentBlock>,
}

/// The size that a view would like to have, in CSS pixels.
// spec: APP-22
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ViewSize {
    /// The width.
    pub width: Option<f64>,
    /// The height.
    pub height: Option<f64>,
}

/// The refusal of a request of a view. The view receives the message, with the code -32000.
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
    /// A message of the view is larger than [`ViewLimits::message_bytes`](crate::ViewLimits).
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
