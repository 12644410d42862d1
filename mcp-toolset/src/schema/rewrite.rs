//! The schema for a profile.

use mcp_types::{JsonObject, shorten};
use serde_json::{Map, Value, json};

use super::read::{all_of, alternatives, key, properties, required, resolve, types, values};
use crate::provider::Profile;

/// Subschemas of one tool. Further ones accept any value: references can multiply them.
const MAX_NODES: usize = 2000;
/// Maximum length of a keyword value in a description, in characters.
const MAX_NOTE: usize = 300;

/// Keywords that say nothing to a model.
const DROPPED: [&str; 12] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "$ref",
    "definitions",
    "title",
    "readOnly",
    "writeOnly",
    "deprecated",
    "nullable",
];
/// Keywords that have a function of their own.
const HANDLED: [&str; 12] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "additionalProperties",
];

/// Returns the schema of tool arguments for a provider. Its root is an object without alternatives.
pub(crate) fn rewrite(schema: &JsonObject, profile: &Profile) -> Value {
    let root = Value::Object(schema.clone());
    let mut rewriter = Rewriter {
        root: &root,
        profile,
        nodes: 0,
        parents: Vec::new(),
    };
    let merged = with_alternatives(merged(&root, &root), &root);
    Value::Object(rewriter.object(&merged, 0))
}

struct Rewriter<'a> {
    root: &'a Value,
    profile: &'a Profile,
    nodes: usize,
    /// The references around the current schema.
    parents: Vec<String>,
}

impl Rewriter<'_> {
    fn node(&mut self, schema: &Value, depth: usize) -> Value {
        self.nodes += 1;
        let reference = schema.get("$ref").and_then(Value::as_str);
        let is_circle =
            reference.is_some_and(|target| self.parents.iter().any(|parent| parent == target));
        if self.nodes > MAX_NODES || is_circle || depth > self.profile.max_depth {
            return self.any(schema);
        }
        let count = self.parents.len();
        self.parents.extend(reference.map(str::to_owned));
        let merged = merged(self.root, schema);
        let node = self.merged_node(&merged, depth);
        self.parents.truncate(count);
        node
    }

    fn merged_node(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let is_null = |value: &Value| value.get("type") == Some(&json!("null"));
        let mut is_nullable = alternatives(schema).any(is_null);
        let mut variants: Vec<Value> = alternatives(schema)
            .filter(|variant| !is_null(variant))
            .map(|variant| self.node(variant, depth))
            .collect();
        variants.dedup();
        let kinds: Vec<&str> = types(schema);
        is_nullable |= kinds.contains(&"null");
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "null").collect();
        let mut node = match variants.len() {
            0 => self.typed(schema, &kinds, depth),
            1 => variants.remove(0),
            _ => json!({ "anyOf": variants }),
        };
        let text = description(schema);
        if alternatives(schema).next().is_some()
            && !text.is_empty()
            && let Some(node) = node.as_object_mut()
        {
            node.entry("description").or_insert_with(|| text.into());
        }
        if is_nullable {
            self.make_nullable(&mut node);
        }
        node
    }

    /// Rewrites a schema without alternatives.
    fn typed(&mut self, schema: &Map<String, Value>, kinds: &[&str], depth: usize) -> Value {
        match kinds {
            [] => self.any(&Value::Object(schema.clone())),
            ["object"]
                if self.profile.is_strict && is_open(schema)
                    || self.profile.needs_properties && !has_properties(schema) =>
            {
                json_text(schema, "A JSON object, as a string.")
            }
            ["object"] => Value::Object(self.object(schema, depth)),
            ["array"] => self.array(schema, depth),
            [kind] => {
                let mut node = Map::from_iter([("type".to_owned(), json!(kind))]);
                let notes = self.values(schema, kind, &mut node);
                self.finish(&mut node, schema, notes);
                Value::Object(node)
            }
            kinds if self.profile.has_type_lists && !self.profile.needs_types => {
                // The schema stays as it is, with its parts rewritten.
                let mut node = Map::from_iter([("type".to_owned(), json!(kinds))]);
                if kinds.contains(&"object") {
                    node.extend(self.object(schema, depth));
                }
                if let (true, Value::Object(array)) =
                    (kinds.contains(&"array"), self.array(schema, depth))
                {
                    node.extend(array.into_iter().filter(|(name, _)| name == "items"));
                }
                node.insert("type".to_owned(), json!(kinds));
                let notes = self.values(schema, "", &mut node);
                self.finish(&mut node, schema, notes);
                Value::Object(node)
            }
            kinds => {
                let kinds = kinds.iter();
                let variants: Vec<_> = kinds
                    .map(|kind| self.typed(schema, &[*kind], depth))
                    .collect();
                json!({ "anyOf": variants })
            }
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let required: Vec<&str> = required(schema).collect();
        let mut known = Map::new();
        for (own, property) in properties(schema) {
            if *property == Value::Bool(false) {
                continue;
            }
            let mut node = self.node(property, depth + 1);
            if self.profile.is_strict && !required.contains(&&**own) {
                self.make_nullable(&mut node);
            }
            known.insert(key(own), node);
        }
        let required: Vec<String> = if self.profile.is_strict {
            known.keys().cloned().collect()
        } else {
            let names = required.iter().map(|own| key(own));
            names.filter(|name| known.contains_key(name)).collect()
        };
        let mut node = Map::new();
        node.insert("type".to_owned(), json!("object"));
        node.insert("properties".to_owned(), Value::Object(known));
        if !required.is_empty() {
            node.insert("required".to_owned(), json!(required));
        }
        let mut notes = Vec::new();
        match schema.get("additionalProperties") {
            _ if self.profile.is_strict => {
                node.insert("additionalProperties".to_owned(), json!(false));
            }
            Some(further) if self.profile.keywords.contains(&"additionalProperties") => {
                let further = match further {
                    Value::Object(_) => self.node(further, depth + 1),
                    further => further.clone(),
                };
                node.insert("additionalProperties".to_owned(), further);
            }
            Some(further @ Value::Object(_)) => notes.push(note("further properties", further)),
            _ => {}
        }
        self.finish(&mut node, schema, notes);
        node
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut notes = Vec::new();
        let items = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(places @ Value::Array(_)), _) | (None, Some(places @ Value::Array(_))) => {
                notes.push(note("items by place", places));
                self.any(&Value::Null)
            }
            (_, Some(items @ Value::Object(_))) => self.node(items, depth + 1),
            _ => self.any(&Value::Null),
        };
        let mut node = Map::new();
        node.insert("type".to_owned(), json!("array"));
        node.insert("items".to_owned(), items);
        self.finish(&mut node, schema, notes);
        Value::Object(node)
    }

    /// Adds the values of `enum` or `const`. Returns notes about values that the provider does not accept.
    fn values(
        &self,
        schema: &Map<String, Value>,
        kind: &str,
        node: &mut Map<String, Value>,
    ) -> Vec<String> {
        let Some(values) = values(schema) else {
            return Vec::new();
        };
        let are_accepted = !self.profile.has_string_enums_only
            || kind == "string" && values.iter().all(|value| value.is_string());
        if !are_accepted {
            return vec![note("one of", &json!(values))];
        }
        let fits = |value: &&&Value| kind.is_empty() || !value.is_null();
        let values: Vec<_> = values.iter().filter(fits).collect();
        node.insert("enum".to_owned(), json!(values));
        Vec::new()
    }

    /// Adds the description and the other keywords of a schema.
    fn finish(
        &self,
        node: &mut Map<String, Value>,
        schema: &Map<String, Value>,
        mut notes: Vec<String>,
    ) {
        for (name, value) in schema {
            let is_known = HANDLED.contains(&&**name);
            let format = || self.profile.formats.zip(value.as_str());
            let is_other_format =
                name == "format" && format().is_some_and(|(all, format)| !all.contains(&format));
            if is_known {
                continue;
            }
            if self.profile.keywords.contains(&&**name) && !is_other_format {
                node.insert(name.clone(), value.clone());
            } else if !DROPPED.contains(&&**name) {
                notes.push(note(name, value));
            }
        }
        let text = description(schema).to_owned();
        let notes = notes.join("; ");
        let text = match (text.is_empty(), notes.is_empty()) {
            (_, true) => text,
            (true, false) => format!("({notes})"),
            (false, false) => format!("{text} ({notes})"),
        };
        if !text.is_empty() {
            node.insert("description".to_owned(), text.into());
        }
    }

    /// Returns a schema for any value, or for its JSON where a schema needs a type.
    fn any(&self, schema: &Value) -> Value {
        let empty = Map::new();
        let schema = schema.as_object().unwrap_or(&empty);
        if self.profile.needs_types {
            return json_text(schema, "Any JSON value, as a string.");
        }
        let mut node = Map::new();
        if let Some(text) = schema.get("description") {
            node.insert("description".to_owned(), text.clone());
        }
        Value::Object(node)
    }

    /// Lets a schema accept `null`.
    fn make_nullable(&self, node: &mut Value) {
        let Some(node) = node.as_object_mut() else {
            return;
        };
        if self.profile.has_nullable {
            node.insert("nullable".to_owned(), json!(true));
            return;
        }
        let null = json!("null");
        if let Some(Value::Array(variants)) = node.get_mut("anyOf") {
            let null = json!({ "type": null });
            if !variants.contains(&null) {
                variants.push(null);
            }
        }
        match node.get_mut("type") {
            Some(Value::Array(kinds)) if !kinds.contains(&null) => kinds.push(null),
            Some(kind @ Value::String(_)) if *kind != null => *kind = json!([kind, null]),
            _ => {}
        }
        if let Some(Value::Array(values)) = node.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

/// Returns a schema with what its reference and its `allOf` require.
fn merged(root: &Value, schema: &Value) -> Map<String, Value> {
    let mut merged = Map::new();
    merge(root, &mut merged, schema, 0);
    merged
}

/// Adds a schema, its reference's target and its `allOf` to another one. The first of two keywords stays.
fn merge(root: &Value, into: &mut Map<String, Value>, schema: &Value, depth: usize) {
    /// Levels of `allOf`.
    const MAX_LEVELS: usize = 8;

    let Some(object) = schema.as_object() else {
        return;
    };
    for (name, value) in object {
        match (into.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(new)) if name == "properties" => {
                for (name, property) in new {
                    known.entry(name).or_insert_with(|| property.clone());
                }
            }
            (Some(Value::Array(known)), Value::Array(new)) if name == "required" => {
                known.extend(new.iter().cloned());
            }
            (Some(_), _) => {}
            (None, value) => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
    if depth < MAX_LEVELS {
        if object.contains_key("$ref")
            && let Some(target) = resolve(root, schema)
        {
            merge(root, into, target, depth + 1);
        }
        for part in all_of(object) {
            merge(root, into, part, depth + 1);
        }
    }
}

/// Returns a root with the properties of its alternatives. Properties that all alternatives require are required.
fn with_alternatives(mut schema: Map<String, Value>, root: &Value) -> Map<String, Value> {
    let variants = alternatives(&schema).map(|variant| merged(root, variant));
    let variants: Vec<_> = variants.collect();
    if variants.is_empty() {
        return schema;
    }
    let mut sets = Vec::new();
    for variant in &variants {
        let known = schema.entry("properties").or_insert_with(|| json!({}));
        if let Some(known) = known.as_object_mut() {
            for (name, property) in properties(variant) {
                known.entry(name).or_insert_with(|| property.clone());
            }
        }
        sets.push(required(variant).collect::<Vec<_>>());
    }
    let mut all: Vec<String> = required(&schema).map(str::to_owned).collect();
    let shared = sets.first().into_iter().flatten();
    let shared = shared.filter(|name| sets.iter().all(|set| set.contains(*name)));
    all.extend(shared.map(|name| (*name).to_owned()));
    let sets: Vec<_> = sets.iter().filter(|set| !set.is_empty()).collect();
    if !sets.is_empty() {
        let text = description(&schema);
        let text = format!("{text} (one of these sets is required: {})", json!(sets));
        schema.insert("description".to_owned(), text.trim().into());
    }
    schema.insert("required".to_owned(), json!(all));
    schema.remove("anyOf");
    schema.remove("oneOf");
    schema
}

fn description(schema: &Map<String, Value>) -> &str {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default()
}

fn has_properties(schema: &Map<String, Value>) -> bool {
    properties(schema).next().is_some()
}

/// Returns whether an object may have properties that its schema does not name.
fn is_open(schema: &Map<String, Value>) -> bool {
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => false,
        Some(Value::Object(further)) => !further.is_empty() || !has_properties(schema),
        _ => !has_properties(schema),
    }
}

/// Returns the schema of a string that contains a value as JSON.
fn json_text(schema: &Map<String, Value>, kind: &str) -> Value {
    let text = format!("{} {kind}", description(schema));
    json!({ "type": "string", "description": text.trim() })
}

fn note(name: &str, value: &Value) -> String {
    let value = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    format!("{name}: {}", shorten(&value, MAX_NOTE))
}
