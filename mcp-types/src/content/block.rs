//! Content blocks.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{
    Annotations, Blob, EmbeddedResource, ResourceContents, ResourceLink, Text, ToolResultContent,
    ToolUseContent,
};
use crate::members::read_members;
use crate::setters::setters;
use crate::text::Str;
use crate::{JsonObject, Meta, reread};

/// A piece of content. Kinds that this library does not know survive unchanged.
///
/// # Examples
///
/// ```
/// use mcp_types::ContentBlock;
///
/// let block = ContentBlock::image(&b"\x89PNG"[..], "image/png");
/// let text = serde_json::to_string(&block)?;
/// assert_eq!(text, r#"{"type":"image","data":"iVBORw==","mimeType":"image/png"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: TOOL-13
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound (2025-03-26 and later).
    Audio(AudioContent),
    /// A whole resource.
    Resource(EmbeddedResource),
    /// A link to a resource (2025-06-18 and later).
    ResourceLink(ResourceLink),
    /// A language model wants to call a tool (2025-11-25 and later, in sampling alone).
    ToolUse(ToolUseContent),
    /// What a tool said to a language model (2025-11-25 and later, in sampling alone).
    ToolResult(ToolResultContent),
    /// A kind that this library does not know, with its `type`.
    #[serde(untagged)]
    Other(JsonObject),
}

/// Text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: Text,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(TextContent as "text" {
    "text" => text,
} {
    "annotations" => annotations,
    "_meta" => meta,
});

/// A picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ImageContent {
    /// The bytes of the file.
    pub data: Blob,
    /// The MIME type.
    pub mime_type: String,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(ImageContent as "a picture" {
    "data" => data,
    "mimeType" => mime_type,
} {
    "annotations" => annotations,
    "_meta" => meta,
});

/// Sound.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct AudioContent {
    /// The bytes of the file.
    pub data: Blob,
    /// The MIME type.
    pub mime_type: String,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(AudioContent as "sound" {
    "data" => data,
    "mimeType" => mime_type,
} {
    "annotations" => annotations,
    "_meta" => meta,
});

impl TextContent {
    /// Text.
    pub fn new(text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    setters! { annotations, meta }
}

impl ImageContent {
    /// A picture: the bytes of a file and its MIME type.
    pub fn new(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            ..Self::default()
        }
    }

    setters! { annotations, meta }
}

impl AudioContent {
    /// Sound: the bytes of a file and its MIME type.
    pub fn new(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            ..Self::default()
        }
    }

    setters! { annotations, meta }
}

impl ContentBlock {
    /// Reads a block from its JSON.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the text is no block.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_types::ContentBlock;
    ///
    /// let block = ContentBlock::from_json(r#"{"type":"text","text":"hello"}"#)?;
    /// assert_eq!(block, ContentBlock::text("hello"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Text.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture: the bytes of a file and its MIME type.
    pub fn image(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Sound: the bytes of a file and its MIME type.
    pub fn audio(data: impl Into<Blob>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// A whole resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource::new(contents))
    }

    /// A link to a resource: its URI and its name for programs.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// Says who it is for. Calls and results of tools and unknown kinds cannot say it.
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

    /// The text, when it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// The text, when it is text and carries nothing beside.
    pub fn as_plain_text(&self) -> Option<&str> {
        match self {
            Self::Text(TextContent {
                text,
                annotations: None,
                meta: None,
            }) => Some(text),
            _ => None,
        }
    }
}

/// Writes `From` for every kind of block.
macro_rules! from_kind {
    ($($kind:ident($content:ty),)*) => {
        $(impl From<$content> for ContentBlock {
            fn from(content: $content) -> Self {
                Self::$kind(content)
            }
        })*
    };
}

from_kind! {
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

impl From<Text> for ContentBlock {
    fn from(text: Text) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Reads a block by its `type`. Where `type` comes first, as it does everywhere in practice, the
/// other members are read straight into the block.
impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BlockVisitor {
            in_tool_result: false,
        })
    }
}

/// A block inside of the result of a tool, where calls and results of tools are unknown kinds.
pub(super) struct PlainBlock(pub(super) ContentBlock);

impl<'de> Deserialize<'de> for PlainBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = BlockVisitor {
            in_tool_result: true,
        };
        deserializer.deserialize_map(visitor).map(Self)
    }
}

struct BlockVisitor {
    in_tool_result: bool,
}

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = ContentBlock;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContentBlock, A::Error> {
        let mut before = JsonObject::new();
        while let Some(Str(key)) = map.next_key()? {
            if key != "type" {
                before.insert(key.into_owned(), map.next_value()?);
                continue;
            }
            let Str(kind) = map.next_value()?;
            if before.is_empty() {
                return self.read(&kind, MapAccessDeserializer::new(map));
            }
            while let Some((key, value)) = map.next_entry()? {
                before.insert(key, value);
            }
            return self.read_again(&kind, before);
        }
        Err(A::Error::missing_field("type"))
    }
}

impl BlockVisitor {
    /// Reads a block whose `type` came late, with `type` first.
    fn read_again<E: Error>(&self, kind: &str, mut members: JsonObject) -> Result<ContentBlock, E> {
        members.shift_insert(0, "type".to_owned(), kind.into());
        if self.in_tool_result {
            reread::members(&members).map(|PlainBlock(block)| block)
        } else {
            reread::members(&members)
        }
    }

    fn read<'de, D: Deserializer<'de>>(
        &self,
        kind: &str,
        members: D,
    ) -> Result<ContentBlock, D::Error> {
        Ok(match kind {
            "text" => ContentBlock::Text(Deserialize::deserialize(members)?),
            "image" => ContentBlock::Image(Deserialize::deserialize(members)?),
            "audio" => ContentBlock::Audio(Deserialize::deserialize(members)?),
            "resource" => ContentBlock::Resource(Deserialize::deserialize(members)?),
            "resource_link" => ContentBlock::ResourceLink(Deserialize::deserialize(members)?),
            "tool_use" if !self.in_tool_result => {
                ContentBlock::ToolUse(Deserialize::deserialize(members)?)
            }
            "tool_result" if !self.in_tool_result => {
                ContentBlock::ToolResult(Deserialize::deserialize(members)?)
            }
            _ => {
                let rest = JsonObject::deserialize(members)?;
                let tag = std::iter::once(("type".to_owned(), Value::from(kind)));
                ContentBlock::Other(tag.chain(rest).collect())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ContentBlock, ResourceContents};

    #[track_caller]
    fn round_trip(block: &ContentBlock) {
        let text = serde_json::to_string(block).unwrap();
        assert_eq!(
            &serde_json::from_str::<ContentBlock>(&text).unwrap(),
            block,
            "{text}"
        );
        let mut value = serde_json::to_value(block).unwrap();
        // `type` last: the same block.
        let members = value.as_object_mut().unwrap();
        let kind = members.shift_remove("type").unwrap();
        members.insert("type".to_owned(), kind);
        assert_eq!(
            &serde_json::from_value::<ContentBlock>(value).unwrap(),
            block,
            "{text}"
        );
    }

    #[test]
    fn every_kind_reads_back() {
        round_trip(&ContentBlock::text("hi"));
        round_trip(&ContentBlock::image(b"png", "image/png"));
        round_trip(&ContentBlock::audio(b"wav", "audio/wav"));
        round_trip(&ContentBlock::link("file:///a", "a"));
        round_trip(&ContentBlock::resource(
            ResourceContents::text("file:///a", "hi").mime_type("text/plain"),
        ));
        round_trip(&ContentBlock::resource(ResourceContents::blob(
            "file:///a",
            b"\x00\xff",
        )));
    }

    #[test]
    fn unknown_kinds_survive() {
        let value = json!({"type": "hologram", "data": {"x": [1]}, "text": 7});
        let block: ContentBlock = serde_json::from_value(value.clone()).unwrap();
        assert!(matches!(block, ContentBlock::Other(_)));
        assert_eq!(serde_json::to_value(&block).unwrap(), value);
    }

    #[test]
    fn broken_blocks_say_what_is_wrong() {
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
