//! Rules about tools: their schemas, and results that do not match them.

use std::collections::HashMap;
use std::sync::Arc;

use mcp::schema::{Check, JsonSchema, Validator as _};
use mcp::types::{Method, is_tool_name};
use serde_json::Value;

use super::violations::Violations;

/// Largest number of tools whose output schemas are kept.
const MAX_TOOLS: usize = 512;

/// The output schemas that the server has listed.
#[derive(Debug, Default)]
pub(super) struct ToolRules {
    outputs: HashMap<String, Arc<dyn Check>>,
}

impl ToolRules {
    /// Checks a tool list, or a call's result.
    pub(super) fn check(
        &mut self,
        method: Method,
        tool: Option<&str>,
        result: &Value,
        violations: &mut Violations,
    ) {
        match method {
            Method::ListTools => self.check_list(result, violations),
            Method::CallTool => self.check_call(tool.unwrap_or_default(), result, violations),
            _ => {}
        }
    }

    fn check_list(&mut self, result: &Value, violations: &mut Violations) {
        let tools = result["tools"].as_array().into_iter().flatten();
        for tool in tools.take(MAX_TOOLS) {
            let name = tool["name"].as_str().unwrap_or_default();
            if tool["inputSchema"]["type"] != "object" {
                let text = format!("the input schema of {name:?} has no `\"type\": \"object\"`");
                violations.add("TOOL-06", text);
            }
            // spec: TOOL-08
            if !is_tool_name(name) {
                violations.add("TOOL-08", format!("{name:?} is not a tool name"));
            }
            self.outputs.remove(name);
            let Some(schema) = tool["outputSchema"].as_object() else {
                continue;
            };
            match JsonSchema.compile(schema) {
                Ok(check) if self.outputs.len() < MAX_TOOLS => {
                    self.outputs.insert(name.to_owned(), check);
                }
                Ok(_) => {}
                Err(error) => {
                    let text = format!("the output schema of {name:?}: {error}");
                    violations.add("schema", text);
                }
            }
        }
    }

    // spec: TOOL-16
    fn check_call(&self, tool: &str, result: &Value, violations: &mut Violations) {
        let Some(check) = self.outputs.get(tool) else {
            return;
        };
        if result["isError"] == true {
            return;
        }
        match result.get("structuredContent") {
            None => violations.add(
                "TOOL-16",
                "the tool has an output schema, and the result no `structuredContent`",
            ),
            Some(content) => {
                if let Err(wrong) = check.check(content) {
                    violations.add("TOOL-16", format!("`structuredContent`: {wrong}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp::types::Method;
    use serde_json::{Value, json};

    use super::ToolRules;
    use crate::inspect::violations::Violations;

    fn found(tools: &mut ToolRules, method: Method, result: &Value) -> Value {
        let mut violations = Violations::default();
        tools.check(method, Some("sum"), result, &mut violations);
        violations.into_json()
    }

    // spec: TOOL-16
    #[test]
    fn result_that_does_not_match_the_output_schema_is_found() {
        let mut tools = ToolRules::default();
        let output =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let list = json!({"tools": [
            {"name": "sum", "inputSchema": {"type": "object"}, "outputSchema": output},
            {"name": "a b", "inputSchema": {}},
        ]});
        let listed = found(&mut tools, Method::ListTools, &list);
        let rules: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|violation| &violation["rule"])
            .collect();
        assert_eq!(rules, ["TOOL-06", "TOOL-08"]);
        for (result, is_wrong) in [
            (json!({"structuredContent": {"n": 1}}), false),
            (json!({"structuredContent": {"n": "1"}}), true),
            (json!({"structuredContent": {}}), true),
            (json!({}), true),
            (json!({"isError": true}), false),
        ] {
            let violations = found(&mut tools, Method::CallTool, &result);
            assert_eq!(violations[0]["rule"] == "TOOL-16", is_wrong, "{violations}");
        }
    }
}
