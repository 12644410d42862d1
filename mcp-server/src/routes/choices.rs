//! Completion of arguments whose schema lists values: those whose type is an enum.

use mcp_schema::{Keywords as _, Node};
use mcp_types::Completion;
use serde_json::Value;

use crate::schema::InputSchema;

/// The listed values of arguments, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choices(Vec<(String, Vec<String>)>);

impl Choices {
    pub(super) fn from_schema(schema: Option<&InputSchema>) -> Self {
        let schema = schema.and_then(|schema| schema.parsed().ok()).into_iter();
        let properties = schema.flat_map(|schema| schema.root().properties());
        let choices = properties.map(|(name, schema)| {
            let mut values = Vec::new();
            collect_values(schema, &mut values);
            (name.to_owned(), values)
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
fn collect_values(schema: Node<'_>, values: &mut Vec<String>) {
    let listed = schema.listed().into_iter().flatten();
    values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
    for alternative in schema.alternatives() {
        collect_values(alternative, values);
    }
}
