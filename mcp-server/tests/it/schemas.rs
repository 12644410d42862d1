//! The published input schema of plain parameters.

use expect_test::{Expect, expect};
use mcp_macros::server;
use mcp_server::{RawArgs, ToolExt as _};
use mcp_types::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kit::{input, server};

/// A place in a tree.
#[derive(Deserialize, JsonSchema)]
struct Node {
    #[expect(dead_code)]
    children: Vec<Self>,
}

/// The destination.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Env {
    Test,
    Live,
}

struct Desk;

#[server(crate = mcp_server)]
#[expect(unused_variables)]
impl Desk {
    #[tool]
    fn plain(
        &self,
        /// first addend
        a: f64,
        #[doc = "second addend"] b: u8,
        /** a note,
        in two lines */
        note: Option<String>,
    ) {
    }

    #[tool]
    fn options(
        &self,
        /// maximum number
        #[arg(default = 10, range = 1..=100)]
        limit: u32,
        #[arg(range = ..0.5, description = "a share")] share: f64,
        #[arg(default = vec!["a".to_owned()])] tags: Vec<String>,
        #[arg(header = "Region")] region: Option<String>,
        #[arg(default = Env::Test)] env: Env,
        env_2: Env,
    ) {
    }

    #[tool]
    fn recursive(
        &self,
        one: Node,
        /** another one */
        two: Node,
        any: serde_json::Value,
    ) {
    }

    #[tool]
    fn nothing(&self) {}
}

fn check(tool: &str, expected: &Expect) {
    let schema = input(&server(Desk), tool);
    expected.assert_eq(&serde_json::to_string_pretty(&schema).unwrap());
}

#[test]
fn plain_parameters_become_properties() {
    // spec: TOOL-06
    check(
        "plain",
        &expect![[r#"
            {
              "type": "object",
              "properties": {
                "a": {
                  "type": "number",
                  "description": "first addend"
                },
                "b": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 255,
                  "description": "second addend"
                },
                "note": {
                  "type": "string",
                  "description": "a note,\nin two lines"
                }
              },
              "required": [
                "a",
                "b"
              ],
              "additionalProperties": false
            }"#]],
    );
}

#[test]
fn options_for_parameters_are_published() {
    check(
        "options",
        &expect![[r#"
        {
          "type": "object",
          "properties": {
            "limit": {
              "type": "integer",
              "minimum": 1,
              "description": "maximum number",
              "maximum": 100,
              "default": 10
            },
            "share": {
              "type": "number",
              "description": "a share",
              "exclusiveMaximum": 0.5
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": [
                "a"
              ]
            },
            "region": {
              "type": "string",
              "x-mcp-header": "Region"
            },
            "env": {
              "type": "string",
              "enum": [
                "test",
                "live"
              ],
              "description": "The destination.",
              "default": "test"
            },
            "env_2": {
              "type": "string",
              "enum": [
                "test",
                "live"
              ],
              "description": "The destination."
            }
          },
          "required": [
            "share",
            "env_2"
          ],
          "additionalProperties": false
        }"#]],
    );
}

#[test]
fn recursive_type_is_published_as_definition() {
    check(
        "recursive",
        &expect![[r##"
        {
          "type": "object",
          "properties": {
            "one": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Node"
                  }
                }
              },
              "required": [
                "children"
              ],
              "description": "A place in a tree."
            },
            "two": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Node"
                  }
                }
              },
              "required": [
                "children"
              ],
              "description": "another one"
            },
            "any": {}
          },
          "required": [
            "one",
            "two",
            "any"
          ],
          "additionalProperties": false,
          "$defs": {
            "Node": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Node"
                  }
                }
              },
              "required": [
                "children"
              ],
              "description": "A place in a tree."
            }
          }
        }"##]],
    );
}

#[test]
fn tool_without_arguments_has_empty_schema() {
    check(
        "nothing",
        &expect![[r#"
        {
          "type": "object",
          "properties": {},
          "additionalProperties": false
        }"#]],
    );
}

/// The schema of a tool without arguments that another server has written stays as it is, also if it is the one that
/// tools have by default.
#[test]
fn given_schema_for_a_tool_without_arguments_stays() {
    for schema in [
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object"}),
    ] {
        let given: JsonObject = serde_json::from_value(schema.clone()).unwrap();
        let tool = Tool::new("a").input_schema(given);
        let route = tool.handler(|RawArgs(arguments): RawArgs| arguments.as_str().to_owned());
        assert_eq!(
            serde_json::to_value(&*route.tool().input_schema).unwrap(),
            schema
        );
    }
    // Without a schema, the handler's parameters decide.
    let route = Tool::new("a").handler(|RawArgs(_): RawArgs| "");
    assert_eq!(route.tool().input_schema.get("additionalProperties"), None);
}
