//! From a schema to its constraints.

use mcp_types::JsonObject;
use serde_json::Value;

use super::limits::{Count, Numbers, Pattern};
use super::range::{Limit, Range};
use super::{Alternative, Constraints, Node};
use crate::names::Names;

/// Schemas may lie so deep in each other; what lies deeper is not checked.
const MAX_DEPTH: usize = 64;
/// So many schemas are looked at; those beyond are not checked.
const MAX_NODES: usize = 4096;

pub(super) fn compile(schema: &JsonObject) -> Option<Constraints> {
    let root = Value::Object(schema.clone());
    let mut compiler = Compiler {
        root: &root,
        nodes: Vec::new(),
        references: Names::default(),
        unread: Vec::new(),
    };
    compiler.node(&root, "", 0);
    let (nodes, unread) = (compiler.nodes, compiler.unread);
    let says_something = nodes.iter().any(Node::says_something) || !unread.is_empty();
    says_something.then_some(Constraints { nodes, unread })
}

struct Compiler<'a> {
    root: &'a Value,
    nodes: Vec<Node>,
    references: Names,
    unread: Vec<String>,
}

impl<'a> Compiler<'a> {
    /// Adds the node of a schema; `None` for one that is not checked.
    fn node(&mut self, schema: &'a Value, place: &str, depth: usize) -> Option<usize> {
        let schema = schema.as_object()?;
        let index = self.nodes.len();
        if depth > MAX_DEPTH || index >= MAX_NODES {
            return None;
        }
        self.nodes.push(Node::default());
        let mut node = Node {
            numbers: numbers(schema),
            length: count(schema, "minLength", "maxLength"),
            pattern: self.pattern(schema, place),
            elements: count(schema, "minItems", "maxItems"),
            unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            members: count(schema, "minProperties", "maxProperties"),
            reads_text: reads_text(schema),
            ..Node::default()
        };
        self.inside(&mut node, schema, place, depth + 1);
        self.beside(&mut node, schema, place, depth + 1);
        if let Some(slot) = self.nodes.get_mut(index) {
            *slot = node;
        }
        Some(index)
    }

    /// What is said of members and elements.
    fn inside(&mut self, node: &mut Node, schema: &'a JsonObject, place: &str, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let place = format!("{place}/properties/{name}");
            if let Some(index) = self.node(property, &place, depth) {
                node.properties.push((name.as_str().into(), index));
            }
        }
        let one = |compiler: &mut Self, keyword: &str| {
            let inner = schema.get(keyword)?;
            compiler.node(inner, &format!("{place}/{keyword}"), depth)
        };
        node.additional = one(self, "additionalProperties");
        node.items = one(self, "items");
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        for (index, element) in prefix.into_iter().flatten().enumerate() {
            let place = format!("{place}/prefixItems/{index}");
            match self.node(element, &place, depth) {
                Some(index) => node.prefix.push(index),
                None => break,
            }
        }
    }

    /// What other schemas say of the same value.
    fn beside(&mut self, node: &mut Node, schema: &'a JsonObject, place: &str, depth: usize) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            node.all.extend(self.reference(reference, depth));
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array);
            let parts: Vec<_> = parts.into_iter().flatten().enumerate().collect();
            for (index, part) in parts {
                let place = format!("{place}/{keyword}/{index}");
                let Some(index) = self.node(part, &place, depth) else {
                    continue;
                };
                if keyword == "allOf" {
                    node.all.push(index);
                } else if !is_null(part) {
                    let marks = marks(part);
                    node.any.push(Alternative { marks, node: index });
                }
            }
        }
    }

    /// The node of what a reference names, where that is in the schema.
    fn reference(&mut self, reference: &'a str, depth: usize) -> Option<usize> {
        if let Some(&known) = self.references.get(reference) {
            return Some(known);
        }
        let pointer = reference.strip_prefix('#')?;
        if pointer.is_empty() {
            return Some(0);
        }
        let target = self.root.pointer(pointer)?;
        self.references.insert(reference.into(), self.nodes.len());
        let index = self.node(target, pointer, depth);
        if index.is_none() {
            self.references.remove(reference);
        }
        index
    }

    fn pattern(&mut self, schema: &JsonObject, place: &str) -> Option<Pattern> {
        let source = schema.get("pattern")?.as_str()?;
        let pattern = Pattern::new(source);
        if pattern.is_none() {
            self.unread.push(place.to_owned());
        }
        pattern
    }
}

impl Node {
    fn says_something(&self) -> bool {
        self.numbers.is_some()
            || self.length.is_some()
            || self.pattern.is_some()
            || self.elements.is_some()
            || self.unique
            || self.members.is_some()
    }
}

/// The range of the Rust type that a format means: decoding checks it.
pub(super) fn own_range(format: &str) -> Option<(i128, i128)> {
    let (signed, bits) = match format.strip_prefix('u') {
        Some(rest) => (false, rest.strip_prefix("int")?),
        None => (true, format.strip_prefix("int")?),
    };
    let bits: u32 = match bits {
        "" => usize::BITS,
        bits => bits.parse().ok().filter(|bits| (8..=64).contains(bits))?,
    };
    let size = 1_i128 << (bits - u32::from(signed));
    Some((if signed { -size } else { 0 }, size - 1))
}

/// The bounds of a number, as far as they are narrower than the Rust type behind it.
fn numbers(schema: &JsonObject) -> Option<Numbers> {
    let limit = |keyword: &str| match schema.get(keyword)? {
        Value::Number(number) => Limit::from_json(number),
        _ => None,
    };
    let own = schema
        .get("format")
        .and_then(Value::as_str)
        .and_then(own_range);
    let (minimum, maximum) = (limit("minimum"), limit("maximum"));
    let (above, below) = (limit("exclusiveMinimum"), limit("exclusiveMaximum"));
    let step = limit("multipleOf");
    let (least, most) = own
        .map(|(least, most)| (Limit::Int(least), Limit::Int(most)))
        .unzip();
    let narrows = minimum.is_some_and(|minimum| Some(minimum) != least)
        || maximum.is_some_and(|maximum| Some(maximum) != most);
    let says_something = narrows || [above, below, step].iter().any(Option::is_some);
    says_something.then(|| Numbers {
        range: Range::of(minimum, above, maximum, below),
        step,
    })
}

fn count(schema: &JsonObject, least: &str, most: &str) -> Option<Count> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let (least, most) = (number(least), number(most));
    (least.is_some() || most.is_some()).then(|| Count {
        least: least.unwrap_or(0),
        most: most.unwrap_or(u64::MAX),
    })
}

/// The schema names types, and a string is none of them.
fn reads_text(schema: &JsonObject) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind != "string",
        Some(Value::Array(kinds)) => !kinds.iter().any(|kind| kind == "string"),
        _ => false,
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// What tells an alternative from the others: its required members, and the constants among them.
fn marks(schema: &Value) -> Vec<(Box<str>, Option<Value>)> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let constant = |name: &str| {
        let property = schema.get("properties")?.get(name)?;
        let only = match property
            .get("enum")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([only]) => Some(only),
            _ => None,
        };
        property.get("const").or(only).cloned()
    };
    names.map(|name| (name.into(), constant(name))).collect()
}
