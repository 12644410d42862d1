//! A schema with what applies together with it, its types and its keys.

use std::collections::HashSet;
use std::ptr;

use mcp_core::schema::{SchemaError, Steps};
use mcp_types::{JsonObject, is_tool_name};
use serde_json::Value;

use crate::names::portable;

/// Reads a schema of a server, within the limits of the validator.
pub(super) struct Reader<'a> {
    root: &'a Value,
    steps: Steps,
}

/// A schema with the targets of its references and the schemas in `allOf`. The first of two keywords is used.
#[derive(Debug, Clone, Default)]
pub(super) struct Merged<'a> {
    own: Vec<&'a JsonObject>,
    /// The schemas around an alternative, whose constraints also apply to it.
    around: Vec<&'a JsonObject>,
}

/// Keywords of a schema that its alternatives do not have.
const NOT_SHARED: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "nullable",
    "title",
    "description",
    "default",
    "examples",
];

impl<'a> Reader<'a> {
    /// A reader of the schema `root`, which is `schema` as a value, with at most `max` steps.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError::TooLarge`].
    pub(super) fn new(
        schema: &JsonObject,
        root: &'a Value,
        max: usize,
    ) -> Result<Self, SchemaError> {
        let steps = Steps::new(schema, max)?;
        Ok(Self { root, steps })
    }

    /// Returns the number of steps so far.
    pub(super) fn taken(&self) -> usize {
        self.steps.taken()
    }

    /// Returns a schema with what it refers to. `nested`: the schemas on the path to it.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the walk exceeds a limit.
    pub(super) fn merged(
        &mut self,
        schema: &'a Value,
        nested: usize,
    ) -> Result<Merged<'a>, SchemaError> {
        let mut merged = Merged::default();
        self.merge(schema, nested, &mut merged.own)?;
        Ok(merged)
    }

    /// Returns an alternative of a schema, with the constraints of that schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the walk exceeds a limit.
    pub(super) fn alternative(
        &mut self,
        schema: &'a Value,
        around: &Merged<'a>,
        nested: usize,
    ) -> Result<Merged<'a>, SchemaError> {
        let mut merged = self.merged(schema, nested)?;
        for part in around.parts() {
            let is_shared =
                |name: &String| !name.starts_with('$') && !NOT_SHARED.contains(&&**name);
            if part.keys().any(is_shared) {
                self.steps.visit(part, nested)?;
                merged.around.push(part);
            }
        }
        Ok(merged)
    }

    /// Counts a schema that is not read.
    pub(super) fn skip(&mut self, schema: &Value, nested: usize) -> Result<(), SchemaError> {
        let object = schema.as_object();
        object.map_or(Ok(()), |object| self.steps.visit(object, nested))
    }

    /// Returns the target of a schema's reference.
    pub(super) fn target(&self, schema: &JsonObject) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// Adds a schema, its reference's target and the schemas in `allOf`, each once.
    fn merge(
        &mut self,
        schema: &'a Value,
        nested: usize,
        into: &mut Vec<&'a JsonObject>,
    ) -> Result<(), SchemaError> {
        let mut known = HashSet::new();
        let mut waiting = vec![schema];
        while let Some(schema) = waiting.pop() {
            let Some(object) = schema.as_object() else {
                continue;
            };
            if !known.insert(ptr::from_ref(object)) {
                continue;
            }
            self.steps.visit(object, nested)?;
            into.push(object);
            let all_of = object.get("allOf").and_then(Value::as_array);
            waiting.extend(all_of.into_iter().flatten().rev());
            waiting.extend(self.target(object));
        }
        Ok(())
    }
}

impl<'a> Merged<'a> {
    /// The schemas themselves.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'a JsonObject> + '_ {
        self.own.iter().chain(&self.around).copied()
    }

    /// Returns the value of a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        let own = self.own.iter().find_map(|part| part.get(keyword));
        own.or_else(|| {
            let mut around = self.around.iter();
            around
                .find_map(|part| part.get(keyword))
                .filter(|_| !NOT_SHARED.contains(&keyword))
        })
    }

    /// Returns the keywords, each once.
    pub(super) fn keywords(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let own = self.own.iter().flat_map(|part| part.iter());
        let around = self.around.iter().flat_map(|part| part.iter());
        let around = around.filter(|(name, _)| !NOT_SHARED.contains(&name.as_str()));
        let mut known = HashSet::new();
        let all = own.chain(around).map(|(name, value)| (&**name, value));
        all.filter(move |(name, _)| known.insert(*name))
    }

    /// Returns the description. Empty: it has none.
    pub(super) fn description(&self) -> &'a str {
        let text = self.get("description").and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// Returns the alternatives.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = &'a Value> {
        let keywords = ["anyOf", "oneOf"].into_iter();
        let lists = keywords.filter_map(|keyword| self.get(keyword)?.as_array());
        lists.flatten()
    }

    /// Returns the named properties, each once.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let maps = self.parts().filter_map(|part| part.get("properties"));
        let mut known = HashSet::new();
        maps.filter_map(Value::as_object)
            .flatten()
            .filter(move |(name, _)| known.insert(name.as_str()))
    }

    /// Returns the names of required properties.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> {
        let lists = self.parts().filter_map(|part| part.get("required"));
        lists
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_str)
    }

    /// Returns the values of `enum` or `const`.
    pub(super) fn values(&self) -> Option<Vec<&'a Value>> {
        match (self.get("enum"), self.get("const")) {
            (Some(Value::Array(values)), _) if !values.is_empty() => Some(values.iter().collect()),
            (_, Some(value)) => Some(vec![value]),
            _ => None,
        }
    }

    /// Returns the types without `null`, and whether `null` is a value, without regard to alternatives. No types: any,
    /// unless only `null` is a value.
    pub(super) fn types(&self) -> (Vec<&'static str>, bool) {
        let is_nullable = self.get("nullable") == Some(&Value::Bool(true));
        let mut types = self.get("type").map(named_types).unwrap_or_default();
        let has = |keyword: &str| self.get(keyword).is_some();
        if types.is_empty() {
            types = if has("properties") || has("additionalProperties") {
                vec!["object"]
            } else if has("items") || has("prefixItems") {
                vec!["array"]
            } else {
                let values = self.values().into_iter().flatten();
                let mut types: Vec<_> = values.map(type_of).collect();
                types.sort_unstable();
                types.dedup();
                types
            };
        }
        let count = types.len();
        types.retain(|kind| *kind != "null");
        let is_nullable = is_nullable || types.len() < count;
        (types, is_nullable)
    }

    /// Returns whether any value is accepted.
    pub(super) fn is_any(&self) -> bool {
        let (types, is_nullable) = self.types();
        types.is_empty() && !is_nullable && self.alternatives().next().is_none()
    }
}

/// Returns the types that `type` names, each once. Empty: any.
fn named_types(value: &Value) -> Vec<&'static str> {
    let names = match value {
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let mut types = Vec::new();
    for name in names {
        let name = name.as_str().unwrap_or_default().to_ascii_lowercase();
        let kind = match &*name {
            "any" => return Vec::new(),
            "string" | "str" => "string",
            "integer" | "int" => "integer",
            "number" | "float" | "double" => "number",
            "boolean" | "bool" => "boolean",
            "array" | "list" => "array",
            "object" | "dict" => "object",
            "null" | "none" => "null",
            _ => continue,
        };
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    types
}

/// Returns the type of a value. An integer is a number as well.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the name of a property for a model: 64 characters of `A-Za-z0-9_.-` at most.
pub(super) fn key(own: &str) -> String {
    if own.len() <= 64 && is_tool_name(own) {
        own.to_owned()
    } else {
        portable(own, true)
    }
}
