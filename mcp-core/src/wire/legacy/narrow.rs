//! What older peers may not see. The types are a superset of all revisions; here each of them
//! loses what the peer's revision does not have, and keeps the meaning in words where it can.
//!
//! Spec: `docs/spec/revisions.md` §2 and §9

use std::sync::Arc;

use mcp_types::{
    Annotations, CallToolResult, CompleteParams, ContentBlock, GetPromptResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    ProtocolVersion, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Tool,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ServerNote;

/// Loses what a revision does not have.
pub(super) trait Narrow {
    fn narrow(&mut self, to: ProtocolVersion);
}

// spec: TOOL-05
impl Narrow for Tool {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_annotations_and_audio() {
            self.annotations = None;
        }
        if !to.has_titles_and_structure() {
            self.title = None;
            self.output_schema = None;
            self.meta = None;
        }
        if !to.has_icons() {
            self.icons.clear();
        }
        if !to.has_tool_execution() {
            self.other.shift_remove("execution");
        }
        if !to.has_free_structure()
            && let Some(schema) = &self.output_schema
            && !describes_object(schema)
        {
            self.output_schema = Some(Arc::new(wrapped_schema(schema)));
        }
    }
}

fn describes_object(schema: &JsonObject) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// The schema of `{"result": …}`, which is how a value that is no object reaches older peers.
// spec: TOOL-18
fn wrapped_schema(schema: &JsonObject) -> JsonObject {
    let mut inner = schema.clone();
    let definitions = inner.shift_remove("$defs");
    let properties = JsonObject::from_iter([("result".to_owned(), inner.into())]);
    let mut outer = JsonObject::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties.into()),
        ("required".to_owned(), Value::from(vec!["result"])),
    ]);
    // References in the inner schema start at the root.
    if let Some(definitions) = definitions {
        outer.insert("$defs".to_owned(), definitions);
    }
    outer
}

// spec: TOOL-13, TOOL-14, TOOL-18
impl Narrow for CallToolResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.content.iter_mut().for_each(|block| block.narrow(to));
        if !to.has_titles_and_structure() {
            self.structured_content = None;
        } else if !to.has_free_structure()
            && let Some(value) = &self.structured_content
            && !value.get().starts_with('{')
        {
            let text = format!(r#"{{"result":{}}}"#, value.get());
            self.structured_content = RawValue::from_string(text).ok();
        }
    }
}

/// Kinds of content that the peer does not know become text that says what was there.
// spec: TOOL-13
impl Narrow for ContentBlock {
    fn narrow(&mut self, to: ProtocolVersion) {
        let words = match self {
            Self::Audio(audio) if !to.has_annotations_and_audio() => {
                let bytes = audio.data.as_bytes().len();
                Some(format!("[sound, {}, {bytes} bytes]", audio.mime_type))
            }
            Self::ResourceLink(link) if !to.has_titles_and_structure() => {
                Some(format!("{}: {}", link.name, link.uri))
            }
            _ => None,
        };
        if let Some(words) = words {
            *self = Self::text(words);
        }
        let (annotations, meta) = match self {
            Self::Text(block) => (&mut block.annotations, &mut block.meta),
            Self::Image(block) => (&mut block.annotations, &mut block.meta),
            Self::Audio(block) => (&mut block.annotations, &mut block.meta),
            Self::Resource(block) => {
                block.resource.narrow(to);
                (&mut block.annotations, &mut block.meta)
            }
            Self::ResourceLink(block) => {
                if !to.has_icons() {
                    block.icons.clear();
                }
                (&mut block.annotations, &mut block.meta)
            }
            _ => return,
        };
        if !to.has_titles_and_structure() {
            *meta = None;
        }
        narrow_annotations(annotations, to);
    }
}

// spec: RSRC-11
fn narrow_annotations(annotations: &mut Option<Annotations>, to: ProtocolVersion) {
    if let Some(annotations) = annotations
        && !to.has_titles_and_structure()
    {
        annotations.last_modified = None;
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

// spec: RSRC-03
impl Narrow for Resource {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.title = None;
            self.meta = None;
        }
        if !to.has_icons() {
            self.icons.clear();
        }
        narrow_annotations(&mut self.annotations, to);
    }
}

// spec: RSRC-03
impl Narrow for ResourceTemplate {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.title = None;
            self.meta = None;
        }
        if !to.has_icons() {
            self.icons.clear();
        }
        narrow_annotations(&mut self.annotations, to);
    }
}

// spec: PROMPT-03
impl Narrow for Prompt {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.title = None;
            self.meta = None;
            self.arguments
                .iter_mut()
                .for_each(|argument| argument.title = None);
        }
        if !to.has_icons() {
            self.icons.clear();
        }
    }
}

macro_rules! lists {
    ($($list:ident: $items:ident),*) => {
        $(impl Narrow for $list {
            fn narrow(&mut self, to: ProtocolVersion) {
                self.$items.iter_mut().for_each(|item| item.narrow(to));
            }
        })*
    };
}

lists!(
    ListToolsResult: tools,
    ListResourcesResult: resources,
    ListResourceTemplatesResult: resource_templates,
    ListPromptsResult: prompts
);

// spec: COMP-02
impl Narrow for CompleteParams {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.context = None;
        }
    }
}

/// A note without what the revision does not have; `None` when it may go out as it is.
// spec: PROG-02
pub(super) fn note(note: &ServerNote, to: ProtocolVersion) -> Option<ServerNote> {
    match note {
        ServerNote::Progress { token, progress }
            if progress.message.is_some() && !to.has_annotations_and_audio() =>
        {
            let mut progress = progress.clone();
            progress.message = None;
            Some(ServerNote::Progress {
                token: token.clone(),
                progress,
            })
        }
        _ => None,
    }
}
