//! Compilation of a schema into constraints.

use std::collections::HashMap;

use mcp_core::schema::target;
use mcp_types::JsonObject;
use serde_json::Value;

use super::limits::{CountLimits, NumberLimits, Pattern};
use super::node::{Alternative, Constraints, Node};
use super::range::{Limit, Range};
use super::walk::{listed_values, names};

/// Maximum nesting of schemas. Deeper schemas accept every value.
const MAX_DEPTH: usize = 64;

/// Maximum number of schemas. Further schemas accept every value.
const MAX_NODES: usize = 4096;

impl Constraints {
    /// Compiles the constraints of a schema. Returns `None` when no keyword remains to be checked: decoding
    /// into Rust types checks the others.
    pub(crate) fn from_schema(schema: &JsonObject) -> Option<Self> {
        let mut compiler = Compiler {
            root: schema,
            nodes: Vec::new(),
            references: HashMap::from([("#".into(), 0)]),
            unsupported_patterns: Vec::new(),
        };
        compiler.object(schema, "", 0);
        let (nodes, unsupported_patterns) = (compiler.nodes, compiler.unsupported_patterns);
        let is_needed = nodes.iter().any(Node::is_restrictive) || !unsupported_patterns.is_empty();
        is_needed.then_some(Self {
            nodes,
            unsupported_patterns,
        })
    }
}

struct Compiler<'a> {
    root: &'a JsonObject,
    nodes: Vec<Node>,
    /// The node of each `$ref` target.
    references: HashMap<Box<str>, usize>,
    unsupported_patterns: Vec<String>,
}

impl<'a> Compiler<'a> {
    /// Adds the node of the schema at `pointer`. Returns `None` for a schema that is not checked: a
    /// boolean, or one beyond the limits.
    fn node(&mut self, schema: &'a Value, pointer: &str, depth: usize) -> Option<usize> {
        self.object(schema.as_object()?, pointer, depth)
    }

    fn object(&mut self, schema: &'a JsonObject, pointer: &str, depth: usize) -> Option<usize> {
        let index = self.nodes.len();
        if depth > MAX_DEPTH || index >= MAX_NODES {
            return None;
        }
        self.nodes.push(Node::default());
        let mut node = Node {
            number: number_limits(schema),
            length: count_limits(schema, "minLength", "maxLength"),
            pattern: self.pattern(schema, pointer),
            elements: count_limits(schema, "minItems", "maxItems"),
            unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            members: count_limits(schema, "minProperties", "maxProperties"),
            excludes_strings: schema.contains_key("type")
                && names(schema, "type").all(|name| name != "string"),
            ..Node::default()
        };
        self.inner_values(&mut node, schema, pointer, depth + 1);
        self.same_value(&mut node, schema, pointer, depth + 1);
        if let Some(slot) = self.nodes.get_mut(index) {
            *slot = node;
        }
        Some(index)
    }

    /// Compiles the schemas of members and elements.
    fn inner_values(
        &mut self,
        node: &mut Node,
        schema: &'a JsonObject,
        pointer: &str,
        depth: usize,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let pointer = format!("{pointer}/properties/{name}");
            let index = self.node(property, &pointer, depth);
            node.properties.push((name.as_str().into(), index));
        }
        node.properties.sort_unstable();
        let single = |compiler: &mut Self, keyword: &str| {
            let inner = schema.get(keyword)?;
            compiler.node(inner, &format!("{pointer}/{keyword}"), depth)
        };
        // Members that match `patternProperties`, which are not compiled, are not additional ones.
        if !schema.contains_key("patternProperties") {
            node.additional = single(self, "additionalProperties");
        }
        node.items = single(self, "items");
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        for (index, element) in prefix.into_iter().flatten().enumerate() {
            let pointer = format!("{pointer}/prefixItems/{index}");
            node.prefix.push(self.node(element, &pointer, depth));
        }
    }

    /// Compiles the schemas that apply to the same value: `$ref`, `allOf`, `anyOf`, `oneOf`.
    fn same_value(&mut self, node: &mut Node, schema: &'a JsonObject, pointer: &str, depth: usize) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            node.all.extend(self.reference(reference, depth));
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array);
            for (index, part) in parts.into_iter().flatten().enumerate() {
                let pointer = format!("{pointer}/{keyword}/{index}");
                let index = self.node(part, &pointer, depth);
                if keyword == "allOf" {
                    node.all.extend(index);
                } else if !accepts_at_most_null(part) {
                    node.any.push(Alternative {
                        discriminators: discriminators(part),
                        node: index,
                    });
                }
            }
        }
    }

    /// Returns the node of a reference into the same schema.
    fn reference(&mut self, reference: &'a str, depth: usize) -> Option<usize> {
        if let Some(&known) = self.references.get(reference) {
            return Some(known);
        }
        let target = target(self.root, reference)?;
        self.references.insert(reference.into(), self.nodes.len());
        let index = self.object(target, reference.trim_start_matches('#'), depth);
        if index.is_none() {
            self.references.remove(reference);
        }
        index
    }

    /// Compiles `pattern`. Notes the location of a pattern that cannot be checked.
    fn pattern(&mut self, schema: &JsonObject, pointer: &str) -> Option<Pattern> {
        let source = schema.get("pattern")?.as_str()?;
        let pattern = Pattern::new(source);
        if pattern.is_none() {
            self.unsupported_patterns.push(pointer.to_owned());
        }
        pattern
    }
}

/// Returns the range of the Rust integer type that `format` names, such as `uint8`. Decoding checks it.
pub(crate) fn integer_range(format: &str) -> Option<(i128, i128)> {
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

/// Returns the limits of a number, unless they are the range of its Rust type.
fn number_limits(schema: &JsonObject) -> Option<NumberLimits> {
    let limit = |keyword: &str| match schema.get(keyword)? {
        Value::Number(number) => Limit::from_json(number),
        _ => None,
    };
    let format = schema.get("format").and_then(Value::as_str);
    let (type_min, type_max) = format
        .and_then(integer_range)
        .map(|(min, max)| (Limit::Int(min), Limit::Int(max)))
        .unzip();
    let (minimum, maximum) = (limit("minimum"), limit("maximum"));
    let (exclusive_minimum, exclusive_maximum) =
        (limit("exclusiveMinimum"), limit("exclusiveMaximum"));
    let step = limit("multipleOf");
    let is_narrower = minimum.is_some_and(|minimum| Some(minimum) != type_min)
        || maximum.is_some_and(|maximum| Some(maximum) != type_max);
    let others = [exclusive_minimum, exclusive_maximum, step];
    let is_needed = is_narrower || others.iter().any(Option::is_some);
    is_needed.then(|| NumberLimits {
        range: Range::from_schema(minimum, exclusive_minimum, maximum, exclusive_maximum),
        step,
    })
}

fn count_limits(schema: &JsonObject, min: &str, max: &str) -> Option<CountLimits> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let (min, max) = (number(min), number(max));
    (min.is_some() || max.is_some()).then(|| CountLimits {
        min: min.unwrap_or(0),
        max: max.unwrap_or(u64::MAX),
    })
}

fn accepts_at_most_null(schema: &Value) -> bool {
    *schema == Value::Bool(false) || schema.get("type").is_some_and(|name| name == "null")
}

/// Returns the required members of an alternative, each with its value if that is constant.
fn discriminators(schema: &Value) -> Vec<(Box<str>, Option<Value>)> {
    let constant = |name: &str| {
        let property = schema.get("properties")?.get(name)?;
        match listed_values(property.as_object()?)? {
            [single] => Some(single.clone()),
            _ => None,
        }
    };
    let required = schema.as_object().into_iter();
    let required = required.flat_map(|schema| names(schema, "required"));
    required.map(|name| (name.into(), constant(name))).collect()
}
