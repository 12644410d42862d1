//! Arrays: lists and tuples.

use serde_json::Value;

use super::lowering::{Lowering, Schema};
use super::place::Place;
use crate::names::type_name;
use crate::types::Type;

/// Longest tuple that serde supports.
const MAX_TUPLE: usize = 12;

impl Lowering<'_> {
    pub(super) fn array(&mut self, map: &Schema, place: Place) -> Type {
        // Draft 7 has a list of `items` where 2020-12 has `prefixItems`.
        let (prefix, items) = match (map.get("prefixItems"), map.get("items")) {
            (Some(prefix), items) => (Some(prefix), items),
            (None, Some(prefix @ Value::Array(_))) => (Some(prefix), map.get("additionalItems")),
            (None, items) => (None, items),
        };
        if let Some(prefix) = prefix {
            let Some(prefix) = prefix.as_array() else {
                return self.any(&place, "`prefixItems` is an array");
            };
            return self.tuple(map, prefix, items, place);
        }
        let item = match items {
            None | Some(Value::Bool(_)) => Type::Value(None),
            Some(schema) => {
                let mut at = place.child("Item", "items");
                if let Some(title) = schema.get("title").and_then(Value::as_str) {
                    at.label = Some(type_name(title, "Item"));
                }
                self.lower(schema, at)
            }
        };
        Type::List(Box::new(item))
    }

    fn tuple(
        &mut self,
        map: &Schema,
        prefix: &[Value],
        items: Option<&Value>,
        place: Place,
    ) -> Type {
        let length = prefix.len();
        let limit = |key: &str| map.get(key).and_then(Value::as_u64);
        let is = |limit: Option<u64>| limit == u64::try_from(length).ok();
        let is_closed = items == Some(&Value::Bool(false)) || is(limit("maxItems"));
        let is_complete = is(limit("minItems"));
        if !is_closed || !is_complete || length == 0 || length > MAX_TUPLE {
            let reason = "the array has items of different schemas and no fixed length up to 12";
            let item = self.any(&place, reason);
            return Type::List(Box::new(item));
        }
        let mut types = Vec::new();
        for (index, schema) in prefix.iter().enumerate() {
            let at = place.child(&format!("Item{index}"), &format!("prefixItems/{index}"));
            types.push(self.lower(schema, at));
        }
        Type::Tuple(types)
    }
}
