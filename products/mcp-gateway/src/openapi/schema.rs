//! Tool schemas: those of a document, with the components that they refer to in place.

use std::collections::BTreeSet;

use mcp_types::JsonObject;
use oas3::Spec;
use oas3::spec::Schema;
use serde_json::{Value, json};

use super::reference::{escape, name_of};

const DEFINITIONS: &str = "#/$defs/";
/// Longest text of the components that replace references in one schema, in bytes. Further references lead to `$defs`.
const MAX_IN_PLACE: usize = 64 << 10;
/// Maximum size of the `$defs` of a schema, in bytes. References to further components accept every value.
const MAX_DEFINITIONS: usize = 192 << 10;
/// Deepest reference that its component replaces, in schema levels.
const MAX_DEPTH: usize = 32;
/// Deepest alternative that decides about the types of a value.
const MAX_ALTERNATIVES: usize = 16;

/// The properties of the tool arguments.
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
        schema: Option<&Schema>,
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

    /// Returns the argument schema.
    pub(super) fn into_schema(self, spec: &Spec) -> JsonObject {
        let mut components = Components::new(spec, "readOnly");
        let mut properties = self.properties;
        for property in properties.values_mut() {
            components.place(property, &mut Vec::new(), 0);
        }
        let mut schema = object([
            ("type", "object".into()),
            ("properties", properties.into()),
            ("required", self.required.into()),
        ]);
        components.add_definitions(&mut schema);
        schema
    }
}

/// Returns the schema of a tool's structured content. Its service answers with `schema`. Results that do not
/// match `schema` match the second alternative, so that no result breaks the schema.
pub(super) fn of_output(spec: &Spec, schema: &Schema) -> Option<JsonObject> {
    let mut components = Components::new(spec, "writeOnly");
    let mut schema = serde_json::to_value(schema).ok()?;
    components.place(&mut schema, &mut Vec::new(), 0);
    if schema.as_object().is_none_or(JsonObject::is_empty) {
        return None;
    }
    let mut output = object([("type", "object".into())]);
    components.add_definitions(&mut output);
    // Structured content is an object.
    if !accepts(&schema, &output, "object") {
        schema =
            json!({"type": "object", "properties": {"result": schema}, "required": ["result"]});
    }
    let other = json!({
        "type": "object", "description": "A response that the service does not describe.",
    });
    output.insert("anyOf".into(), Value::from(vec![schema, other]));
    Some(output)
}

fn object<const N: usize>(members: [(&str, Value); N]) -> JsonObject {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns whether a schema says that values can have the type `kind`: `object` or `array`. `root` has the `$defs`.
pub(super) fn accepts(schema: &Value, root: &JsonObject, kind: &str) -> bool {
    accepts_at(schema, root, kind, 0)
}

fn accepts_at(schema: &Value, root: &JsonObject, kind: &str, depth: usize) -> bool {
    let Value::Object(members) = schema else {
        return false;
    };
    if depth > MAX_ALTERNATIVES {
        return false;
    }
    match members.get("type") {
        Some(Value::String(one)) => return one == kind,
        Some(Value::Array(several)) => return several.iter().any(|one| one == kind),
        _ => {}
    }
    let keywords: [&str; 2] = match kind {
        "object" => ["properties", "additionalProperties"],
        _ => ["items", "prefixItems"],
    };
    if keywords
        .iter()
        .any(|keyword| members.contains_key(*keyword))
    {
        return true;
    }
    let reference = members.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| {
        let name = name_of(reference, DEFINITIONS)?;
        root.get("$defs")?.get(&name)
    });
    let alternatives = ["allOf", "anyOf", "oneOf"].iter();
    let alternatives = alternatives.filter_map(|keyword| members.get(*keyword)?.as_array());
    target
        .into_iter()
        .chain(alternatives.flatten())
        .any(|schema| accepts_at(schema, root, kind, depth + 1))
}

/// Components that replace references to them.
struct Components<'a> {
    spec: &'a Spec,
    /// The keyword of properties that values in this direction do not have.
    excluded: &'static str,
    /// Bytes that remain for components in the place of references.
    in_place: usize,
    /// The components that references in `$defs` name.
    pending: BTreeSet<String>,
}

impl<'a> Components<'a> {
    fn new(spec: &'a Spec, excluded: &'static str) -> Self {
        Self {
            spec,
            excluded,
            in_place: MAX_IN_PLACE,
            pending: BTreeSet::new(),
        }
    }

    /// Replaces the references in a schema, except those to a component that contains them. `path` has the names of
    /// the components around the schema.
    fn place(&mut self, schema: &mut Value, path: &mut Vec<String>, depth: usize) {
        let Value::Object(members) = schema else {
            return;
        };
        if let Some(Value::String(reference)) = members.remove("$ref") {
            let description = members.remove("description");
            *schema = self.target(&reference, path, depth);
            if let (Some(description), Value::Object(members)) = (description, schema) {
                members.insert("description".into(), description);
            }
            return;
        }
        for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            let list = members.get_mut(keyword).and_then(Value::as_array_mut);
            for inner in list.into_iter().flatten() {
                self.place(inner, path, depth + 1);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = members.get_mut(keyword) {
                self.place(inner, path, depth + 1);
            }
        }
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        let Some(properties) = properties else {
            return;
        };
        let excluded = self.excluded;
        let mut removed = Vec::new();
        properties.retain(|name, property| {
            self.place(property, path, depth + 1);
            let is_excluded = property.get(excluded) == Some(&Value::Bool(true));
            if is_excluded {
                removed.push(name.clone());
            }
            !is_excluded
        });
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| !removed.iter().any(|removed| name == removed));
        }
    }

    /// Returns the schema in the place of a reference. Schemas of other documents are not fetched: they accept every
    /// value.
    fn target(&mut self, reference: &str, path: &mut Vec<String>, depth: usize) -> Value {
        let name = name_of(reference, "#/components/schemas/");
        let Some(name) = name.filter(|name| self.has(name)) else {
            return json!({});
        };
        if !path.contains(&name) && depth < MAX_DEPTH && self.in_place > 0 {
            let mut component = self.component(&name);
            let length = component.to_string().len();
            if let Some(rest) = self.in_place.checked_sub(length) {
                self.in_place = rest;
                path.push(name);
                self.place(&mut component, path, depth + 1);
                path.pop();
                return component;
            }
            self.in_place = 0;
        }
        let pointer = name.replace('~', "~0").replace('/', "~1");
        let reference = json!({"$ref": format!("{DEFINITIONS}{}", escape(&pointer))});
        self.pending.insert(name);
        reference
    }

    fn has(&self, name: &str) -> bool {
        let components = self.spec.components.as_ref();
        components.is_some_and(|components| components.schemas.contains_key(name))
    }

    fn component(&self, name: &str) -> Value {
        let components = self.spec.components.as_ref();
        let schema = components.and_then(|components| components.schemas.get(name));
        let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
        schema.unwrap_or_else(|| json!({}))
    }

    /// Adds the components that references still name, as `$defs`.
    fn add_definitions(mut self, schema: &mut JsonObject) {
        let mut definitions = JsonObject::new();
        let mut rest = MAX_DEFINITIONS;
        while let Some(name) = self.pending.pop_first() {
            if definitions.contains_key(&name) {
                continue;
            }
            let mut component = json!({});
            if rest > 0 {
                component = self.component(&name);
                self.place(&mut component, &mut vec![name.clone()], 0);
                let length = component.to_string().len();
                if length > rest {
                    component = json!({});
                }
                rest = rest.saturating_sub(length);
            }
            definitions.insert(name, component);
        }
        if !definitions.is_empty() {
            schema.insert("$defs".into(), definitions.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::document::parse;
    use super::{MAX_DEFINITIONS, MAX_IN_PLACE, Properties, Schema, accepts, of_output};

    /// Returns the input and the output schema of a value with the schema `schema`.
    fn schemas(schema: &Value, components: &Value) -> (Value, Value) {
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {},
            "components": {"schemas": components},
        });
        let spec = parse(&document.to_string(), 1 << 20).unwrap();
        let schema: Schema = serde_json::from_value(schema.clone()).unwrap();
        let mut properties = Properties::default();
        properties.add("body", Some(&schema), None, false);
        let output = of_output(&spec, &schema).unwrap_or_default();
        (properties.into_schema(&spec).into(), output.into())
    }

    #[test]
    fn components_replace_references() {
        let (input, output) = schemas(
            &json!({"$ref": "#/components/schemas/List%3CPet%3E"}),
            &json!({
                "List<Pet>": {"type": "array", "items": {"$ref": "#/components/schemas/a~1Pet", "description": "one"}},
                "a/Pet": {"type": "object", "properties": {"toy": {"$ref": "#/components/schemas/Toy"}}},
                "Toy": {"type": "string", "default": {"$ref": "data"}},
            }),
        );
        let toy = json!({"type": "string", "default": {"$ref": "data"}});
        let pet = json!({"type": "object", "properties": {"toy": toy}, "description": "one"});
        let list = json!({"type": "array", "items": pet});
        assert_eq!(input["properties"]["body"], list);
        assert!(input.get("$defs").is_none(), "{input}");
        assert_eq!(output["anyOf"][0]["properties"]["result"], list);
    }

    #[test]
    fn recursive_components_are_definitions() {
        let (input, _) = schemas(
            &json!({"$ref": "#/components/schemas/A"}),
            &json!({
                "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
                "B": {"type": "array", "items": {"$ref": "#/components/schemas/A"}},
            }),
        );
        let again = json!({"$ref": "#/$defs/A"});
        let b = json!({"type": "array", "items": again});
        let a = json!({"type": "object", "properties": {"b": b}});
        assert_eq!(input["properties"]["body"], a);
        assert_eq!(input["$defs"], json!({"A": a}));
    }

    #[test]
    fn components_are_limited() {
        // Each level doubles the text.
        let mut components = json!({"L0": {"type": "string", "description": "x".repeat(1000)}});
        for level in 1..30 {
            let below = json!({"$ref": format!("#/components/schemas/L{}", level - 1)});
            components[format!("L{level}")] = json!({"properties": {"a": below, "b": below}});
        }
        let (input, _) = schemas(&json!({"$ref": "#/components/schemas/L29"}), &components);
        let length = input.to_string().len();
        assert!(length < MAX_IN_PLACE + MAX_DEFINITIONS, "{length}");
        let large = json!({"A": {"type": "string", "description": "x".repeat(400_000)}});
        let (input, _) = schemas(&json!({"$ref": "#/components/schemas/A"}), &large);
        assert_eq!(input["$defs"]["A"], json!({}));
    }

    #[test]
    fn foreign_references_accept_every_value() {
        for reference in [
            "https://example.com/pet.json",
            "#/components/schemas/None",
            "#/$defs/A",
            "#/components/schemas/A/properties/b",
        ] {
            let schema = json!({"type": "array", "items": {"$ref": reference}});
            let (input, _) = schemas(&schema, &json!({"A": {"type": "string"}}));
            assert_eq!(input["properties"]["body"]["items"], json!({}));
        }
    }

    #[test]
    fn properties_for_the_other_direction_are_left_out() {
        let pet = json!({
            "type": "object", "required": ["id", "name", "password"],
            "properties": {
                "id": {"type": "integer", "readOnly": true},
                "name": {"type": "string"},
                "password": {"$ref": "#/components/schemas/Password"},
            },
        });
        let (input, output) = schemas(
            &json!({"$ref": "#/components/schemas/Pet"}),
            &json!({"Pet": pet, "Password": {"type": "string", "writeOnly": true}}),
        );
        let names = |schema: &Value| {
            let names = schema["properties"].as_object().unwrap().keys();
            names.cloned().collect::<Vec<_>>()
        };
        let body = &input["properties"]["body"];
        assert_eq!(names(body), ["name", "password"]);
        assert_eq!(body["required"], json!(["name", "password"]));
        let pet = &output["anyOf"][0];
        assert_eq!(names(pet), ["id", "name"]);
        assert_eq!(pet["required"], json!(["id", "name"]));
    }

    #[test]
    fn types_are_found_in_alternatives_and_definitions() {
        let root = json!({"$defs": {"A": {"type": "object"}, "B": {"$ref": "#/$defs/B"}}});
        let root = root.as_object().unwrap();
        for (schema, is_object, is_array) in [
            (json!({}), false, false),
            (json!(true), false, false),
            (json!({"type": "string", "properties": {}}), false, false),
            (json!({"type": ["array", "null"]}), false, true),
            (json!({"additionalProperties": true}), true, false),
            (json!({"items": {}}), false, true),
            (
                json!({"anyOf": [{"type": "string"}, {"oneOf": [{"type": "array"}]}]}),
                false,
                true,
            ),
            (json!({"allOf": [{"$ref": "#/$defs/A"}]}), true, false),
            (json!({"$ref": "#/$defs/B"}), false, false),
        ] {
            assert_eq!(accepts(&schema, root, "object"), is_object, "{schema}");
            assert_eq!(accepts(&schema, root, "array"), is_array, "{schema}");
        }
    }
}
