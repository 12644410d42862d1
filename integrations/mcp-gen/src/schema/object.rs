//! Objects: structs and maps.

use std::collections::HashMap;

use mcp_schema::{Keywords as _, Node, Parts};
use serde_json::Value;

use super::combined::{members, schemas};
use super::lowering::{Lowering, Reason, texts};
use super::place::Place;
use crate::docs;
use crate::names::{Names, value_name};
use crate::types::{Field, Shape, Type};

/// Most members of one object.
const MAX_FIELDS: usize = 500;
/// Names that methods of the generated struct use.
const RESERVED: [&str; 1] = ["new"];
/// Keywords that allow members which `properties` does not list.
const CONDITIONAL: [&str; 7] = [
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "patternProperties",
    "then",
    "unevaluatedProperties",
];

impl Lowering<'_> {
    pub(super) fn object(&mut self, parts: &Parts<'_>, place: &Place) -> Result<Type, Reason> {
        let members = members(parts);
        if members.len() > MAX_FIELDS {
            return Err(format!("the object has more than {MAX_FIELDS} members").into());
        }
        if members.is_empty() {
            return Ok(self.map(parts, place));
        }
        // A repeated name has its first position.
        let positions = parts.required().into_iter().enumerate().rev();
        let positions: HashMap<_, _> = positions.map(|(position, key)| (key, position)).collect();
        let mut names = Names::with_reserved(&RESERVED);
        let mut fields = Vec::new();
        for (key, schemas) in members {
            let ty = self.lower(&schemas, &place.member(key));
            let shape = match ty {
                Type::Named(slot) => self.types.shape(slot),
                _ => None,
            };
            fields.push(Field {
                key: key.to_owned(),
                name: names.take(&value_name(key, "field")),
                docs: schemas.first().map_or_else(Vec::new, field_docs),
                constant: matches!(shape, Some(Shape::Choice(values)) if values.len() == 1),
                ty,
                required: positions.get(key).copied(),
                is_json_text: false,
            });
        }
        let rest = self.rest(parts, place);
        let rest = rest.map(|ty| (names.take("additional"), ty));
        Ok(self.define(place, texts(parts), Shape::Struct { fields, rest }))
    }

    /// Converts an object without known members.
    fn map(&mut self, parts: &Parts<'_>, place: &Place) -> Type {
        let patterns = parts.get("patternProperties").and_then(Value::as_object);
        let patterns: Vec<_> = patterns.into_iter().flat_map(|map| map.values()).collect();
        let additional = schemas(parts, "additionalProperties");
        let is_closed = additional.iter().any(|schema| schema.is_false());
        let value = match (is_closed, patterns.as_slice()) {
            (true, []) => {
                let (fields, rest) = (Vec::new(), None);
                return self.define(place, texts(parts), Shape::Struct { fields, rest });
            }
            (true, [only]) => {
                let schema = parts.nodes().first().and_then(|part| part.find(only));
                let at = place.child("Value", "patternProperties");
                self.lower(schema.as_slice(), &at)
            }
            (false, []) => self.lower(&additional, &place.child("Value", "additionalProperties")),
            _ => Type::Value(None),
        };
        self.container(Type::Map(Box::new(value)), parts, place)
    }

    /// Returns the type of members that `properties` does not list, if a schema describes them.
    fn rest(&mut self, parts: &Parts<'_>, place: &Place) -> Option<Type> {
        let allows = |key: &&str| {
            parts
                .get(key)
                .is_some_and(|value| value != &Value::Bool(false))
        };
        if CONDITIONAL.iter().any(allows) {
            return Some(Type::Value(None));
        }
        let schemas = schemas(parts, "additionalProperties");
        let is_open = parts.get("additionalProperties").is_some();
        let is_open = is_open && !schemas.iter().any(|schema| schema.is_false());
        is_open.then(|| self.lower(&schemas, &place.child("Additional", "additionalProperties")))
    }
}

fn field_docs(schema: &Node<'_>) -> Vec<String> {
    let mut lines = texts(schema);
    if let Some(value) = schema.get("default").filter(|value| !value.is_null()) {
        let value = docs::inline(&value.to_string());
        if value.len() <= 200 {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("Default: {value}"));
        }
    }
    lines
}
