//! Completion of arguments whose schema lists values: those whose type is an enum.

use mcp_types::{Completion, JsonObject};
use serde_json::Value;

use crate::constraints::listed_values;

/// The listed values of arguments, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choices(Vec<(String, Vec<String>)>);

impl Choices {
    pub(super) fn from_schema(schema: Option<&JsonObject>) -> Self {
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let choices = properties.into_iter().flatten().map(|(name, schema)| {
            let mut values = Vec::new();
            collect_values(schema, &mut values);
            (name.clone(), values)
        });
        Self(choices.filter(|(_, values)| !values.is_empty()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the values of an argument that start with `prefix`, regardless of case.
    pub(crate) fn complete(&self, argument: &str, prefix: &str) -> Completion {
        let prefix = prefix.to_lowercase();
        let values = self.0.iter().find(|(name, _)| name == argument);
        let values = values.into_iter().flat_map(|(_, values)| values);
        Completion::new(values.filter(|value| value.to_lowercase().starts_with(&prefix)))
    }
}

/// Collects the strings in `enum` and `const` of a schema and of its alternatives.
fn collect_values(schema: &Value, values: &mut Vec<String>) {
    let listed = schema.as_object().and_then(listed_values);
    let listed = listed.into_iter().flatten();
    values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
    for key in ["oneOf", "anyOf"] {
        let alternatives = schema.get(key).and_then(Value::as_array);
        for alternative in alternatives.into_iter().flatten() {
            collect_values(alternative, values);
        }
    }
}
