//! `#[derive(Output)]`.

use expect_test::expect;
use mcp_macros::{Output, server};
use mcp_server::{Json, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::kit::{call, server, tool};

/// A sum.
#[derive(Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
struct Sum {
    /// all together
    total: f64,
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
