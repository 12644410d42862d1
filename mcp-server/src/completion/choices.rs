//! Arguments that complete by themselves: those whose type is an enum.

use mcp_types::{Completion, JsonObject};
use serde_json::Value;

/// The values that arguments can have, where their schemas list them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choices(Vec<(String, Vec<String>)>);

impl Choices {
    #[inline]
    pub(crate) fn of(schema: Option<&JsonObject>) -> Self {
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let choices = properties.into_iter().flatten().map(|(name, schema)| {
            let mut values = Vec::new();
            collect(schema, &mut values);
            (name.clone(), values)
        });
        Self(choices.filter(|(_, values)| !values.is_empty()).collect())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of an argument that begin with what was typed so far, in whatever case.
    #[inline]
    pub(crate) fn complete(&self, argument: &str, prefix: &str) -> Completion {
        let values = self.0.iter().find(|(name, _)| name == argument);
        let prefix = prefix.to_lowercase();
        let fits = |value: &&String| value.to_lowercase().starts_with(&prefix);
        Completion::new(
            values
                .into_iter()
                .flat_map(|(_, values)| values.iter().filter(fits)),
        )
    }
}

/// The strings that a schema lists: `enum`, `const`, and those of its alternatives.
#[inline]
fn collect(schema: &Value, values: &mut Vec<String>) {
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().chain(schema.get("const"));
    values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
    for key in ["oneOf", "anyOf"] {
        let alternatives = schema.get(key).and_then(Value::as_array);
        for alternative in alternatives.into_iter().flatten() {
            collect(alternative, values);
        }
    }
}
