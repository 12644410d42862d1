//! The schema for a profile.

use std::collections::HashSet;

use mcp_schema::{Id, Keywords as _, Limit, Node, Parts, Schema, SchemaError, Type, Walk, limits};
use mcp_types::{JsonObject, shorten};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::keyword::{Keyword, flag, keyword};
use crate::names::property_name;
use crate::provider::Profile;
use crate::rank::cut;

/// Subschemas of one tool. Further ones accept any value: references can multiply them.
const MAX_NODES: usize = 2000;
/// Maximum length of a keyword in a description, and of all keywords, in characters.
const MAX_NOTE: usize = 300;
const MAX_NOTES: usize = 2000;

/// Keywords that are not told: those that say nothing to a model, and those that have a function of their own.
const NOT_TOLD: [&str; 23] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "$ref",
    "definitions",
    "readOnly",
    "writeOnly",
    "deprecated",
    "nullable",
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
///
/// # Errors
///
/// Returns [`SchemaError`] when the schema exceeds a limit for reading or of the provider, or takes more than `steps`, which
/// are counted down.
pub(crate) fn rewrite(
    schema: &JsonObject,
    profile: &Profile,
    steps: &mut usize,
) -> Result<Value, SchemaError> {
    let schema = Schema::parse(schema)?;
    let mut rewriter = Rewriter {
        walk: Walk::of_schema(*steps),
        profile,
        nodes: 0,
        properties: 0,
        values: 0,
        chars: 0,
        open: Vec::new(),
    };
    let node = rewriter.root(schema.root());
    *steps = steps.saturating_sub(rewriter.walk.taken());
    node
}

struct Rewriter<'a> {
    walk: Walk,
    profile: &'a Profile,
    nodes: usize,
    /// Properties, values of enumerations, and characters of both, in the rewritten schema.
    properties: usize,
    values: usize,
    chars: usize,
    /// The schemas around the current one, with the targets of their references.
    open: Vec<Id>,
}

/// A place in a schema.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    /// Levels of objects and arrays.
    depth: usize,
    /// Schemas on the path, alternatives included.
    nested: usize,
}

/// The properties of an object, with those of its alternatives.
struct Fields<'a> {
    properties: Vec<(&'a str, Node<'a>)>,
    required: HashSet<&'a str>,
    note: Option<String>,
}

impl At {
    fn below(self) -> Self {
        Self {
            depth: self.depth + 1,
            nested: self.nested + 1,
        }
    }

    fn beside(self) -> Self {
        Self {
            nested: self.nested + 1,
            ..self
        }
    }
}

impl<'a> Rewriter<'a> {
    fn root(&mut self, root: Node<'a>) -> Result<Value, SchemaError> {
        let parts = Parts::of(root, &self.walk, 0)?;
        let fields = self.fields(&parts, 0)?;
        let node = self.object(&parts, fields, At::default())?;
        self.check_totals()?;
        Ok(Value::Object(node))
    }

    fn node(&mut self, schema: Node<'a>, at: At) -> Result<Value, SchemaError> {
        self.nested(schema, None, at)
    }

    /// Rewrites a schema that may be an alternative of another one.
    fn nested(
        &mut self,
        schema: Node<'a>,
        around: Option<&Parts<'a>>,
        at: At,
    ) -> Result<Value, SchemaError> {
        self.nodes += 1;
        let here = [Some(schema), schema.target()].into_iter().flatten();
        let here: Vec<Id> = here.map(Node::id).collect();
        let is_circle = here.iter().any(|here| self.open.contains(here));
        if self.nodes > MAX_NODES || is_circle || at.depth > self.profile.max_depth {
            self.walk.visit(schema, at.nested)?;
            return Ok(self.any(schema.text("description").unwrap_or_default()));
        }
        let parts = match around {
            None => Parts::of(schema, &self.walk, at.nested)?,
            Some(around) => around.alternative(schema, &self.walk, at.nested)?,
        };
        let count = self.open.len();
        self.open.extend(here);
        let node = self.merged_node(&parts, at);
        self.open.truncate(count);
        node
    }

    fn merged_node(&mut self, schema: &Parts<'a>, at: At) -> Result<Value, SchemaError> {
        let mut kinds = schema.kinds();
        let (nulls, alternatives): (Vec<_>, Vec<_>) =
            schema.alternatives().into_iter().partition(Node::is_null);
        let is_nullable = kinds.contains(&Type::Null)
            || !nulls.is_empty()
            || !alternatives.is_empty() && schema.flag("nullable");
        kinds.retain(|kind| *kind != Type::Null);
        let has_fields = kinds == [Type::Object] && !schema.properties().is_empty();
        let mut node = if alternatives.is_empty() {
            if kinds.is_empty() && is_nullable {
                return Ok(self.null(description(schema)));
            }
            self.typed(schema, &kinds, at)?
        } else if has_fields {
            self.whole_object(schema, at)?
        } else {
            // Adapters of iterators would take a multiple of the stack.
            let mut variants = Vec::new();
            for alternative in alternatives {
                variants.push(self.nested(alternative, Some(schema), at.beside())?);
            }
            self.union(variants, description(schema))
        };
        if is_nullable {
            self.make_nullable(&mut node);
        }
        Ok(node)
    }

    /// Returns a schema with alternatives.
    fn union(&self, variants: Vec<Value>, text: &str) -> Value {
        let is_described = !text.is_empty();
        let describe = |node: &mut Value| {
            if let (true, Some(node)) = (is_described, node.as_object_mut()) {
                node.entry("description").or_insert_with(|| text.into());
            }
        };
        let mut flat: Vec<Value> = Vec::new();
        let mut known = HashSet::new();
        for mut variant in variants {
            let is_sole = variant.as_object().is_some_and(|node| node.len() == 1);
            let union = variant.get_mut("anyOf").filter(|_| is_sole);
            let inner = match union.map(Value::take) {
                Some(Value::Array(inner)) => inner,
                _ => vec![variant],
            };
            for variant in inner {
                if known.insert(variant.to_string()) {
                    flat.push(variant);
                }
            }
        }
        let is_one = flat.len() == 1;
        if self.profile.has_sole_unions || is_one {
            // A long text at thousands of alternatives would multiply the schema.
            let count = 1 + limits::BYTES / (1 + text.len());
            flat.iter_mut().take(count).for_each(describe);
        }
        let mut node = if is_one {
            flat.remove(0)
        } else {
            json!({ "anyOf": flat })
        };
        if !self.profile.has_sole_unions {
            describe(&mut node);
        }
        node
    }

    /// Rewrites a schema without alternatives.
    fn typed(&mut self, schema: &Parts<'a>, kinds: &[Type], at: At) -> Result<Value, SchemaError> {
        Ok(match kinds {
            [] => self.any(description(schema)),
            [Type::Object] => self.whole_object(schema, at)?,
            [Type::Array] => self.array(schema, at)?,
            [kind] => {
                let mut node = Map::from_iter([("type".to_owned(), kind.as_str().into())]);
                let notes = self.values(schema, kinds, &mut node);
                self.finish(&mut node, schema, kinds, notes);
                Value::Object(node)
            }
            kinds if !self.profile.needs_types => {
                // The schema stays as it is, with its parts rewritten.
                let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
                let mut node = Map::from_iter([("type".to_owned(), json!(names))]);
                if kinds.contains(&Type::Object) {
                    let fields = self.fields(schema, at.nested)?;
                    node.extend(self.object(schema, fields, at)?);
                }
                if kinds.contains(&Type::Array)
                    && let Value::Object(mut array) = self.array(schema, at)?
                {
                    node.extend(array.remove_entry("items"));
                }
                node.insert("type".to_owned(), json!(names));
                let notes = self.values(schema, kinds, &mut node);
                self.finish(&mut node, schema, kinds, notes);
                Value::Object(node)
            }
            kinds => {
                let variants = kinds
                    .iter()
                    .map(|kind| self.typed(schema, &[*kind], at.beside()));
                let variants = variants.collect::<Result<_, _>>()?;
                self.union(variants, "")
            }
        })
    }

    /// Rewrites an object, which is sent as text where the provider cannot describe it.
    fn whole_object(&mut self, schema: &Parts<'a>, at: At) -> Result<Value, SchemaError> {
        let fields = self.fields(schema, at.nested)?;
        let has_properties = fields.has_properties();
        if self.profile.is_strict && is_open(schema, has_properties)
            || self.profile.needs_properties && !has_properties
        {
            return Ok(json_text(
                description(schema),
                "A JSON object, as a string.",
            ));
        }
        self.object(schema, fields, at).map(Value::Object)
    }

    /// Returns the properties of an object and of its alternatives. Properties that all alternatives require are required.
    fn fields(&self, schema: &Parts<'a>, nested: usize) -> Result<Fields<'a>, SchemaError> {
        let mut fields = Fields {
            properties: schema.properties(),
            required: schema.required().into_iter().collect(),
            note: None,
        };
        let mut alternatives = schema.alternatives();
        alternatives.retain(|one| !one.is_null());
        if alternatives.is_empty() {
            return Ok(fields);
        }
        let mut known: HashSet<_> = fields.properties.iter().map(|(name, _)| *name).collect();
        let mut sets = Vec::new();
        for alternative in alternatives {
            let alternative = Parts::of(alternative, &self.walk, nested)?;
            let new = alternative.properties().into_iter();
            fields
                .properties
                .extend(new.filter(|(name, _)| known.insert(name)));
            sets.push(alternative.required());
        }
        let mut shared: HashSet<&str> = sets.first().into_iter().flatten().copied().collect();
        for set in &sets {
            let set: HashSet<_> = set.iter().copied().collect();
            shared.retain(|name| set.contains(name));
        }
        fields.required.extend(shared);
        sets.retain(|set| !set.is_empty());
        if !sets.is_empty() {
            let names =
                |set: &Vec<&'a str>| -> Vec<_> { set.iter().map(|name| start(name)).collect() };
            let sets: Vec<_> = sets.iter().map(names).collect();
            fields.note = Some(note("one of these sets is required", &sets));
        }
        Ok(fields)
    }

    fn object(
        &mut self,
        schema: &Parts<'a>,
        fields: Fields<'a>,
        at: At,
    ) -> Result<Map<String, Value>, SchemaError> {
        let mut known = Map::new();
        let mut required = Vec::new();
        for (own, property) in fields.properties {
            if property.is_false() {
                continue;
            }
            let name = property_name(own);
            let is_required = fields.required.contains(own);
            let mut node = self.node(property, at.below())?;
            if self.profile.is_strict && !is_required {
                self.make_nullable(&mut node);
            }
            self.properties += 1;
            self.chars += name.len();
            if known.insert(name.clone(), node).is_none() && (self.profile.is_strict || is_required)
            {
                required.push(name);
            }
        }
        let mut node = Map::new();
        node.insert("type".to_owned(), json!("object"));
        node.insert("properties".to_owned(), Value::Object(known));
        if !required.is_empty() {
            node.insert("required".to_owned(), json!(required));
        }
        let mut notes = Vec::from_iter(fields.note);
        let further = schema.get("additionalProperties");
        if self.profile.is_strict {
            node.insert("additionalProperties".to_owned(), json!(false));
        } else if let Some(further) = further {
            if self.profile.keywords.is_some() {
                notes.extend(
                    further
                        .is_object()
                        .then(|| note("further properties", &Shown(further))),
                );
            } else if further.is_object()
                && let Some(further) = schema.subschema("additionalProperties")
            {
                let further = self.node(further, at.below())?;
                node.insert("additionalProperties".to_owned(), further);
            } else if let Some(flag) = flag(further) {
                node.insert("additionalProperties".to_owned(), flag);
            }
        }
        notes.extend(constants(schema));
        self.finish(&mut node, schema, &[Type::Object], notes);
        Ok(node)
    }

    fn array(&mut self, schema: &Parts<'a>, at: At) -> Result<Value, SchemaError> {
        let mut notes = Vec::new();
        let places = ["prefixItems", "items"].map(|keyword| schema.get(keyword));
        let places = places
            .into_iter()
            .flatten()
            .find(|places| places.is_array());
        notes.extend(places.map(|places| note("items by place", &Shown(places))));
        let items = schema.subschema("items").filter(|_| places.is_none());
        let items = match items.filter(|items| items.object().is_some()) {
            Some(items) => self.node(items, at.below())?,
            None => self.any(""),
        };
        let mut node = Map::new();
        node.insert("type".to_owned(), json!("array"));
        node.insert("items".to_owned(), items);
        notes.extend(constants(schema));
        self.finish(&mut node, schema, &[Type::Array], notes);
        Ok(Value::Object(node))
    }

    /// Adds the values of `enum` or `const`. Returns notes about values that the provider does not accept.
    fn values(
        &mut self,
        schema: &Parts<'a>,
        kinds: &[Type],
        node: &mut Map<String, Value>,
    ) -> Vec<String> {
        let Some(all) = schema.listed() else {
            return Vec::new();
        };
        let has_type = |value: &Value| kinds.iter().any(|kind| kind.accepts(value));
        let mut known = HashSet::new();
        let mut values: Vec<_> = all.iter().collect();
        values.retain(|value| has_type(value) && known.insert(value.to_string()));
        if self.profile.has_string_enums_only {
            values.retain(|value| value.as_str().is_some_and(|text| !text.is_empty()));
        }
        let chars: usize = values
            .iter()
            .filter_map(|value| value.as_str())
            .map(str::len)
            .sum();
        if values.is_empty() || !self.accepts_values(values.len(), chars) {
            return vec![one_of(all)];
        }
        self.values += values.len();
        self.chars += chars;
        node.insert("enum".to_owned(), json!(values));
        Vec::new()
    }

    /// Returns whether the provider accepts an enumeration in addition to the others.
    fn accepts_values(&self, count: usize, chars: usize) -> bool {
        let limits = self.profile.limits.as_ref();
        limits.is_none_or(|limits| {
            let (many, long) = limits.long_values;
            self.values + count <= limits.values
                && (count <= many || chars <= long)
                && self.chars + chars <= limits.chars
        })
    }

    /// Checks the limits of the provider for the whole schema.
    fn check_totals(&self) -> Result<(), SchemaError> {
        let Some(limits) = &self.profile.limits else {
            return Ok(());
        };
        if self.properties > limits.properties {
            return Err(Limit::Nodes(limits.properties).at(String::new()));
        }
        if self.chars > limits.chars {
            return Err(Limit::Bytes(limits.chars).at(String::new()));
        }
        Ok(())
    }

    /// Adds the description and the other keywords of a schema.
    fn finish(
        &self,
        node: &mut Map<String, Value>,
        schema: &Parts<'a>,
        kinds: &[Type],
        mut notes: Vec<String>,
    ) {
        for (name, value) in schema.keywords() {
            let name = in_draft_2020(schema, name).filter(|name| !NOT_TOLD.contains(name));
            let Some(name) = name else { continue };
            match keyword(name, value, kinds, self.profile) {
                Keyword::Valid(value) => {
                    node.insert(name.to_owned(), value);
                }
                Keyword::Told => notes.push(note(name, &Shown(value))),
                Keyword::Void => {}
            }
        }
        let text = description(schema);
        let notes = notes.join("; ");
        let notes = shorten(&notes, MAX_NOTES);
        let text = match (text.is_empty(), notes.is_empty()) {
            (_, true) => text.to_owned(),
            (true, false) => format!("({notes})"),
            (false, false) => format!("{text} ({notes})"),
        };
        if !text.is_empty() {
            node.insert("description".to_owned(), text.into());
        }
    }

    /// Returns a schema for any value, or for its JSON where a schema needs a type.
    fn any(&self, text: &str) -> Value {
        if self.profile.needs_types {
            return json_text(text, "Any JSON value, as a string.");
        }
        let text = (!text.is_empty()).then(|| ("description".to_owned(), text.into()));
        Value::Object(Map::from_iter(text))
    }

    /// Returns a schema for `null` alone.
    fn null(&self, text: &str) -> Value {
        let mut node = if self.profile.has_nullable {
            json!({"type": "string", "nullable": true})
        } else {
            json!({"type": "null"})
        };
        if !text.is_empty() {
            node["description"] = text.into();
        }
        node
    }

    /// Lets a schema accept `null`.
    fn make_nullable(&self, node: &mut Value) {
        let Some(node) = node.as_object_mut() else {
            return;
        };
        if self.profile.has_nullable {
            match node.get_mut("anyOf") {
                Some(Value::Array(variants)) if self.profile.has_sole_unions => {
                    let variants = variants.iter_mut();
                    variants.for_each(|variant| self.make_nullable(variant));
                }
                _ => {
                    node.insert("nullable".to_owned(), json!(true));
                }
            }
            return;
        }
        let name = json!("null");
        if let Some(Value::Array(variants)) = node.get_mut("anyOf") {
            let variant = json!({ "type": "null" });
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        match node.get_mut("type") {
            Some(Value::Array(kinds)) if !kinds.contains(&name) => kinds.push(name),
            Some(kind @ Value::String(_)) if *kind != name => {
                *kind = Value::Array(vec![kind.take(), name]);
            }
            _ => {}
        }
        if let Some(Value::Array(values)) = node.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

impl Fields<'_> {
    fn has_properties(&self) -> bool {
        self.properties
            .iter()
            .any(|(_, property)| !property.is_false())
    }
}

/// Returns a note about the values of an object or an array.
fn constants(schema: &Parts<'_>) -> Option<String> {
    schema.listed().map(one_of)
}

fn one_of(values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().map(Shown).collect();
    note("one of", &shown)
}

/// Returns the name of a bound in the current draft: draft 4 has `exclusiveMinimum` as a flag of `minimum`. `None`: the keyword
/// says nothing of its own.
fn in_draft_2020<'n>(schema: &Parts<'_>, name: &'n str) -> Option<&'n str> {
    let (flag_name, is_flag) = match name {
        "minimum" | "exclusiveMinimum" => ("exclusiveMinimum", name == "exclusiveMinimum"),
        "maximum" | "exclusiveMaximum" => ("exclusiveMaximum", name == "exclusiveMaximum"),
        _ => return Some(name),
    };
    match schema.get(flag_name).and_then(flag) {
        None => Some(name),
        Some(_) if is_flag => None,
        Some(Value::Bool(true)) => Some(flag_name),
        Some(_) => Some(name),
    }
}

/// Returns the description. Empty: it has none.
fn description<'a>(schema: &Parts<'a>) -> &'a str {
    schema.text("description").unwrap_or_default()
}

/// Returns whether an object may have properties that its schema does not name.
fn is_open(schema: &Parts<'_>, has_properties: bool) -> bool {
    let further = schema.get("additionalProperties");
    match further {
        Some(Value::Object(further)) => !further.is_empty() || !has_properties,
        further => {
            let is_closed = further.and_then(flag) == Some(json!(false));
            !is_closed && !has_properties
        }
    }
}

/// Returns the schema of a string that contains a value as JSON.
fn json_text(text: &str, kind: &str) -> Value {
    let text = format!("{text} {kind}");
    json!({ "type": "string", "description": text.trim() })
}

/// Returns a keyword with the start of its value as JSON, or of its text. A note costs what it shows: references can name a long
/// value at each of ten thousand places.
fn note(name: &str, value: &impl Serialize) -> String {
    /// Maximum length of a keyword, in characters.
    const MAX_NAME: usize = 64;

    // More than `MAX_NOTE` characters have.
    let mut room = [0; 4 * MAX_NOTE + 8];
    let mut free = &mut room[..];
    // An error: the rest is not shown.
    let is_whole = serde_json::to_writer(&mut free, value).is_ok();
    let written = 4 * MAX_NOTE + 8 - free.len();
    let start = String::from_utf8_lossy(&room[..written]);
    let text = is_whole.then(|| serde_json::from_str::<String>(&start).ok());
    let value = match text.flatten() {
        Some(text) => text,
        None if is_whole => start.into_owned(),
        None => start.trim_start_matches('"').to_owned(),
    };
    format!("{}: {}", shorten(name, MAX_NAME), shorten(&value, MAX_NOTE))
}

/// A value with the starts of its texts: a text is read as a whole when it is written.
struct Shown<'a>(&'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => serializer.serialize_str(start(text)),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Shown)),
            Value::Object(members) => {
                let members = members.iter();
                serializer.collect_map(members.map(|(name, value)| (start(name), Shown(value))))
            }
            value => value.serialize(serializer),
        }
    }
}

fn start(text: &str) -> &str {
    cut(text, MAX_NOTE + 1)
}
