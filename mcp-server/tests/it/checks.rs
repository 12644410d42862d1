//! Checks of arguments against their schemas, lenient conversion, lints.

use std::collections::HashSet;
use std::sync::Arc;

use mcp_core::schema::{Check, Severity, Violations};
use mcp_macros::server;
use mcp_server::{Args, IntoServer, RawArgs, Routes, Server, Tool, ToolExt};
use mcp_types::JsonObject;
use schemars::JsonSchema as Described;
use serde::Deserialize;
use serde_json::{Value, json};

use tracing::Level;

use crate::kit::{call_error, call_text, server};
use crate::request_log::logged;

#[derive(Deserialize, Described)]
struct Order {
    #[schemars(length(min = 1, max = 8), regex(pattern = "^[A-Z]+$"))]
    article: String,
    #[schemars(range(min = 1, max = 10))]
    count: u32,
    tags: HashSet<String>,
    note: Option<String>,
    #[serde(default)]
    lines: Vec<Line>,
}

#[derive(Deserialize, Described)]
struct Line {
    #[schemars(range(min = 0))]
    price: f64,
}

struct Shop;

#[server(crate = mcp_server)]
impl Shop {
    #[tool]
    fn order(&self, Args(order): Args<Order>) -> String {
        let prices = order.lines.iter().fold(0.0, |sum, line| sum + line.price);
        format!(
            "{} {} {} {prices} {:?}",
            order.article,
            order.count,
            order.tags.len(),
            order.note
        )
    }
}

// spec: TOOL-20, TOOL-22
#[test]
fn violated_bounds_are_reported_together() {
    let server = server(Shop);
    let good = r#"{"article": "ABC", "count": 10, "tags": ["a"], "lines": [{"price": 0}]}"#;
    assert_eq!(call_text(&server, "order", good), "ABC 10 1 0 None");
    let bad = r#"{"article": "abc", "count": 11, "tags": ["a", "a"], "lines": [{"price": -1}]}"#;
    assert_eq!(
        call_error(&server, "order", bad),
        "invalid arguments: `article`: expected text that matches `^[A-Z]+$`, got \"abc\"; \
         `count`: 11 is out of range, expected 1 to 10; \
         `tags`: \"a\" comes twice, expected each once; \
         `lines[0].price`: -1.0 is out of range, expected at least 0"
            .replace("-1.0", "-1")
    );
    // Missing members and wrong types are reported as well.
    let text = call_error(
        &server,
        "order",
        r#"{"article": 5, "count": 1, "tags": []}"#,
    );
    assert_eq!(
        text,
        "invalid arguments: `article`: expected a string, got a number"
    );
}

#[test]
fn lenient_server_converts_string_arguments() {
    let spoken = r#"{"article": "ABC", "count": "5", "tags": "[\"a\"]", "note": "5"}"#;
    assert!(call_error(&server(Shop), "order", spoken).contains("`count`"));
    let lenient = server(Shop).lenient_arguments();
    assert_eq!(
        call_text(&lenient, "order", spoken),
        "ABC 5 1 0 Some(\"5\")"
    );
    let text = call_error(
        &lenient,
        "order",
        r#"{"article": "ABC", "count": "50", "tags": []}"#,
    );
    assert!(text.contains("`count`: 50 is out of range"), "{text}");
}

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

fn contact() -> Routes {
    let schema = json!({
        "type": "object",
        "properties": {"phone": {"type": "string"}, "email": {"type": "string", "minLength": 3}},
        "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
        "additionalProperties": false,
    });
    let tool = Tool::new("contact").input_schema(object(schema));
    Routes::new().tool(tool.handler(|raw: RawArgs| raw.as_str().to_owned()))
}

// spec: TOOL-06
#[test]
fn raw_schema_that_is_not_an_object_is_a_setup_error() {
    for (schema, given) in [
        (json!({}), "is absent"),
        (json!({"type": "string"}), "is \"string\""),
        (
            json!({"type": ["object", "null"]}),
            "is [\"object\",\"null\"]",
        ),
    ] {
        let tool = || {
            Tool::new("t")
                .input_schema(object(schema.clone()))
                .handler(|| "x")
        };
        let error = Server::new("s", "1").tool(tool()).check().unwrap_err();
        assert_eq!(
            error.problems(),
            [format!(
                "the tool `t`: its input schema: `type` {given}, and clients refuse a list with such a \
                 tool; arguments are an object, so add `\"type\": \"object\"`"
            )]
        );
        let server = Server::new("s", "1");
        assert!(server.tools().add(tool()).is_err());
        // A gateway does not refuse the tools of its servers.
        assert_eq!(server.tool(tool().forwarded()).check(), Ok(()));
    }
}

// spec: TOOL-08
#[test]
fn lints_name_tools_that_clients_refuse() {
    assert_eq!(
        server(Shop)
            .lints()
            .iter()
            .filter(|lint| lint.severity == Severity::Warning)
            .count(),
        0
    );
    let tools = contact().tool(Tool::new("a.b").handler(|raw: RawArgs| raw.as_str().to_owned()));
    let sorted_lints = |server: Server| -> Vec<_> {
        let lints = server.lints().into_iter();
        lints
            .filter(|lint| lint.severity == Severity::Warning)
            .map(|lint| (lint.tool, lint.clients))
            .collect()
    };
    let expected = [
        ("contact".to_owned(), "Claude and OpenAI models"),
        ("contact".to_owned(), "every client"),
        (
            "a.b".to_owned(),
            "Claude Desktop, Copilot, Cursor and Codex",
        ),
    ];
    let server = Server::new("s", "1").merge(tools);
    assert_eq!(sorted_lints(server), expected);
}

#[test]
fn lints_are_logged_once_and_for_added_tools() {
    let tool = |name: &str| Tool::new(name).handler(|| "x");
    let server = Server::new("s", "1").tool(tool("a.b"));
    let tools = server.tools();
    let text = logged(Level::WARN, || {
        tools.add(tool("a.a")).unwrap();
        tools.add(tool("b.b").forwarded()).unwrap();
        server.check().unwrap();
        server.check().unwrap();
        tools.add(tool("c.d")).unwrap();
        tools.add(tool("plain")).unwrap();
        tools.add(tool("e.f").forwarded()).unwrap();
    });
    let lines: Vec<_> = text.lines().collect();
    let [first, early, second] = &lines[..] else {
        panic!("{text}")
    };
    assert!(early.starts_with("WARN the tool `a.a`"), "{early}");
    assert!(
        first.starts_with("WARN the tool `a.b`, name: Claude"),
        "{first}"
    );
    assert!(
        second.starts_with("WARN the tool `c.d`, name: Claude"),
        "{second}"
    );
}

/// A schema with `count` properties.
fn with_properties(count: usize) -> JsonObject {
    let properties = (0..count).map(|n| (format!("p{n}"), json!({"maxLength": 1})));
    let properties: JsonObject = properties.collect();
    let schema = json!({"type": "object", "properties": properties});
    schema.as_object().unwrap().clone()
}

/// A type with a schema that is too large to be read.
#[derive(Deserialize)]
struct Huge {}

impl Described for Huge {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Huge".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        with_properties(4096).into()
    }
}

struct Wholesale;

#[server(crate = mcp_server)]
impl Wholesale {
    #[prompt]
    fn offer(huge: Huge) -> String {
        let Huge {} = huge;
        String::new()
    }
}

/// A check of all arguments.
#[derive(Debug)]
struct Any;

impl Check for Any {
    fn check(&self, _: &Value) -> Result<(), Violations> {
        Ok(())
    }
}

// spec: TOOL-20
#[test]
fn schema_beyond_the_limits_is_a_mistake_unless_the_tool_is_forwarded() {
    let raw = |count| {
        let tool = Tool::new("raw").input_schema(with_properties(count));
        tool.handler(|RawArgs(raw): RawArgs| raw.as_str().to_owned())
    };
    let typed = Tool::new("typed").handler(|Args(Huge {}): Args<Huge>| "typed");
    let limit = "the schema is made of more than 4096 schemas; make it smaller";
    let offering = IntoServer::into_server(Wholesale);
    let error = offering.tool(raw(4096)).tool(typed).check();
    assert_eq!(
        error.unwrap_err().problems(),
        [
            format!("the tool `raw`: its input schema: {limit}, at #/properties/p4095"),
            format!(
                "the tool `typed`: the schema of its arguments: {limit}, at #/properties/p4095"
            ),
            // The property `huge` is another schema.
            format!(
                "the prompt `offer`: the schema of its arguments: {limit}, at #/properties/huge/properties/p4093"
            ),
        ]
    );
    let largest = Server::new("shop", "1.0.0").tool(raw(4095));
    assert_eq!(largest.check(), Ok(()));
    assert!(call_error(&largest, "raw", r#"{"p4094": "long"}"#).contains("expected at most 1"));

    // Such as a gateway has it: the tool's own server checks the arguments.
    let forwarded = Server::new("gateway", "1.0.0").tool(raw(4096).forwarded());
    assert_eq!(forwarded.check(), Ok(()));
    let arguments = r#"{"p1":"long"}"#;
    assert_eq!(call_text(&forwarded, "raw", arguments), arguments);
    let running = Server::new("gateway", "1.0.0");
    assert!(running.tools().add(raw(4096)).is_err());
    running.tools().add(raw(4096).forwarded()).unwrap();
    assert_eq!(call_text(&running, "raw", arguments), arguments);

    // What another check reads is checked.
    let checked = raw(4096).check_arguments_with(Arc::new(Any));
    assert_eq!(Server::new("shop", "1.0.0").tool(checked).check(), Ok(()));
}
