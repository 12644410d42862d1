//! `#[derive(Output)]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use mcp_core::{ClientContext, Exchange, Reply, ResultBody};
use mcp_macros::{Output, server};
use mcp_server::{ContentBlock, Json, Server, ToolError};
use mcp_types::ProtocolVersion;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::kit::{call, call_error, call_with, server, tool};

/// A sum.
#[derive(Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
struct Sum {
    /// all together
    total: f64,
}

#[derive(Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
#[schemars(title = "Article")]
struct Article {
    name: String,
}

#[derive(Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
struct Page<T> {
    items: Vec<T>,
}

struct Desk;

#[server(crate = mcp_server)]
impl Desk {
    #[tool]
    fn sum(&self, a: f64, b: f64) -> Sum {
        Sum { total: a + b }
    }

    #[tool]
    async fn json(&self) -> Json<Sum> {
        Json(Sum { total: 1.0 })
    }

    #[tool]
    async fn page(&self) -> Result<Page<Sum>, ToolError> {
        Ok(Page { items: Vec::new() })
    }

    #[tool]
    fn sums(&self, count: u8) -> Vec<Sum> {
        (0..count).map(|n| Sum { total: n.into() }).collect()
    }

    #[tool]
    fn articles(&self) -> Vec<Article> {
        Vec::new()
    }

    #[tool]
    fn article_page(&self) -> Page<Article> {
        Page { items: Vec::new() }
    }

    #[tool]
    fn maybe(&self, some: bool) -> Option<Sum> {
        some.then_some(Sum { total: 1.0 })
    }

    #[tool]
    fn texts(&self) -> Vec<&'static str> {
        vec!["a", "b"]
    }

    #[tool]
    fn maybe_text(&self) -> Option<String> {
        None
    }

    #[tool]
    fn shown(&self) -> (String, Sum, Vec<ContentBlock>) {
        let picture = ContentBlock::image(vec![1], "image/png");
        ("the sum".to_owned(), Sum { total: 1.0 }, vec![picture])
    }

    #[tool]
    fn both(&self) -> Result<(Sum, Option<Sum>), ToolError> {
        Ok((Sum { total: 1.0 }, None))
    }

    #[tool]
    fn count(&self) -> u8 {
        5
    }

    #[tool]
    fn half(&self, of: f64) -> Result<f64, ToolError> {
        Ok(of / 2.0)
    }

    #[tool]
    fn undefined(&self) -> f64 {
        f64::NAN
    }

    #[tool]
    fn undefined_field(&self) -> Sum {
        Sum { total: f64::NAN }
    }

    #[tool]
    fn undefined_number(&self) -> Vec<Option<f32>> {
        vec![Some(1.0), Some(f32::INFINITY)]
    }

    #[tool]
    fn undefined_element(&self) -> Vec<Page<Sum>> {
        let items = vec![Sum { total: f64::NAN }];
        vec![Page { items: Vec::new() }, Page { items }]
    }

    #[tool]
    fn undefined_value(&self) -> Json<BTreeMap<&'static str, f64>> {
        Json(BTreeMap::from([("low", 1.0), ("high", f64::INFINITY)]))
    }

    #[tool]
    fn is_open(&self) -> bool {
        true
    }

    #[tool]
    fn numbers(&self, count: u8) -> Vec<f32> {
        (0..count).map(f32::from).collect()
    }

    #[tool]
    fn maybe_number(&self) -> Option<i64> {
        None
    }

    #[tool]
    fn counted(&self) -> (u8, String) {
        (2, "two".to_owned())
    }

    #[tool]
    fn value(&self) -> Value {
        json!([1, {"a": null}])
    }
}

/// Returns the structured content, the text and the output schema of a call.
fn result(name: &str, arguments: &str) -> (Option<Value>, String, Option<Value>) {
    let server = server(Desk);
    let result = call(&server, name, arguments);
    let schema = tool(&server, name).output_schema;
    let schema = schema.map(|schema| Value::Object((*schema).clone()));
    (result.structured(), result.text(), schema)
}

#[test]
fn structured_value_list_becomes_an_array() {
    let (structured, text, schema) = result("sums", r#"{"count": 2}"#);
    assert_eq!(structured, Some(json!([{"total": 0.0}, {"total": 1.0}])));
    assert_eq!(text, r#"[{"total":0.0},{"total":1.0}]"#);
    let schema = schema.unwrap();
    assert_eq!(schema["type"], "array");
    assert_eq!(schema["items"]["required"], json!(["total"]));
    let (structured, text, _) = result("sums", r#"{"count": 0}"#);
    assert_eq!((structured, &*text), (Some(json!([])), "[]"));
}

#[test]
fn title_of_list_items_is_published() {
    let item = result("articles", "{}").2.unwrap()["items"].clone();
    assert_eq!(item["title"], "Article");
    let schema = result("article_page", "{}").2.unwrap();
    assert_eq!(schema["properties"]["items"]["items"]["title"], "Article");
    // The name that each root schema gets by itself.
    assert_eq!(schema["title"], Value::Null);
    assert_eq!(
        result("sums", r#"{"count": 1}"#).2.unwrap()["items"]["title"],
        Value::Null
    );
}

#[test]
fn optional_structured_value_becomes_value_or_null() {
    let (structured, text, schema) = result("maybe", r#"{"some": true}"#);
    assert_eq!(structured, Some(json!({"total": 1.0})));
    assert_eq!(text, r#"{"total":1.0}"#);
    assert_eq!(schema.unwrap()["anyOf"][1], json!({"type": "null"}));
    let (structured, text, _) = result("maybe", r#"{"some": false}"#);
    assert_eq!((structured, &*text), (Some(Value::Null), "null"));
}

#[test]
fn text_lists_and_options_become_content() {
    assert_eq!(result("texts", "{}"), (None, "a\nb".to_owned(), None));
    assert_eq!(result("maybe_text", "{}"), (None, String::new(), None));
}

// spec: TOOL-14, TOOL-18
#[test]
fn numbers_and_bools_are_structured_and_keep_their_text() {
    let number = || json!({"type": "number"});
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    for (name, arguments, structured, text, schema) in [
        ("count", "{}", json!(5), "5", byte),
        ("half", r#"{"of": 6}"#, json!(3.0), "3", number()),
        (
            "is_open",
            "{}",
            json!(true),
            "true",
            json!({"type": "boolean"}),
        ),
        (
            "numbers",
            r#"{"count": 2}"#,
            json!([0.0, 1.0]),
            "0\n1",
            json!({"type": "array", "items": number()}),
        ),
        (
            "numbers",
            r#"{"count": 0}"#,
            json!([]),
            "",
            json!({"type": "array", "items": number()}),
        ),
        (
            "maybe_number",
            "{}",
            Value::Null,
            "null",
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ),
    ] {
        let expected = (Some(structured), text.to_owned(), Some(schema));
        assert_eq!(result(name, arguments), expected, "{name}");
    }
    // A text is not hidden by a number.
    assert_eq!(result("counted", "{}"), (None, "2\ntwo".to_owned(), None));
}

#[test]
fn number_that_json_cannot_contain_is_an_error() {
    // Also when messages of errors are hidden.
    for server in [server(Desk), server(Desk).mask_errors()] {
        for (tool, expected) in [
            ("undefined", "expected a finite number, got NaN"),
            (
                "undefined_field",
                "`total`: expected a finite number, got NaN",
            ),
            (
                "undefined_number",
                "element 1: expected a finite number, got inf",
            ),
            (
                "undefined_element",
                "element 1: `items[0].total`: expected a finite number, got NaN",
            ),
            (
                "undefined_value",
                "`high`: expected a finite number, got inf",
            ),
        ] {
            let error = call_error(&server, tool, "{}");
            assert_eq!(error, format!("the result is not JSON: {expected}"));
        }
    }
}

#[test]
fn tuple_concatenates_content_and_keeps_structured_content() {
    let (structured, text, schema) = result("shown", "{}");
    assert_eq!(structured, Some(json!({"total": 1.0})));
    assert_eq!(text, "the sum\n{\"total\":1.0}");
    assert_eq!(schema.unwrap()["required"], json!(["total"]));
    let (structured, _, schema) = result("both", "{}");
    assert_eq!(structured, Some(json!([{"total": 1.0}, null])));
    assert_eq!(schema.unwrap()["minItems"], 2);
    assert_eq!(call(&server(Desk), "shown", "{}").content.len(), 3);
}

#[test]
fn structured_only_policy_omits_repeated_text() {
    let server = server(Server::of(Desk).structured_only());
    let result = call(&server, "json", "{}");
    assert_eq!(result.structured(), Some(json!({"total": 1.0})));
    assert!(result.content.is_empty());
    assert_eq!(call(&server, "shown", "{}").content.len(), 3);
    let old = |call| {
        let facts = ClientContext::new(ProtocolVersion::V2025_03_26);
        Exchange::new(call, Arc::new(facts))
    };
    let Reply::Complete { body, .. } = call_with(&server, "json", old, "{}") else {
        panic!("no result")
    };
    let ResultBody::CallTool(result) = body else {
        panic!("no result of a tool")
    };
    assert_eq!(result.text(), r#"{"total":1.0}"#);
}

#[test]
fn json_value_is_structured_content_without_schema() {
    let (structured, text, schema) = result("value", "{}");
    assert_eq!(structured, Some(json!([1, {"a": null}])));
    assert_eq!(text, r#"[1,{"a":null}]"#);
    assert_eq!(schema, None);
}

#[test]
fn derived_output_has_structured_content_schema_and_text() {
    let server = server(Desk);
    let result = call(&server, "sum", r#"{"a": 1, "b": 2}"#);
    assert_eq!(
        result.structured_content.as_ref().unwrap().get(),
        r#"{"total":3.0}"#
    );
    assert_eq!(result.text(), r#"{"total":3.0}"#);
    let schema = tool(&server, "sum").output_schema.unwrap();
    expect![[r#"
        {
          "type": "object",
          "properties": {
            "total": {
              "type": "number",
              "description": "all together"
            }
          },
          "required": [
            "total"
          ],
          "description": "A sum."
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&*schema).unwrap());
    assert_eq!(tool(&server, "json").output_schema.unwrap(), schema);
}

#[test]
fn generic_type_derives_output() {
    let server = server(Desk);
    assert_eq!(call(&server, "page", "{}").text(), r#"{"items":[]}"#);
    let schema = Value::Object((*tool(&server, "page").output_schema.unwrap()).clone());
    assert_eq!(
        schema["properties"]["items"]["items"]["required"][0],
        "total"
    );
}
