//! Objects: structs and maps.

use serde_json::{Map, Value};

use super::lowering::{Lowering, Schema, texts};
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
    pub(super) fn object(&mut self, map: &Schema, place: Place) -> Type {
        let empty = Map::new();
        let properties = match map.get("properties") {
            Some(Value::Object(properties)) => properties,
            Some(_) => return self.any(&place, "`properties` is an object"),
            None => &empty,
        };
        if properties.len() > MAX_FIELDS {
            let reason = format!("the object has more than {MAX_FIELDS} members");
            return self.any(&place, reason);
        }
        let required = required(map);
        if properties.is_empty() && required.is_empty() {
            return self.map(map, place);
        }
        let mut names = Names::with_reserved(&RESERVED);
        let mut fields = Vec::new();
        for (key, schema) in properties {
            let at = place.member(key, &format!("properties/{}", pointer_part(key)));
            let ty = self.lower(schema, at);
            let position = required.iter().position(|name| name == key);
            fields.push(self.field(&mut names, key, schema, ty, position));
        }
        for (position, key) in required.into_iter().enumerate().take(MAX_FIELDS) {
            if !properties.contains_key(key) {
                let ty = Type::Value(None);
                fields.push(self.field(&mut names, key, &Value::Null, ty, Some(position)));
            }
        }
        let rest = self.rest(map, &place);
        let rest = rest.map(|ty| (names.take("additional"), ty));
        self.define(&place, map, Shape::Struct { fields, rest })
    }

    /// Converts an object without known members.
    fn map(&mut self, map: &Schema, place: Place) -> Type {
        let patterns = map.get("patternProperties").and_then(Value::as_object);
        let sole = patterns.filter(|patterns| patterns.len() == 1);
        let pattern = sole.and_then(|patterns| patterns.values().next());
        match (map.get("additionalProperties"), pattern) {
            (Some(Value::Bool(false)), Some(schema)) => {
                let at = place.child("Value", "patternProperties");
                Type::Map(Box::new(self.lower(schema, at)))
            }
            (Some(Value::Bool(false)), None) if patterns.is_none() => {
                let (fields, rest) = (Vec::new(), None);
                self.define(&place, map, Shape::Struct { fields, rest })
            }
            (Some(schema @ Value::Object(_)), None) => {
                let at = place.child("Value", "additionalProperties");
                Type::Map(Box::new(self.lower(schema, at)))
            }
            _ => Type::Map(Box::new(Type::Value(None))),
        }
    }

    /// Returns the type of members that `properties` does not list, if a schema describes them.
    fn rest(&mut self, map: &Schema, place: &Place) -> Option<Type> {
        let conditional = CONDITIONAL.iter().any(|key| {
            let value = map.get(*key);
            value.is_some_and(|value| value != &Value::Bool(false))
        });
        match map.get("additionalProperties") {
            _ if conditional => Some(Type::Value(None)),
            None | Some(Value::Bool(false)) => None,
            Some(schema) => {
                let at = place.child("Additional", "additionalProperties");
                Some(self.lower(schema, at))
            }
        }
    }

    fn field(
        &self,
        names: &mut Names,
        key: &str,
        schema: &Value,
        ty: Type,
        required: Option<usize>,
    ) -> Field {
        let constant = match &ty {
            Type::Named(slot) => {
                matches!(self.types.shape(*slot), Some(Shape::Choice(values)) if values.len() == 1)
            }
            _ => false,
        };
        Field {
            key: key.to_owned(),
            name: names.take(&value_name(key, "field")),
            docs: field_docs(schema),
            ty,
            required,
            constant,
            is_json_text: false,
        }
    }
}

fn field_docs(schema: &Value) -> Vec<String> {
    let Some(map) = schema.as_object() else {
        return Vec::new();
    };
    let mut lines = texts(map);
    if let Some(value) = map.get("default").filter(|value| !value.is_null()) {
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

fn required(map: &Schema) -> Vec<&str> {
    let names = map.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Escapes a part of a JSON pointer.
fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
