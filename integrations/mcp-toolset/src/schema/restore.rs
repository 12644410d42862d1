//! The arguments for the original schema.

use std::collections::{HashMap, HashSet};
use std::ptr;
use std::rc::Rc;

use mcp_core::schema::SchemaError;
use mcp_types::JsonObject;
use serde_json::{Map, Value};

use super::read::{Merged, Reader, key};

/// Levels of arguments that are restored. Deeper ones stay.
const MAX_DEPTH: usize = 64;

/// Converts the arguments that a model sent into those of the server: with the server's names, without `null` for
/// optional arguments, and with values parsed where the model sent JSON as a string.
///
/// # Errors
///
/// Returns [`SchemaError`] when the schema exceeds a limit of the validator, or takes more than `steps`, which are counted
/// down. Each schema is read once, so that the steps do not depend on the number of arguments.
pub(crate) fn restore(
    arguments: Value,
    schema: &JsonObject,
    steps: &mut usize,
) -> Result<Value, SchemaError> {
    let root = Value::Object(schema.clone());
    let mut restorer = Restorer {
        reader: Reader::new(schema, &root, *steps)?,
        accepted: HashMap::new(),
        shapes: HashMap::new(),
    };
    let restored = restorer.value(arguments, &root, 0);
    *steps = steps.saturating_sub(restorer.reader.taken());
    restored
}

struct Restorer<'a> {
    reader: Reader<'a>,
    /// The types that a schema accepts.
    accepted: HashMap<*const Value, Accepted>,
    shapes: HashMap<*const Value, Rc<Shape<'a>>>,
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
    properties: HashMap<&'a str, &'a Value>,
    /// The properties whose names for models differ from their own, by the former.
    renamed: HashMap<String, &'a str>,
    required: HashSet<&'a str>,
    items: Option<&'a Value>,
}

impl<'a> Restorer<'a> {
    fn value(
        &mut self,
        given: Value,
        schema: &'a Value,
        depth: usize,
    ) -> Result<Value, SchemaError> {
        if depth > MAX_DEPTH || !schema.is_object() {
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

    fn may_be_null(&mut self, property: &'a Value) -> Result<bool, SchemaError> {
        if !property.is_object() {
            return Ok(false);
        }
        let shape = self.shape(property)?;
        Ok(shape.accepted.null && !shape.is_any)
    }

    /// Returns the shape of a schema, which is read at its first value.
    fn shape(&mut self, schema: &'a Value) -> Result<Rc<Shape<'a>>, SchemaError> {
        if let Some(known) = self.shapes.get(&ptr::from_ref(schema)) {
            return Ok(known.clone());
        }
        let merged = self.reader.merged(schema, 0)?;
        let mut shape = Shape {
            accepted: self.accepted(schema, 0)?,
            is_any: merged.is_any(),
            properties: HashMap::new(),
            renamed: HashMap::new(),
            required: HashSet::new(),
            items: None,
        };
        let mut known = HashSet::new();
        let mut waiting = vec![(schema, merged)];
        while let Some((schema, merged)) = waiting.pop() {
            if !known.insert(ptr::from_ref(schema)) {
                continue;
            }
            shape.add(&merged);
            let alternatives: Vec<_> = merged.alternatives().collect();
            for alternative in alternatives.into_iter().rev() {
                waiting.push((alternative, self.reader.merged(alternative, 0)?));
            }
        }
        let shape = Rc::new(shape);
        self.shapes.insert(ptr::from_ref(schema), shape.clone());
        Ok(shape)
    }

    /// Returns the types that a schema accepts. A schema that contains itself accepts any there.
    fn accepted(&mut self, schema: &'a Value, nested: usize) -> Result<Accepted, SchemaError> {
        let address = ptr::from_ref(schema);
        if let Some(known) = self.accepted.get(&address) {
            return Ok(*known);
        }
        self.accepted.insert(address, ANYTHING);
        let merged = self.reader.merged(schema, nested)?;
        let (types, is_nullable) = merged.types();
        let is_untyped = types.is_empty() && !is_nullable;
        let has_null = merged.values().is_none_or(|mut values| {
            values.retain(|value| value.is_null());
            !values.is_empty()
        });
        let mut accepted = Accepted {
            text: is_untyped || types.contains(&"string"),
            null: is_untyped || is_nullable && (has_null || is_openapi_nullable(&merged)),
        };
        let alternatives: Vec<_> = merged.alternatives().collect();
        if !alternatives.is_empty() {
            let mut any = Accepted {
                text: false,
                null: false,
            };
            for alternative in alternatives {
                let one = self.accepted(alternative, nested + 1)?;
                any.text |= one.text;
                any.null |= one.null;
            }
            accepted.text &= any.text;
            accepted.null = accepted.null && any.null || is_openapi_nullable(&merged);
        }
        self.accepted.insert(address, accepted);
        Ok(accepted)
    }
}

impl<'a> Shape<'a> {
    fn add(&mut self, merged: &Merged<'a>) {
        for (own, property) in merged.properties() {
            if self.properties.contains_key(own.as_str()) {
                continue;
            }
            let name = key(own);
            if name != **own {
                self.renamed.entry(name).or_insert(own);
            }
            self.properties.insert(own, property);
        }
        self.required.extend(merged.required());
        self.items = self.items.or_else(|| merged.get("items"));
    }
}

/// Returns whether a schema accepts `null` as OpenAPI 3.0 says it.
fn is_openapi_nullable(schema: &Merged<'_>) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true))
}
