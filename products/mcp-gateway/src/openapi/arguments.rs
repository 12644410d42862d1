//! The argument check.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{Check, JsonSchema, Validator, Violations};
use mcp_schema::change_subschemas;
use mcp_types::{JsonObject, Tool};
use serde_json::Value;

/// Checks the arguments of a tool against its input schema. A member with the value `null` counts as absent, unless it
/// is required.
#[derive(Debug)]
pub(super) struct ArgumentCheck {
    tool: String,
    schema: Arc<JsonObject>,
    /// Compiled at the first call: most tools of large documents are never called.
    compiled: OnceLock<Option<Arc<dyn Check>>>,
}

impl ArgumentCheck {
    pub(super) fn new(tool: &Tool) -> Self {
        Self {
            tool: tool.name.clone(),
            schema: tool.input_schema.clone(),
            compiled: OnceLock::new(),
        }
    }

    /// Compiles the schema, or the types of its properties when the validator refuses it: documents have patterns
    /// with look-around, and schemas beyond the limits.
    fn compile(&self) -> Option<Arc<dyn Check>> {
        let error = match JsonSchema.compile(&self.schema) {
            Ok(check) => return Some(check),
            Err(error) => error.to_string(),
        };
        let tool = &*self.tool;
        tracing::warn!(tool, error, "only the types of its arguments are checked");
        JsonSchema.compile(&types_only(&self.schema)).ok()
    }

    fn is_required(&self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|required| required == name))
    }
}

impl Check for ArgumentCheck {
    fn check(&self, value: &Value) -> Result<(), Violations> {
        let Some(check) = self.compiled.get_or_init(|| self.compile()) else {
            return Err(Violations::unchecked(
                "the schema of the tool cannot be checked",
            ));
        };
        let mut value = Cow::Borrowed(value);
        let has_null = |members: &JsonObject| members.values().any(Value::is_null);
        if value.as_object().is_some_and(has_null)
            && let Some(members) = value.to_mut().as_object_mut()
        {
            members.retain(|name, value| !value.is_null() || self.is_required(name));
        }
        check.check(&value)
    }
}

/// Returns the schema of the same properties that restricts their types only.
fn types_only(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    schema.retain(|keyword, _| ["type", "properties", "required"].contains(&&**keyword));
    change_subschemas(&mut schema, |property| {
        property.retain(|keyword, _| keyword == "type");
    });
    schema
}

#[cfg(test)]
mod tests {
    use mcp_core::schema::Check as _;
    use mcp_types::{JsonObject, Tool};
    use serde_json::{Value, json};

    use super::ArgumentCheck;

    fn check(properties: Value, arguments: Value) -> bool {
        let schema = json!({"type": "object", "properties": properties, "required": ["a"]});
        let tool =
            Tool::new("t").input_schema(serde_json::from_value::<JsonObject>(schema).unwrap());
        ArgumentCheck::new(&tool).check(&arguments).is_ok()
    }

    #[test]
    fn null_is_like_an_absent_argument() {
        let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
        assert!(check(properties.clone(), json!({"a": "x", "b": null})));
        assert!(!check(properties.clone(), json!({"a": null})));
        assert!(!check(properties, json!({"a": "x", "b": 1})));
    }

    #[test]
    fn types_are_checked_when_the_schema_cannot_be() {
        let properties = json!({
            "a": {"type": "string", "pattern": "^(?=x)"}, "b": {"$ref": "#/$defs/none"},
        });
        assert!(check(properties.clone(), json!({"a": "y", "b": 1})));
        assert!(!check(properties.clone(), json!({"a": 1})));
        assert!(!check(properties, json!({"b": 1})));
    }
}
