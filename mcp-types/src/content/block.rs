//! Content blocks.

use serde_json::Value;

use super::{
    Annotations, Blob, EmbeddedResource, ResourceContents, ResourceLink, Text, ToolResultContent,
    ToolUseContent,
};
use crate::json::{self, Piece, Read, Slot, Tagged, Write, members, read_and_written};
use crate::setters::setters;
use crate::{JsonObject, Meta};

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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    Other(JsonObject),
}

/// Text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: Text,
    /// Who it is for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(TextContent as "text" {
    "text" => text,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
});

/// A picture.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes of the file.
    pub data: Blob,
    /// The MIME type.
    pub mime_type: String,
    /// Who it is for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(ImageContent as "a picture" {
    "data" => data,
    "mimeType" => mime_type,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
});

/// Sound.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes of the file.
    pub data: Blob,
    /// The MIME type.
    pub mime_type: String,
    /// Who it is for.
    pub annotations: Option<Annotations>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(AudioContent as "sound" {
    "data" => data,
    "mimeType" => mime_type,
    "annotations" => annotations or nothing,
    "_meta" => meta or nothing,
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
        json::from_str(text)
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

impl Write for ContentBlock {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        match self {
            Self::Text(content) => Piece::Tagged("text", content),
            Self::Image(content) => Piece::Tagged("image", content),
            Self::Audio(content) => Piece::Tagged("audio", content),
            Self::Resource(content) => Piece::Tagged("resource", content),
            Self::ResourceLink(content) => Piece::Tagged("resource_link", content),
            Self::ToolUse(content) => Piece::Tagged("tool_use", content),
            Self::ToolResult(content) => Piece::Tagged("tool_result", content),
            Self::Other(members) => Piece::Object(members),
        }
    }
}

impl Read for ContentBlock {
    #[inline]
    fn blank() -> Self {
        Self::Other(JsonObject::new())
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        Slot::Tagged(self)
    }
}

impl Tagged for ContentBlock {
    #[inline]
    fn what(&self) -> &'static str {
        BLOCK
    }

    #[inline]
    fn choose(&mut self, kind: &str) -> Slot<'_> {
        *self = match kind {
            "tool_use" => Self::ToolUse(Read::blank()),
            "tool_result" => Self::ToolResult(Read::blank()),
            _ => return choose_plain(self, kind),
        };
        self.members()
    }
}

read_and_written!(ContentBlock);

const BLOCK: &str = "a content block";

/// A block inside of the result of a tool, where calls and results of tools are unknown kinds.
pub(super) struct PlainBlock(pub(super) ContentBlock);

impl Write for PlainBlock {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        self.0.piece()
    }
}

impl Read for PlainBlock {
    #[inline]
    fn blank() -> Self {
        Self(ContentBlock::blank())
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        Slot::Tagged(self)
    }
}

impl Tagged for PlainBlock {
    #[inline]
    fn what(&self) -> &'static str {
        BLOCK
    }

    #[inline]
    fn choose(&mut self, kind: &str) -> Slot<'_> {
        choose_plain(&mut self.0, kind)
    }
}

#[inline]
fn choose_plain<'a>(block: &'a mut ContentBlock, kind: &str) -> Slot<'a> {
    *block = match kind {
        "text" => ContentBlock::Text(Read::blank()),
        "image" => ContentBlock::Image(Read::blank()),
        "audio" => ContentBlock::Audio(Read::blank()),
        "resource" => ContentBlock::Resource(Read::blank()),
        "resource_link" => ContentBlock::ResourceLink(Read::blank()),
        _ => {
            let tag = std::iter::once(("type".to_owned(), Value::from(kind)));
            ContentBlock::Other(tag.collect())
        }
    };
    block.members()
}

impl ContentBlock {
    /// Where the members go beside the tag.
    #[inline]
    fn members(&mut self) -> Slot<'_> {
        match self {
            Self::Text(content) => Slot::Members(content),
            Self::Image(content) => Slot::Members(content),
            Self::Audio(content) => Slot::Members(content),
            Self::Resource(content) => Slot::Members(content),
            Self::ResourceLink(content) => Slot::Members(content),
            Self::ToolUse(content) => Slot::Members(content),
            Self::ToolResult(content) => content.slot(),
            Self::Other(members) => Slot::Object(members),
        }
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
