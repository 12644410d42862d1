//! Definitions of tools, resources and prompts.

use std::sync::Arc;

use crate::message::{Listing, ResultBody};
use mcp_types::legacy_tasks::TaskSupport;
use mcp_types::{
    Cursor, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolAnnotations,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::json;

use super::basics::{Range, meta, text, uri};
use super::content::{annotations, icons};

fn schema() -> BoxedStrategy<JsonObject> {
    let property = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"$ref": "#/$defs/n"})),
    ];
    let schema = vec(("[a-z]{1,3}", property), 0..3).prop_map(|properties| {
        let properties: JsonObject = properties.into_iter().collect();
        json!({"type": "object", "properties": properties, "required": [],
               "$defs": {"n": {"type": "number"}}, "additionalProperties": false})
    });
    schema
        .prop_map(|schema| schema.as_object().unwrap().clone())
        .boxed()
}

pub(super) fn tool(range: Range) -> BoxedStrategy<Tool> {
    let free = prop_oneof![
        Just(json!({"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {}}})),
        Just(json!({"type": "object", "properties": {"a": true, "b": false}})),
        Just(json!({})),
    ];
    let free = range.apart(free.prop_map(|schema| schema.as_object().unwrap().clone()));
    let hints = of((any::<bool>(), of(text())).prop_map(|(flag, title)| {
        let mut hints = ToolAnnotations::default();
        (hints.title, hints.read_only_hint, hints.open_world_hint) =
            (title, Some(flag), Some(true));
        hints
    }));
    let support = range.apart(Just(TaskSupport::Optional));
    let described = (of(text()), of(text()), icons(), meta());
    (schema(), of(schema()), free, hints, support, described)
        .prop_map(
            |(input, output, free, hints, support, (title, description, icons, meta))| {
                let mut tool = Tool::new("add").input_schema(input);
                tool.output_schema = free.or(output).map(Arc::new);
                (tool.annotations, tool.title, tool.description) = (hints, title, description);
                (tool.icons, tool.meta) = (icons, meta);
                if support.is_some() {
                    tool.execution.get_or_insert_default().task_support = support;
                }
                tool
            },
        )
        .boxed()
}

pub(super) fn cursor() -> BoxedStrategy<Option<Cursor>> {
    of(text().prop_map(Cursor::new)).boxed()
}

macro_rules! lists {
    ($($name:ident: $list:ident { $items:ident: $item:expr },)*) => {
        $(pub(super) fn $name(range: Range) -> BoxedStrategy<ResultBody> {
            let item = $item;
            (vec(item(range), 0..3), cursor(), meta())
                .prop_map(|(items, cursor, meta)| {
                    let mut page = $list::default();
                    (page.$items, page.next_cursor, page.meta) = (items, cursor, meta);
                    body_of(page)
                })
                .boxed()
        })*
    };
}

trait Listed {
    fn body(self) -> ResultBody;
}

fn body_of(page: impl Listed) -> ResultBody {
    page.body()
}

macro_rules! listed {
    ($($list:ident => $body:ident,)*) => {
        $(impl Listed for $list {
            fn body(self) -> ResultBody {
                ResultBody::$body(Arc::new(Listing::new(self)))
            }
        })*
    };
}

listed! {
    ListToolsResult => ListTools,
    ListResourcesResult => ListResources,
    ListResourceTemplatesResult => ListResourceTemplates,
    ListPromptsResult => ListPrompts,
}

lists! {
    tools: ListToolsResult { tools: tool },
    resources: ListResourcesResult { resources: |_| resource() },
    templates: ListResourceTemplatesResult { resource_templates: |_| template() },
    prompts: ListPromptsResult { prompts: |_| prompt() },
}

fn resource() -> BoxedStrategy<Resource> {
    (
        uri(),
        of(text()),
        of(0_u64..9),
        icons(),
        annotations(),
        meta(),
    )
        .prop_map(|(uri, title, size, icons, annotations, meta)| {
            let mut it = Resource::default();
            (it.uri, it.name, it.title, it.size) = (uri, "name".to_owned(), title, size);
            (it.icons, it.annotations, it.meta) = (icons, annotations, meta);
            it
        })
        .boxed()
}

fn template() -> BoxedStrategy<ResourceTemplate> {
    (of(text()), icons(), annotations(), meta())
        .prop_map(|(title, icons, annotations, meta)| {
            let mut it = ResourceTemplate::default();
            (it.uri_template, it.name) = ("file:///{path}".to_owned(), "name".to_owned());
            (it.title, it.icons, it.annotations, it.meta) = (title, icons, annotations, meta);
            it
        })
        .boxed()
}

fn prompt() -> BoxedStrategy<Prompt> {
    let argument = (of(text()), of(any::<bool>())).prop_map(|(title, required)| {
        let mut argument = PromptArgument::default();
        (argument.name, argument.title, argument.required) = ("a".to_owned(), title, required);
        argument
    });
    (of(text()), vec(argument, 0..3), icons(), meta())
        .prop_map(|(title, arguments, icons, meta)| {
            let mut it = Prompt::default();
            (it.name, it.title, it.arguments) = ("name".to_owned(), title, arguments);
            (it.icons, it.meta) = (icons, meta);
            it
        })
        .boxed()
}
