//! Definitions of tools, resources and prompts, and call parameters.

use std::sync::Arc;

use mcp_types::{
    CallToolParams, CompleteParams, Icon, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Meta, Prompt,
    ProtocolVersion, Resource, ResourceTemplate, Tool,
};
use serde_json::Value;

use super::content::narrow_annotations;
use super::narrowed::Narrow;
use super::structure::object_schema;

// spec: TOOL-05
impl Narrow for Tool {
    fn narrow(&mut self, to: ProtocolVersion) {
        narrow_item(&mut self.title, &mut self.meta, &mut self.icons, to);
        if !to.has_annotations_and_audio() {
            self.annotations = None;
        }
        if !to.has_titles_and_structure() {
            self.output_schema = None;
        }
        if !to.has_tool_execution() {
            // spec: TASKL-01
            self.execution = None;
        }
        if to.has_free_structure() {
            return;
        }
        boolean_schemas_to_objects(&mut self.input_schema);
        if let Some(schema) = &mut self.output_schema {
            if let Some(object) = object_schema(schema) {
                *schema = Arc::new(object);
            }
            boolean_schemas_to_objects(schema);
        }
    }
}

/// Replaces the boolean schemas of properties by equivalent objects, which older peers require.
fn boolean_schemas_to_objects(schema: &mut Arc<JsonObject>) {
    let is_plain = |schema: &JsonObject| {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.is_none_or(|properties| !properties.values().any(Value::is_boolean))
    };
    if is_plain(schema) {
        return;
    }
    let properties = Arc::make_mut(schema).get_mut("properties");
    for property in properties
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(|properties| properties.values_mut())
    {
        match property {
            Value::Bool(true) => *property = JsonObject::new().into(),
            Value::Bool(false) => {
                let never = JsonObject::from_iter([("not".to_owned(), JsonObject::new().into())]);
                *property = never.into();
            }
            _ => {}
        }
    }
}

/// Narrows the fields that all definitions have.
// spec: META-16, ICON-01
fn narrow_item(
    title: &mut Option<String>,
    meta: &mut Option<Meta>,
    icons: &mut Vec<Icon>,
    to: ProtocolVersion,
) {
    if !to.has_titles_and_structure() {
        *title = None;
        *meta = None;
    }
    if !to.has_icons() {
        icons.clear();
    }
}

// spec: RSRC-03
impl Narrow for Resource {
    fn narrow(&mut self, to: ProtocolVersion) {
        narrow_item(&mut self.title, &mut self.meta, &mut self.icons, to);
        narrow_annotations(&mut self.annotations, to);
    }
}

// spec: RSRC-03
impl Narrow for ResourceTemplate {
    fn narrow(&mut self, to: ProtocolVersion) {
        narrow_item(&mut self.title, &mut self.meta, &mut self.icons, to);
        narrow_annotations(&mut self.annotations, to);
    }
}

// spec: PROMPT-03
impl Narrow for Prompt {
    fn narrow(&mut self, to: ProtocolVersion) {
        narrow_item(&mut self.title, &mut self.meta, &mut self.icons, to);
        if !to.has_titles_and_structure() {
            self.arguments
                .iter_mut()
                .for_each(|argument| argument.title = None);
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

// spec: TASKL-01
impl Narrow for CallToolParams {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_experimental_tasks() {
            self.task = None;
        }
    }
}
