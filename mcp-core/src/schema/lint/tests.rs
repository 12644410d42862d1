//! Lints of tools.

use mcp_types::Tool;
use serde_json::{Value, json};

use super::{Severity, lint};

/// Returns the location, the severity and the start of the clients of each lint.
fn lints_of(tool: &Tool) -> Vec<(String, Severity, &'static str)> {
    let lints = lint(tool).into_iter();
    lints
        .map(|lint| {
            let first = lint.clients.split([' ', ',']).next().unwrap_or_default();
            (lint.location, lint.severity, first)
        })
        .collect()
}

fn with_schema(schema: Value) -> Tool {
    Tool::raw("t", serde_json::from_value(schema).unwrap())
}

fn with_property(schema: Value) -> Tool {
    with_schema(json!({"type": "object", "properties": {"p": schema}}))
}

// spec: TOOL-08
#[test]
fn tool_name_that_clients_refuse_is_a_lint() {
    let long = "n".repeat(65);
    let longest = "n".repeat(129);
    for (name, clients) in [
        ("get_weather-2", vec![]),
        ("weather.get", vec!["Claude"]),
        ("get weather", vec!["many"]),
        ("get/weather", vec!["many"]),
        ("h\u{f6}he", vec!["many"]),
        ("", vec!["many"]),
        (&*long, vec!["Claude"]),
        (&*longest, vec!["many", "Claude"]),
    ] {
        let told = lints_of(&Tool::new(name));
        let concerned: Vec<_> = told.iter().map(|(_, _, first)| *first).collect();
        assert_eq!(concerned, clients, "{name}");
        assert!(
            told.iter()
                .all(|it| it.0 == "name" && it.1 == Severity::Warning)
        );
    }
}

#[test]
fn schema_that_clients_refuse_is_a_lint() {
    use Severity::{Note, Warning};
    let root = || "inputSchema".to_owned();
    let property = || "inputSchema/properties/p".to_owned();
    for (tool, expected) in [
        (
            with_schema(json!({"type": "object", "properties": {}})),
            vec![],
        ),
        (
            with_schema(json!({"type": "object"})),
            vec![(root(), Note, "OpenAI")],
        ),
        (
            with_schema(json!({"properties": {}})),
            vec![(root(), Warning, "clients")],
        ),
        (
            with_schema(json!({"type": "object", "properties": {}, "anyOf": [{"required": []}]})),
            vec![(root(), Warning, "Claude")],
        ),
        (
            with_schema(
                json!({"type": "object", "properties": {}, "$schema": "http://json-schema.org/draft-07/schema#"}),
            ),
            vec![(root(), Warning, "Claude")],
        ),
        (
            with_schema(json!({"type": "object", "properties": {}, "required": null})),
            vec![(root(), Warning, "Claude")],
        ),
        (
            with_property(json!({"$ref": "#/$defs/x"})),
            vec![(property(), Warning, "Claude")],
        ),
        (
            with_property(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            vec![],
        ),
        (
            with_property(json!({"type": ["string", "null"]})),
            vec![(property(), Note, "Gemini")],
        ),
        (
            with_property(json!({"type": "integer", "format": "uint32"})),
            vec![(property(), Note, "clients")],
        ),
        (
            with_property(json!({"type": "string", "format": "date-time"})),
            vec![],
        ),
        (
            with_property(json!({"type": "array", "items": {"enum": null}})),
            vec![(format!("{}/items", property()), Warning, "Claude")],
        ),
        (
            with_property(json!({"type": "string", "x-mcp-header": "Api-Key"})),
            vec![(property(), Warning, "proxies")],
        ),
        (
            with_property(json!({"type": "string", "x-mcp-header": "Region"})),
            vec![],
        ),
        (
            Tool::new("t").output_schema(
                serde_json::from_value::<mcp_types::JsonObject>(json!({"type": "array"})).unwrap(),
            ),
            vec![("outputSchema".to_owned(), Note, "clients")],
        ),
    ] {
        assert_eq!(lints_of(&tool), expected, "{:?}", tool.input_schema);
    }
}

#[test]
fn repeated_lint_is_reported_once_with_its_fix() {
    let reference = json!({"$ref": "#/$defs/x"});
    let schema = json!({"type": "object", "properties": {"p": reference, "q": reference}});
    let lints = lint(&with_schema(schema));
    let [only] = &lints[..] else {
        panic!("{lints:?}")
    };
    assert_eq!(
        only.to_string(),
        "the tool `t`, inputSchema/properties/p: Claude Code, LM Studio and Copilot lose tools whose \
         schema has a `$ref`, or what it refers to; write the schema in place"
    );
}
