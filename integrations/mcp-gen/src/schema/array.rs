//! Arrays: lists and tuples.

use mcp_schema::{Keywords as _, Parts};
use serde_json::Value;

use super::combined::schemas;
use super::lowering::Lowering;
use super::place::Place;
use crate::names::type_name;
use crate::types::Type;

/// Longest tuple that serde supports.
const MAX_TUPLE: usize = 12;

impl Lowering<'_> {
    pub(super) fn array(&mut self, parts: &Parts<'_>, place: &Place) -> Type {
        // Draft 7 has a list of `items` where 2020-12 has `prefixItems`.
        let (prefix, rest) = match parts.get("items") {
            Some(Value::Array(_)) => (parts.list("items"), "additionalItems"),
            _ => (parts.list("prefixItems"), "items"),
        };
        let items = schemas(parts, rest);
        let is_closed = items.iter().any(|item| item.is_false());
        if !prefix.is_empty() {
            let length = prefix.len();
            let is = |keyword: &str| parts.count(keyword) == u64::try_from(length).ok();
            if !is("minItems") || !(is_closed || is("maxItems")) || length > MAX_TUPLE {
                let reason =
                    "the array has items of different schemas and no fixed length up to 12";
                let item = self.any(place, &reason.into());
                return Type::List(Box::new(item));
            }
            let items = prefix.iter().enumerate().map(|(index, schema)| {
                let at = place.child(&format!("Item{index}"), &format!("prefixItems/{index}"));
                self.lower(&[*schema], &at)
            });
            return Type::Tuple(items.collect());
        }
        let mut at = place.child("Item", "items");
        let title = items.first().and_then(|item| item.text("title"));
        at.label = title.map(|title| type_name(title, "Item")).or(at.label);
        let item = if is_closed {
            Type::Value(None)
        } else {
            self.lower(&items, &at)
        };
        Type::List(Box::new(item))
    }
}
