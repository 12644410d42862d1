//! Compilation of a schema into constraints.

use std::ops::Bound;

use mcp_schema::{Keywords as _, Node as SchemaNode, Schema, SchemaError, Type};
use mcp_types::JsonObject;
use serde_json::{Number, Value};

use super::limits::{CountLimits, NumberLimits, Pattern};
use super::node::{Alternative, Check, Constraints, Node};

impl Constraints {
    /// Compiles the constraints of a schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the schema exceeds a limit for reading.
    pub(crate) fn from_schema(schema: &JsonObject) -> Result<Option<Self>, SchemaError> {
        Ok(Self::of(&Schema::parse(schema)?))
    }

    /// Compiles the constraints of a parsed schema. Returns `None` when no keyword remains to be checked: decoding
    /// into Rust types checks the others.
    pub(crate) fn of(schema: &Schema<'_>) -> Option<Self> {
        let mut constraints = Self {
            nodes: (0..schema.len()).map(|_| Node::default()).collect(),
            unsupported_patterns: Vec::new(),
        };
        let mut is_known = vec![false; schema.len()];
        let mut waiting = vec![schema.root()];
        while let Some(next) = waiting.pop() {
            let index = next.id().index();
            if !std::mem::replace(&mut is_known[index], true) {
                constraints.nodes[index] = constraints.node(next, &mut waiting);
            }
        }
        let is_needed = constraints.nodes.iter().any(|node| !node.checks.is_empty());
        // Schemas come after those around them, so that whole trees without constraints are left out.
        let mut accepts_all = is_known;
        accepts_all.fill(false);
        for (index, node) in constraints.nodes.iter_mut().enumerate().rev() {
            accepts_all[index] = node.leave_out(&accepts_all);
        }
        (is_needed || !constraints.unsupported_patterns.is_empty()).then_some(constraints)
    }

    /// Compiles one schema. Adds those that it refers to by their ids to `waiting`.
    fn node<'s>(&mut self, schema: SchemaNode<'s>, waiting: &mut Vec<SchemaNode<'s>>) -> Node {
        let pattern = schema.text("pattern").map(|source| {
            let pattern = Pattern::new(source);
            if pattern.is_none() {
                self.unsupported_patterns.push(schema.pointer());
            }
            pattern
        });
        let count = |min, max| count_limits(schema, min, max);
        let checks = [
            number_limits(schema).map(Check::Number),
            count("minLength", "maxLength").map(Check::Length),
            pattern.flatten().map(Check::Pattern),
            count("minItems", "maxItems").map(Check::Elements),
            schema.flag("uniqueItems").then_some(Check::Unique),
            count("minProperties", "maxProperties").map(Check::Members),
        ];
        // `None` for a schema that is not checked: `true` or `false`.
        let mut index = |inner: SchemaNode<'s>| {
            inner.object()?;
            waiting.push(inner);
            Some(inner.id().index())
        };
        let properties = schema.properties().into_iter();
        let properties = properties.map(|(name, property)| (name.into(), index(property)));
        let mut properties: Vec<_> = properties.collect();
        properties.sort_unstable();
        // Members that match `patternProperties`, which are not compiled, are not additional ones.
        let additional = schema.subschema("additionalProperties");
        let additional = additional.filter(|_| schema.get("patternProperties").is_none());
        let alternatives = schema.alternatives().into_iter();
        let alternatives = alternatives.filter(|part| !part.is_false() && !part.is_null());
        let types = schema.types();
        Node {
            checks: checks.into_iter().flatten().collect(),
            excludes_strings: !types.is_empty() && !types.contains(&Type::String),
            properties,
            additional: additional.and_then(&mut index),
            prefix: schema
                .list("prefixItems")
                .into_iter()
                .map(&mut index)
                .collect(),
            items: schema.subschema("items").and_then(&mut index),
            all: (schema.target().into_iter().chain(schema.list("allOf")))
                .filter_map(&mut index)
                .collect(),
            any: alternatives
                .map(|part| Alternative {
                    discriminators: discriminators(part),
                    node: index(part),
                })
                .collect(),
        }
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
fn number_limits(schema: SchemaNode<'_>) -> Option<NumberLimits> {
    let range = schema.text("format").and_then(integer_range);
    let (type_min, type_max) = range.unzip();
    let is_own = |bound: Bound<&Number>, of_type: Option<i128>| match bound {
        Bound::Included(limit) => of_type.is_none() || limit.as_i128() != of_type,
        Bound::Excluded(_) => true,
        Bound::Unbounded => false,
    };
    let (min, max) = schema.range();
    let step = schema.get("multipleOf").and_then(Value::as_number);
    let is_needed = is_own(min, type_min) || is_own(max, type_max) || step.is_some();
    is_needed.then(|| NumberLimits {
        min: min.cloned(),
        max: max.cloned(),
        step: step.cloned(),
    })
}

fn count_limits(schema: SchemaNode<'_>, min: &str, max: &str) -> Option<CountLimits> {
    let (min, max) = (schema.count(min), schema.count(max));
    (min.is_some() || max.is_some()).then(|| CountLimits {
        min: min.unwrap_or(0),
        max: max.unwrap_or(u64::MAX),
    })
}

/// Returns the required members of an alternative, each with its value if that is constant.
fn discriminators(schema: SchemaNode<'_>) -> Vec<(Box<str>, Option<Value>)> {
    let constant = |name: &str| match schema.property(name)?.listed()? {
        [single] => Some(single.clone()),
        _ => None,
    };
    let required = schema.required().into_iter();
    required.map(|name| (name.into(), constant(name))).collect()
}
