//! Tool schemas: those of a document, with the components that they refer to in place.

use std::collections::{BTreeSet, HashSet};

use mcp_schema::{Keywords as _, Node, Schema, Type, Walk, limits, subschemas_mut};
use mcp_types::JsonObject;
use serde_json::{Value, json};

use super::document::Document;
use super::reference::{escape, name_of};

/// Most levels of JSON in a schema. Parsers read 128, and a list of tools has some around its schemas: a deeper one would take
/// the other tools with it.
pub(super) const MAX_LEVELS: usize = 100;

/// The properties of the tool arguments.
pub(super) struct Properties<'a> {
    components: Components<'a>,
    properties: JsonObject,
    required: Vec<String>,
}

impl<'a> Properties<'a> {
    pub(super) fn new(document: &'a Document, place: &'a str) -> Self {
        Self {
            components: Components::new(document, place, "readOnly"),
            properties: JsonObject::new(),
            required: Vec::new(),
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.properties.contains_key(name)
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        schema: Option<&Value>,
        description: Option<&str>,
        is_required: bool,
    ) {
        let schema = schema.map(|schema| self.components.usable(name, schema));
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
    pub(super) fn into_schema(self) -> JsonObject {
        let mut schema = JsonObject::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), self.properties.into()),
            ("required".to_owned(), self.required.into()),
        ]);
        self.components.add_definitions(&mut schema);
        schema
    }
}

/// Returns the schema of a tool's structured content. Its service answers with `schema`. Results that do not
/// match `schema` match the second alternative, so that no result breaks the schema.
pub(super) fn of_output(document: &Document, place: &str, schema: &Value) -> Option<JsonObject> {
    let mut components = Components::new(document, place, "writeOnly");
    let schema = components.usable("response", schema);
    if schema.as_object().is_none_or(JsonObject::is_empty) {
        return None;
    }
    let other = json!({
        "type": "object", "description": "A response that the service does not describe.",
    });
    let mut output = JsonObject::from_iter([("type".to_owned(), "object".into())]);
    components.add_definitions(&mut output);
    output.insert("anyOf".into(), vec![schema, other].into());
    let read = Schema::parse(&output).ok()?;
    let is_object = accepts(
        *read.root().list("anyOf").first()?,
        Type::Object,
        &Walk::of_schema(usize::MAX),
    );
    let first = output.get_mut("anyOf").and_then(|all| all.get_mut(0));
    // Structured content is an object.
    if let Some(schema) = first.filter(|_| !is_object) {
        let result = schema.take();
        *schema =
            json!({"type": "object", "properties": {"result": result}, "required": ["result"]});
        Schema::parse(&output).ok()?;
    }
    (levels_of(&output) <= MAX_LEVELS).then_some(output)
}

/// Returns the levels of objects and lists in a schema.
pub(super) fn levels_of(schema: &JsonObject) -> usize {
    fn levels(value: &Value) -> usize {
        match value {
            Value::Object(members) => levels_of(members),
            Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
            _ => 0,
        }
    }
    1 + schema.values().map(levels).max().unwrap_or(0)
}

/// Returns whether a schema says that values can have a type: object or array. Without steps it does not.
pub(super) fn accepts(schema: Node<'_>, kind: Type, walk: &Walk) -> bool {
    accepts_at(schema, kind, walk, 0)
}

fn accepts_at(schema: Node<'_>, kind: Type, walk: &Walk, hops: usize) -> bool {
    if !walk.step(hops) || !walk.spend(schema.weight()) {
        return false;
    }
    let kinds = schema.kinds();
    if !kinds.is_empty() {
        return kinds.contains(&kind);
    }
    let parts = walk.target(schema).into_iter().chain(schema.list("allOf"));
    let mut parts = parts.chain(schema.alternatives());
    parts.any(|part| accepts_at(part, kind, walk, hops + 1))
}

/// Components that replace references to them.
struct Components<'a> {
    document: &'a Document,
    /// The operation.
    place: &'a str,
    /// The keyword of properties that values in this direction do not have.
    excluded: &'static str,
    /// Bytes that remain for components in the place of references.
    in_place: usize,
    /// The components that references in `$defs` name.
    pending: BTreeSet<String>,
}

impl<'a> Components<'a> {
    fn new(document: &'a Document, place: &'a str, excluded: &'static str) -> Self {
        Self {
            document,
            place,
            excluded,
            in_place: limits::IN_PLACE,
            pending: BTreeSet::new(),
        }
    }

    /// Returns the usable part of a schema with the components in it. The log calls it `name`.
    fn usable(&mut self, name: &str, schema: &Value) -> Value {
        let place = format_args!("{} {name}", self.place);
        let mut schema = self.document.left_out.usable(place, schema);
        self.place(&mut schema, &mut Vec::new(), 0);
        schema
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
        subschemas_mut(members).for_each(|inner| self.place(inner, path, depth + 1));
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        let Some(properties) = properties else {
            return;
        };
        let mut removed = HashSet::new();
        properties.retain(|name, property| {
            let is_excluded = property.get(self.excluded) == Some(&Value::Bool(true));
            if is_excluded {
                removed.insert(name.clone());
            }
            !is_excluded
        });
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| !name.as_str().is_some_and(|name| removed.contains(name)));
        }
    }

    /// Returns the schema in the place of a reference. Schemas of other documents are not fetched: they accept every
    /// value.
    fn target(&mut self, reference: &str, path: &mut Vec<String>, depth: usize) -> Value {
        let name = name_of(reference, "#/components/schemas/");
        let component = name.and_then(|name| Some((self.document.schema(&name)?, name)));
        let Some((component, name)) = component else {
            return json!({});
        };
        if !path.contains(&name) && depth < limits::IN_PLACE_DEPTH && self.in_place > 0 {
            let rest = self.in_place.checked_sub(component.to_string().len());
            self.in_place = rest.unwrap_or(0);
            if rest.is_some() {
                let mut component = component.clone();
                path.push(name);
                self.place(&mut component, path, depth + 1);
                path.pop();
                return component;
            }
        }
        let pointer = name.replace('~', "~0").replace('/', "~1");
        let reference = json!({"$ref": format!("#/$defs/{}", escape(&pointer))});
        self.pending.insert(name);
        reference
    }

    /// Adds the components that references still name, as `$defs`.
    fn add_definitions(mut self, schema: &mut JsonObject) {
        let mut definitions = JsonObject::new();
        let mut rest = limits::DEFINITIONS;
        while let Some(name) = self.pending.pop_first() {
            if definitions.contains_key(&name) {
                continue;
            }
            let mut component = json!({});
            if let Some(known) = self.document.schema(&name).filter(|_| rest > 0) {
                component = known.clone();
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
    use mcp_schema::Keywords as _;
    use serde_json::{Value, json};

    use super::super::document::parse;
    use super::{Properties, Schema, Type, Walk, accepts, limits, of_output};

    /// Returns the input and the output schema of a value with the schema `schema`.
    fn schemas(schema: &Value, components: &Value) -> (Value, Value) {
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {},
            "components": {"schemas": components},
        });
        let document = parse(&document.to_string(), 1 << 20).unwrap();
        let mut properties = Properties::new(&document, "get");
        properties.add("body", Some(schema), None, false);
        let output = of_output(&document, "get", schema).unwrap_or_default();
        (properties.into_schema().into(), output.into())
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
        assert!(length < limits::IN_PLACE + limits::DEFINITIONS, "{length}");
        let large = |length| json!({"A": {"type": "string", "description": "x".repeat(length)}});
        let a = json!({"$ref": "#/components/schemas/A"});
        let (input, _) = schemas(&a, &large(limits::DEFINITIONS));
        assert_eq!(input["$defs"]["A"], json!({}));
        let (input, _) = schemas(&a, &large(400_000));
        assert_eq!(input["properties"]["body"], json!({}));
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
            let mut root = root.clone();
            root.insert("items".to_owned(), schema.clone());
            let root = Schema::parse(&root).unwrap();
            let node = root.root().subschema("items").unwrap();
            let accepts = |kind| accepts(node, kind, &Walk::of_schema(usize::MAX));
            assert_eq!(accepts(Type::Object), is_object, "{schema}");
            assert_eq!(accepts(Type::Array), is_array, "{schema}");
        }
    }
}
