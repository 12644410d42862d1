//! Content blocks.

use serde::de::{Deserialize, Deserializer, MapAccess};
use serde_json::Value;

use super::{Annotations, Blob, EmbeddedResource, ResourceContents, ResourceLink, ToolUseContent};
use crate::tagged::{self, Tagged};
use crate::{de, extra::JsonObject, meta::Meta};

/// A piece of content in a tool result, prompt message or sampling message.
///
/// Blocks of an unknown kind are kept unchanged in [`Other`](Self::Other).
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>
///
/// # Examples
///
/// ```
/// use mcp::ContentBlock;
///
/// let block = ContentBlock::image(&b"\x89PNG"[..], "image/png");
/// let text = serde_json::to_string(&block)?;
/// assert_eq!(text, r#"{"type":"image","data":"iVBORw==","mimeType":"image/png"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: TOOL-13
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio (2025-03-26 and later).
    Audio(AudioContent),
    /// Resource contents.
    Resource(EmbeddedResource),
    /// A link to a resource (2025-06-18 and later).
    ResourceLink(ResourceLink),
    /// A tool call by a language model (2025-11-25 and later, only in sampling).
    ToolUse(ToolUseContent),
    /// The result of a tool call, for a language model (2025-11-25 and later, only in sampling).
    ToolResult(ToolResultContent),
    /// A block of another kind: all members, including `type`.
    #[serde(untagged)]
    #[cfg_attr(
        feature = "schemars",
        schemars(extend(
            "required" = ["type"],
            "properties" = {"type": {"type": "string", "not": {"enum": [
                "text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result",
            ]}}},
        ))
    )]
    Other(JsonObject),
}

/// Text content.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints about audience and importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Image content.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// Bytes of the image file.
    pub data: Blob,
    /// MIME type, such as `image/png`.
    pub mime_type: String,
    /// Hints about audience and importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Audio content.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// Bytes of the audio file.
    pub data: Blob,
    /// MIME type, such as `audio/wav`.
    pub mime_type: String,
    /// Hints about audience and importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ContentBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }

    /// Creates an image block from the bytes of a file and its MIME type.
    pub fn image(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent {
            data: data.into(),
            mime_type: mime_type.into(),
            ..ImageContent::default()
        })
    }

    /// Creates an audio block from the bytes of a file and its MIME type.
    pub fn audio(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent {
            data: data.into(),
            mime_type: mime_type.into(),
            ..AudioContent::default()
        })
    }

    /// Creates a block with resource contents.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource {
            resource: contents,
            annotations: None,
            meta: None,
        })
    }

    /// Sets the annotations. Tool calls, tool results and blocks of another kind have none and stay
    /// unchanged.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        let slot = match &mut self {
            Self::Text(content) => &mut content.annotations,
            Self::Image(content) => &mut content.annotations,
            Self::Audio(content) => &mut content.annotations,
            Self::Resource(content) => &mut content.annotations,
            Self::ResourceLink(content) => &mut content.annotations,
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Other(_) => return self,
        };
        *slot = Some(annotations);
        self
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

/// Implements `From<Content>` for each variant.
macro_rules! from_content {
    ($($kind:ident($content:ty),)*) => {
        $(impl From<$content> for ContentBlock {
            fn from(content: $content) -> Self {
                Self::$kind(content)
            }
        })*
    };
}

from_content! {
    Text(TextContent),
    Image(ImageContent),
    Audio(AudioContent),
    Resource(EmbeddedResource),
    ResourceLink(ResourceLink),
    ToolUse(ToolUseContent),
    ToolResult(ToolResultContent),
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// The result of a tool call, for a language model (2025-11-25 and later, only in sampling).
// spec: SAMP-07
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The tool call's id: [`ToolUseContent::id`].
    pub tool_use_id: String,
    /// The result's content. It cannot contain tool calls and tool results: such blocks are read as
    /// [`ContentBlock::Other`].
    #[serde(deserialize_with = "result_blocks")]
    pub content: Vec<ContentBlock>,
    /// Structured result: any JSON value, including `null`.
    #[serde(
        default,
        deserialize_with = "de::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Value>,
    /// Failure flag. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

fn result_blocks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ContentBlock>, D::Error> {
    let blocks = Vec::<ResultBlock>::deserialize(deserializer)?;
    Ok(blocks.into_iter().map(|block| block.0).collect())
}

impl ToolResultContent {
    /// Creates the call `tool_use_id`'s result.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            ..Self::default()
        }
    }
}

/// Joins texts as lines.
pub(crate) fn lines<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

const EXPECTING: &str = "a content block";

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl Tagged for ContentBlock {
    const EXPECTING: &'static str = EXPECTING;

    fn from_members<'de, A: MapAccess<'de>>(kind: &str, members: A) -> Result<Self, A::Error> {
        match kind {
            "tool_use" => tagged::read(members).map(Self::ToolUse),
            "tool_result" => tagged::read(members).map(Self::ToolResult),
            _ => ResultBlock::from_members(kind, members).map(|block| block.0),
        }
    }
}

/// A block inside a tool result, which cannot contain tool calls and tool results. These are kept as
/// [`ContentBlock::Other`].
pub(super) struct ResultBlock(pub(super) ContentBlock);

impl<'de> Deserialize<'de> for ResultBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl Tagged for ResultBlock {
    const EXPECTING: &'static str = EXPECTING;

    fn from_members<'de, A: MapAccess<'de>>(kind: &str, members: A) -> Result<Self, A::Error> {
        let block = match kind {
            "text" => ContentBlock::Text(tagged::read(members)?),
            "image" => ContentBlock::Image(tagged::read(members)?),
            "audio" => ContentBlock::Audio(tagged::read(members)?),
            "resource" => ContentBlock::Resource(tagged::read(members)?),
            "resource_link" => ContentBlock::ResourceLink(tagged::read(members)?),
            _ => {
                let mut object = JsonObject::from_iter([("type".to_owned(), kind.into())]);
                object.extend(tagged::read::<JsonObject, _>(members)?);
                ContentBlock::Other(object)
            }
        };
        Ok(Self(block))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ContentBlock;

    #[test]
    fn unknown_kind_is_kept() {
        let value = json!({"type": "hologram", "data": {"x": [1]}, "text": 7});
        let block: ContentBlock = serde_json::from_value(value.clone()).unwrap();
        assert!(matches!(block, ContentBlock::Other(_)));
        assert_eq!(serde_json::to_value(&block).unwrap(), value);
    }

    #[test]
    fn invalid_block_error_names_the_cause() {
        for (text, reason) in [
            (r#"{"text":"hi"}"#, "missing field `type`"),
            (r#"{"type":"text"}"#, "missing field `text`"),
            (
                r#"{"type":"image","data":"?","mimeType":"image/png"}"#,
                "base64",
            ),
            (
                r#"{"type":"resource","resource":{"uri":"a"}}"#,
                "`text` or `blob`",
            ),
        ] {
            let error = serde_json::from_str::<ContentBlock>(text)
                .unwrap_err()
                .to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
