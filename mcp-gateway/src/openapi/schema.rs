//! Schemas of tools: those of a document, with the components that they refer to.

use std::collections::BTreeSet;

use mcp_types::JsonObject;
use oas3::Spec;
use serde_json::{Value, json};

const COMPONENTS: &str = "#/components/schemas/";
const DEFINITIONS: &str = "#/$defs/";
/// Components of one tool. References to further ones accept every value.
const MAX_COMPONENTS: usize = 200;

/// The properties of the arguments of a tool.
#[derive(Default)]
pub(super) struct Properties {
    properties: JsonObject,
    required: Vec<String>,
}

impl Properties {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.properties.contains_key(name)
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        schema: Option<&oas3::spec::Schema>,
        description: Option<&str>,
        is_required: bool,
    ) {
        let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
        let mut schema = schema.unwrap_or_else(|| json!({}));
        if let (Some(description), Value::Object(members)) = (description, &mut schema) {
            members.insert("description".into(), description.into());
        }
        self.properties.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.to_owned());
        }
    }

    /// Returns the schema of the arguments.
    pub(super) fn into_schema(self, spec: &Spec) -> JsonObject {
        let mut schema = json!({
            "type": "object", "properties": self.properties, "required": self.required,
        });
        let mut pending = BTreeSet::new();
        localize(&mut schema, &mut pending);
        let mut definitions = JsonObject::new();
        while let Some(name) = pending.pop_first() {
            if definitions.contains_key(&name) {
                continue;
            }
            let mut component = match definitions.len() < MAX_COMPONENTS {
                true => component(spec, &name),
                false => json!({}),
            };
            localize(&mut component, &mut pending);
            definitions.insert(name, component);
        }
        let mut schema = match schema {
            Value::Object(schema) => schema,
            _ => JsonObject::new(),
        };
        if !definitions.is_empty() {
            schema.insert("$defs".into(), Value::Object(definitions));
        }
        schema
    }
}

fn component(spec: &Spec, name: &str) -> Value {
    let components = spec.components.as_ref();
    let schema = components.and_then(|it| it.schemas.get(name));
    let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
    schema.unwrap_or_else(|| json!({}))
}

/// Replaces references to components by references into the schema, and collects their names.
fn localize(value: &mut Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| localize(it, names)),
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                match reference.strip_prefix(COMPONENTS).map(str::to_owned) {
                    Some(name) => {
                        *reference = format!("{DEFINITIONS}{name}");
                        names.insert(name);
                    }
                    // A schema of another document is not fetched.
                    None if !reference.starts_with(DEFINITIONS) => {
                        members.remove("$ref");
                    }
                    None => {}
                }
            }
            members.values_mut().for_each(|it| localize(it, names));
        }
        _ => {}
    }
}
