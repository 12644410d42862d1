//! JSON Schema as Rust types.
//!
//! A keyword that only restricts values, such as `pattern`, `minimum` or `not`, does not change the type.
//! A schema without a Rust type becomes [`Type::Value`] with a reason, as does one beyond the
//! [limits](mcp_schema::limits) for reading. The limits in these modules are those of readable Rust code.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `place` | where a schema is, and the name of its type |
//! | `lowering` | the state of a conversion |
//! | `combined` | what the schemas say that apply to one value |
//! | `reference` | `$ref` |
//! | `choice` | `enum` and `const` |
//! | `object` | objects |
//! | `union` | `anyOf`, `oneOf` and lists of types |
//! | `array` | arrays |

mod array;
mod choice;
mod combined;
mod lowering;
mod object;
mod place;
mod reference;
mod union;

use std::collections::HashMap;

use mcp_schema::{Keywords as _, Node, Parts, Schema, Type as Kind, Walk, limits};
use serde_json::{Map, Value};

use crate::names::type_name;
use crate::report::Note;
use crate::types::{Table, Type};
use lowering::{Lowering, Reason};
use place::Place;

/// Deepest nesting of types, through references. Deeper ones have no useful names.
const MAX_DEPTH: usize = 48;

/// Converts a tool's schema at `path`. `name` names the type, if it needs a name.
pub(crate) fn lower(json: &Value, name: &str, path: &str, types: &mut Table) -> (Type, Vec<Note>) {
    let title = json.get("title").and_then(Value::as_str);
    let place = Place {
        name: name.to_owned(),
        label: title.map(|title| type_name(title, name)),
        path: path.to_owned(),
        depth: 0,
        slot: None,
    };
    let mut lowering = Lowering {
        types,
        targets: HashMap::new(),
        walk: Walk::of_schema(limits::STEPS),
        notes: Vec::new(),
    };
    let ty = match (json, json.as_object().map(Schema::parse)) {
        (_, Some(Ok(schema))) => lowering.target(schema.root(), &place),
        (_, Some(Err(error))) => lowering.any(&place, &error.into()),
        (Value::Bool(true), _) => Type::Value(None),
        (Value::Bool(false), _) => lowering.any(&place, &combined::FALSE.into()),
        _ => lowering.any(&place, &combined::NO_SCHEMA.into()),
    };
    (ty, lowering.notes)
}

/// Returns true if the schema allows no member, as for a tool without arguments.
pub(crate) fn is_empty_object(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else {
        return false;
    };
    map.iter().all(|(key, value)| match key.as_str() {
        "properties" | "patternProperties" => value.as_object().is_some_and(Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => value == &Value::Bool(false),
        "type" => value == "object",
        "$schema" | "title" | "description" | "$id" | "$comment" | "$defs" | "definitions" => true,
        _ => false,
    })
}

impl Lowering<'_> {
    /// Converts the schemas of a value: one, or those that parts of an `allOf` have for it. None: any value.
    fn lower(&mut self, schemas: &[Node<'_>], place: &Place) -> Type {
        // OpenAPI 3.0 has this keyword in place of the type `null`.
        let nullable = schemas.iter().any(|schema| schema.flag("nullable"));
        let ty = self.optional(nullable, place, |this, place| this.convert(schemas, place));
        ty.unwrap_or_else(|reason| self.any(place, &reason))
    }

    /// Converts a type at its place, or at the place in an option.
    fn optional(
        &mut self,
        nullable: bool,
        place: &Place,
        convert: impl FnOnce(&mut Self, &Place) -> Result<Type, Reason>,
    ) -> Result<Type, Reason> {
        if nullable {
            convert(self, &place.inner()).map(Type::optional)
        } else {
            convert(self, place)
        }
    }

    fn convert(&mut self, schemas: &[Node<'_>], place: &Place) -> Result<Type, Reason> {
        let Some(first) = schemas.first() else {
            return Ok(Type::Value(None));
        };
        if let Some((text, target)) = reference::sole(schemas) {
            self.walk.visit(*first, place.depth)?;
            return Ok(self.reference(text, target, place));
        }
        let parts = Parts::of_all(schemas, &self.walk, place.depth)?;
        self.parts(&parts, place)
    }

    fn parts(&mut self, parts: &Parts<'_>, place: &Place) -> Result<Type, Reason> {
        if place.depth > MAX_DEPTH {
            return Err(format!("the schema is nested deeper than {MAX_DEPTH}").into());
        }
        combined::check(parts, &self.walk)?;
        let kinds = combined::kinds(parts)?;
        if let Some(values) = combined::values(parts)? {
            return self.choice(parts, values, place);
        }
        if let Some(branches) = union::branches(parts)? {
            return self.union(parts, branches, place);
        }
        if kinds.is_empty() {
            return Ok(Type::Value(None));
        }
        self.of_kinds(parts, kinds, place)
    }

    fn of_kind(&mut self, kind: Kind, parts: &Parts<'_>, place: &Place) -> Result<Type, Reason> {
        let mut minimum = ["minimum", "exclusiveMinimum"].iter();
        let minimum = minimum.find_map(|key| parts.get(key)?.as_f64());
        match kind {
            Kind::Null => Ok(Type::Null),
            Kind::Boolean => Ok(Type::Bool),
            Kind::Integer if minimum >= Some(0.0) => Ok(Type::Unsigned),
            Kind::Integer => Ok(Type::Integer),
            Kind::Number => Ok(Type::Number),
            Kind::String => Ok(Type::Text),
            Kind::Array => {
                let ty = self.array(parts, place);
                Ok(self.container(ty, parts, place))
            }
            Kind::Object => self.object(parts, place),
        }
    }
}
