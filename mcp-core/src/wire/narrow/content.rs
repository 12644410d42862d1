//! Content blocks.

use mcp_types::{
    Annotations, CallToolResult, ContentBlock, GetPromptResult, JsonObject, ProtocolVersion,
    ReadResourceResult, ResourceContents, ToolResultContent,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::narrowed::Narrow;
use super::structure::object_content;

// spec: TOOL-13, TOOL-14, TOOL-18
impl Narrow for CallToolResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.content.iter_mut().for_each(|block| block.narrow(to));
        if !to.has_titles_and_structure() {
            self.structured_content = None;
        } else if let Some(value) = &self.structured_content
            && let Some(object) = object_content(value.get(), self.wraps_structure, to)
        {
            self.structured_content = RawValue::from_string(object).ok();
        }
    }
}

/// A block outside sampling. Kinds that the revision does not have there become a text that
/// describes them.
// spec: TOOL-13, SAMP-07
impl Narrow for ContentBlock {
    fn narrow(&mut self, to: ProtocolVersion) {
        if let Self::ToolUse(_) | Self::ToolResult(_) = self {
            *self = Self::text(describe(self));
        }
        narrow_block(self, to);
    }
}

/// Narrows a block in a place that allows every kind.
pub(super) fn narrow_block(block: &mut ContentBlock, to: ProtocolVersion) {
    if !exists(block, to) {
        *block = ContentBlock::text(describe(block));
    }
    let (annotations, meta) = match block {
        ContentBlock::Text(block) => (&mut block.annotations, &mut block.meta),
        ContentBlock::Image(block) => (&mut block.annotations, &mut block.meta),
        ContentBlock::Audio(block) => (&mut block.annotations, &mut block.meta),
        ContentBlock::Resource(block) => {
            block.resource.narrow(to);
            (&mut block.annotations, &mut block.meta)
        }
        ContentBlock::ResourceLink(block) => {
            if !to.has_icons() {
                block.icons.clear();
            }
            (&mut block.annotations, &mut block.meta)
        }
        ContentBlock::ToolResult(block) => return block.narrow(to),
        _ => return,
    };
    if !to.has_titles_and_structure() {
        *meta = None;
    }
    narrow_annotations(annotations, to);
}

/// Returns true if the revision has the kind of content anywhere.
fn exists(block: &ContentBlock, to: ProtocolVersion) -> bool {
    match block {
        ContentBlock::Audio(_) => to.has_annotations_and_audio(),
        ContentBlock::ResourceLink(_) => to.has_titles_and_structure(),
        ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_) => to.has_sampling_tools(),
        _ => true,
    }
}

/// Describes a block as text.
pub(super) fn describe(block: &ContentBlock) -> String {
    let file = |kind: &str, data: &mcp_types::Blob, mime_type: &str| {
        format!("[{kind}, {mime_type}, {} bytes]", data.as_bytes().len())
    };
    match block {
        ContentBlock::Text(text) => text.text.to_string(),
        ContentBlock::Image(image) => file("picture", &image.data, &image.mime_type),
        ContentBlock::Audio(audio) => file("sound", &audio.data, &audio.mime_type),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::Text(contents) => contents.text.clone(),
            other => format!("[resource, {}]", other.uri()),
        },
        ContentBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
        ContentBlock::ToolUse(call) => format!("[call of {}: {}]", call.name, call.input.as_str()),
        ContentBlock::ToolResult(result) => describe_all(&result.content),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// Describes several blocks as text, one per line.
pub(super) fn describe_all(blocks: &[ContentBlock]) -> String {
    let lines: Vec<_> = blocks.iter().map(describe).collect();
    lines.join("\n")
}

// spec: RSRC-11
pub(super) fn narrow_annotations(annotations: &mut Option<Annotations>, to: ProtocolVersion) {
    if let Some(annotations) = annotations
        && !to.has_titles_and_structure()
    {
        annotations.last_modified = None;
    }
}

/// A tool result in a conversation. It cannot contain calls and tool results.
// spec: SAMP-07, TOOL-18
impl Narrow for ToolResultContent {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.content.iter_mut().for_each(|block| block.narrow(to));
        if !to.has_free_structure()
            && let Some(value) = self.structured_content.take_if(|value| !value.is_object())
        {
            let wrapped = JsonObject::from_iter([("result".to_owned(), value)]);
            self.structured_content = Some(Value::Object(wrapped));
        }
    }
}

// spec: META-16
impl Narrow for ResourceContents {
    fn narrow(&mut self, to: ProtocolVersion) {
        if to.has_titles_and_structure() {
            return;
        }
        match self {
            Self::Text(contents) => contents.meta = None,
            Self::Blob(contents) => contents.meta = None,
            _ => {}
        }
    }
}

impl Narrow for ReadResourceResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.contents
            .iter_mut()
            .for_each(|contents| contents.narrow(to));
    }
}

impl Narrow for GetPromptResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.messages
            .iter_mut()
            .for_each(|message| message.content.narrow(to));
    }
}
