//! The arguments for the original schema.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mcp_schema::{Id, Keywords as _, Node, Parts, Schema, SchemaError, Type, Walk};
use mcp_types::JsonObject;
use serde_json::{Map, Value};

use crate::names::property_name;

/// Levels of arguments that are restored. Deeper ones stay.
const MAX_DEPTH: usize = 64;

/// Converts the arguments that a model sent into those of the server: with the server's names, without `null` for
/// optional arguments, and with values parsed where the model sent JSON as a string.
///
/// # Errors
///
/// Returns [`SchemaError`] when the schema exceeds a limit for reading, or takes more than `steps`, which are counted
/// down. Each schema is read once, so that the steps do not depend on the number of arguments.
pub(crate) fn restore(
    arguments: Value,
    schema: &JsonObject,
    steps: &mut usize,
) -> Result<Value, SchemaError> {
    let schema = Schema::parse(schema)?;
    let mut restorer = Restorer {
        walk: Walk::of_schema(*steps),
        accepted: HashMap::new(),
        shapes: HashMap::new(),
    };
    let restored = restorer.value(arguments, schema.root(), 0);
    *steps = steps.saturating_sub(restorer.walk.taken());
    restored
}

struct Restorer<'a> {
    walk: Walk,
    /// The types that a schema accepts.
    accepted: HashMap<Id, Accepted>,
    shapes: HashMap<Id, Rc<Shape<'a>>>,
}

/// The accepted types that decide about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Accepted {
    text: bool,
    null: bool,
}

const ANYTHING: Accepted = Accepted {
    text: true,
    null: true,
};

/// A schema, its alternatives and what they refer to, in one.
struct Shape<'a> {
    accepted: Accepted,
    is_any: bool,
    properties: HashMap<&'a str, Node<'a>>,
    /// The properties whose names for models differ from their own, by the former.
    renamed: HashMap<String, &'a str>,
    required: HashSet<&'a str>,
    items: Option<Node<'a>>,
}

impl<'a> Restorer<'a> {
    fn value(
        &mut self,
        given: Value,
        schema: Node<'a>,
        depth: usize,
    ) -> Result<Value, SchemaError> {
        if depth > MAX_DEPTH || schema.object().is_none() {
            return Ok(given);
        }
        let shape = self.shape(schema)?;
        Ok(match given {
            Value::String(text) if !shape.accepted.text => {
                match serde_json::from_str::<Value>(&text) {
                    Ok(parsed @ (Value::Object(_) | Value::Array(_))) => {
                        self.value(parsed, schema, depth + 1)?
                    }
                    _ => Value::String(text),
                }
            }
            // A schema for any value was sent as a string: what looks like an object or a list is one.
            Value::String(text) if shape.is_any && text.starts_with(['{', '[']) => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            Value::Object(members) => Value::Object(self.members(members, &shape, depth)?),
            Value::Array(items) => match shape.items {
                Some(kind) => {
                    let items = items.into_iter();
                    let items = items.map(|item| self.value(item, kind, depth + 1));
                    Value::Array(items.collect::<Result<_, _>>()?)
                }
                None => Value::Array(items),
            },
            other => other,
        })
    }

    fn members(
        &mut self,
        members: Map<String, Value>,
        shape: &Shape<'a>,
        depth: usize,
    ) -> Result<Map<String, Value>, SchemaError> {
        let mut restored = Map::new();
        for (name, given) in members {
            let find = |own: &str| shape.properties.get_key_value(own);
            let renamed = || find(shape.renamed.get(&name)?);
            let Some((&own, &property)) = find(&name).or_else(renamed) else {
                restored.insert(name, given);
                continue;
            };
            if given.is_null() && !shape.required.contains(own) && !self.may_be_null(property)? {
                continue;
            }
            let value = self.value(given, property, depth + 1)?;
            restored.insert(own.to_owned(), value);
        }
        Ok(restored)
    }

    fn may_be_null(&mut self, property: Node<'a>) -> Result<bool, SchemaError> {
        if property.object().is_none() {
            return Ok(false);
        }
        let shape = self.shape(property)?;
        Ok(shape.accepted.null && !shape.is_any)
    }

    /// Returns the shape of a schema, which is read at its first value.
    fn shape(&mut self, schema: Node<'a>) -> Result<Rc<Shape<'a>>, SchemaError> {
        if let Some(known) = self.shapes.get(&schema.id()) {
            return Ok(known.clone());
        }
        let parts = Parts::of(schema, &self.walk, 0)?;
        let mut shape = Shape {
            accepted: self.accepted(schema, 0)?,
            is_any: parts.kinds().is_empty() && parts.alternatives().is_empty(),
            properties: HashMap::new(),
            renamed: HashMap::new(),
            required: HashSet::new(),
            items: None,
        };
        let mut known = HashSet::new();
        let mut waiting = vec![(schema, parts)];
        while let Some((schema, parts)) = waiting.pop() {
            if !known.insert(schema.id()) {
                continue;
            }
            shape.add(&parts);
            for alternative in parts.alternatives().into_iter().rev() {
                waiting.push((alternative, Parts::of(alternative, &self.walk, 0)?));
            }
        }
        let shape = Rc::new(shape);
        self.shapes.insert(schema.id(), shape.clone());
        Ok(shape)
    }

    /// Returns the types that a schema accepts. A schema that contains itself accepts any there.
    fn accepted(&mut self, schema: Node<'a>, nested: usize) -> Result<Accepted, SchemaError> {
        if let Some(known) = self.accepted.get(&schema.id()) {
            return Ok(*known);
        }
        self.accepted.insert(schema.id(), ANYTHING);
        let parts = Parts::of(schema, &self.walk, nested)?;
        let kinds = parts.kinds();
        let accepts = |kind| kinds.is_empty() || kinds.contains(&kind);
        // OpenAPI 3.0 does not list `null` among the values.
        let is_nullable = parts.flag("nullable");
        let has_null = parts
            .listed()
            .is_none_or(|values| values.contains(&Value::Null));
        let mut accepted = Accepted {
            text: accepts(Type::String),
            null: accepts(Type::Null) && (has_null || is_nullable),
        };
        let mut any: Option<Accepted> = None;
        for alternative in parts.alternatives() {
            let one = self.accepted(alternative, nested + 1)?;
            let any = any.get_or_insert(one);
            any.text |= one.text;
            any.null |= one.null;
        }
        if let Some(any) = any {
            accepted.text &= any.text;
            accepted.null = accepted.null && any.null || is_nullable;
        }
        self.accepted.insert(schema.id(), accepted);
        Ok(accepted)
    }
}

impl<'a> Shape<'a> {
    fn add(&mut self, parts: &Parts<'a>) {
        for (own, property) in parts.properties() {
            if self.properties.contains_key(own) {
                continue;
            }
            let name = property_name(own);
            if name != *own {
                self.renamed.entry(name).or_insert(own);
            }
            self.properties.insert(own, property);
        }
        self.required.extend(parts.required());
        self.items = self.items.or_else(|| parts.subschema("items"));
    }
}
