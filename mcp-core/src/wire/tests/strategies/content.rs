//! Content blocks.

use mcp_types::{
    Annotations, AudioContent, ContentBlock, Icon, IconTheme, ImageContent, ResourceContents,
    ResourceLink, TextContent, ToolResultContent, ToolUseContent,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::Value;

use super::basics::{Range, meta, object, raw_object, role, share, text, uri, value};

pub(super) fn annotations() -> BoxedStrategy<Option<Annotations>> {
    let hints = (vec(role(), 0..3), of(share()), any::<bool>());
    let hints = hints.prop_map(|(audience, priority, dated)| {
        let mut hints = Annotations::default();
        hints.audience = audience;
        hints.priority = priority;
        hints.last_modified = dated.then(|| "2025-01-12T15:00:58Z".to_owned());
        hints
    });
    of(hints).boxed()
}

pub(super) fn icons() -> BoxedStrategy<Vec<Icon>> {
    let theme = prop_oneof![Just(IconTheme::Light), Just(IconTheme::Dark)];
    let icon = (uri(), of(text()), of(theme)).prop_map(|(src, mime_type, theme)| {
        let mut icon = Icon::new(src).size("any");
        icon.mime_type = mime_type;
        icon.theme = theme;
        icon
    });
    vec(icon, 0..2).boxed()
}

pub(super) fn contents() -> BoxedStrategy<ResourceContents> {
    let some = prop_oneof![
        (uri(), text()).prop_map(|(uri, text)| ResourceContents::text(uri, text)),
        (uri(), vec(any::<u8>(), 0..9)).prop_map(|(uri, bytes)| ResourceContents::blob(uri, bytes)),
    ];
    (some, meta())
        .prop_map(|(mut contents, meta)| {
            match &mut contents {
                ResourceContents::Text(contents) => contents.meta = meta,
                ResourceContents::Blob(contents) => contents.meta = meta,
                _ => {}
            }
            contents.mime_type("text/x")
        })
        .boxed()
}

/// A text, image or audio block.
pub(super) fn simple_block() -> BoxedStrategy<ContentBlock> {
    let bytes = || vec(any::<u8>(), 0..9);
    let beside = || (annotations(), meta());
    prop_oneof![
        (text(), beside()).prop_map(|(text, (annotations, meta))| {
            let mut block = TextContent::default();
            (block.text, block.annotations, block.meta) = (text, annotations, meta);
            block.into()
        }),
        (bytes(), beside()).prop_map(|(data, (annotations, meta))| {
            let mut block = ImageContent::default();
            (block.data, block.mime_type) = (data.into(), "image/png".to_owned());
            (block.annotations, block.meta) = (annotations, meta);
            block.into()
        }),
        (bytes(), beside()).prop_map(|(data, (annotations, meta))| {
            let mut block = AudioContent::default();
            (block.data, block.mime_type) = (data.into(), "audio/wav".to_owned());
            (block.annotations, block.meta) = (annotations, meta);
            block.into()
        }),
    ]
    .boxed()
}

/// Content of tools and prompts.
pub(super) fn block(range: Range) -> BoxedStrategy<ContentBlock> {
    let embedded = (contents(), annotations(), meta()).prop_map(|(contents, annotations, meta)| {
        let mut block = ContentBlock::resource(contents);
        if let ContentBlock::Resource(embedded) = &mut block {
            (embedded.annotations, embedded.meta) = (annotations, meta);
        }
        block
    });
    let link = (
        uri(),
        of(text()),
        icons(),
        annotations(),
        meta(),
        of(0_u64..9),
    );
    let link = link.prop_map(|(uri, title, icons, annotations, meta, size)| {
        let mut block = ResourceLink::new(uri, "name");
        (block.title, block.icons, block.size) = (title, icons, size);
        (block.annotations, block.meta) = (annotations, meta);
        block.into()
    });
    match range {
        Range::Shared => prop_oneof![3 => simple_block(), 1 => embedded, 1 => link].boxed(),
        // The wires convert calls of tools here.
        Range::All => {
            prop_oneof![3 => simple_block(), 1 => embedded, 1 => link, 1 => tool_block(range)]
                .boxed()
        }
    }
}

/// Calls and results of tools, in sampling.
pub(super) fn tool_block(range: Range) -> BoxedStrategy<ContentBlock> {
    let structured = match range {
        Range::Shared => of(object().prop_map(Value::from)).boxed(),
        Range::All => of(value()).boxed(),
    };
    let call = (text(), raw_object(), meta()).prop_map(|(id, input, meta)| {
        let mut block = ToolUseContent::new(id, "add", input);
        block.meta = meta;
        block.into()
    });
    let result = (
        text(),
        vec(simple_block(), 0..3),
        structured,
        of(any::<bool>()),
        meta(),
    );
    let result = result.prop_map(|(id, content, structured, is_error, meta)| {
        let mut block = ToolResultContent::new(id, content);
        (block.structured_content, block.is_error, block.meta) = (structured, is_error, meta);
        block.into()
    });
    prop_oneof![call, result].boxed()
}
