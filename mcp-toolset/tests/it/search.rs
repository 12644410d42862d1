//! The three tools over a list.

use mcp_toolset::WordRanker;
use mcp_toolset::search::{describe_tools, inner_call, search_tools, tools};
use mcp_types::{CallToolResult, RawObject, Tool};
use serde_json::{Value, json};

use crate::kit;

fn arguments(value: &Value) -> RawObject {
    RawObject::from_value(value).unwrap()
}

fn parsed(result: &CallToolResult) -> Value {
    assert!(!result.is_error(), "{}", result.text());
    serde_json::from_str(&result.text()).unwrap()
}

async fn search(value: Value) -> CallToolResult {
    search_tools(&WordRanker::new(), &kit::tools(), Some(&arguments(&value))).await
}

#[tokio::test]
async fn found_tools_have_a_line_and_required_arguments() {
    let found = parsed(&search(json!({"queries": ["create a pull request"], "limit": 2})).await);
    assert_eq!(found["tools"].as_array().unwrap().len(), 2);
    assert_eq!(
        found["tools"][0],
        json!({
            "name": "github__create_pull_request",
            "description": "Create a new pull request in a GitHub repository",
            "required_arguments": ["owner", "repo", "title", "head", "base"],
        })
    );
}

#[tokio::test]
async fn task_without_a_tool_has_an_empty_list_and_a_hint() {
    let found = parsed(&search(json!({"queries": "order a pizza"})).await);
    assert_eq!(found["tools"], json!([]));
    assert!(found["hint"].as_str().unwrap().contains("other words"));
}

#[tokio::test]
async fn mistakes_in_arguments_name_the_argument() {
    for (value, expected) in [
        (json!({}), "argument `queries` must be a list of strings"),
        (
            json!({"queries": []}),
            "argument `queries` must be a list of strings",
        ),
        (
            json!({"queries": [1]}),
            "argument `queries` must be a list of strings",
        ),
        (
            json!({"queries": ["a"], "limit": "x"}),
            "argument `limit` must be a number from 1 to 20",
        ),
    ] {
        let refused = search(value).await;
        assert!(refused.is_error());
        assert_eq!(refused.text(), expected);
    }
    let refused = search_tools(&WordRanker::new(), &[], None).await;
    assert!(refused.is_error());
}

#[test]
fn definitions_are_complete_and_unknown_names_are_named() {
    let names = json!({"names": ["slack__slack_post_message", "slack__nothing"]});
    let described = parsed(&describe_tools(&kit::tools(), Some(&arguments(&names))));
    let tool = &described["tools"][0];
    assert_eq!(
        tool["inputSchema"]["required"],
        json!(["channel_id", "text"])
    );
    assert_eq!(described["unknown"], json!(["slack__nothing"]));
    let unknown = json!({"names": ["nothing"]});
    let refused = describe_tools(&kit::tools(), Some(&arguments(&unknown)));
    assert!(refused.is_error());
    assert_eq!(
        refused.text(),
        "no tool is named \"nothing\"; use search_tools to find the name"
    );
}

#[test]
fn definitions_are_bounded() {
    let large = |number: usize| Tool::new(format!("t{number}")).description("x".repeat(30_000));
    let list: Vec<Tool> = (0..30).map(large).collect();
    let names: Vec<&str> = list.iter().map(|tool| &*tool.name).collect();
    let result = describe_tools(&list, Some(&arguments(&json!({ "names": names }))));
    assert!(result.text().len() < 210_000);
    let described = parsed(&result);
    assert_eq!(described["tools"].as_array().unwrap().len(), 6);
    assert_eq!(described["omitted_because_too_large"][0], "t6");
}

#[test]
fn inner_calls_are_read() {
    let inner = inner_call(Some(&arguments(
        &json!({"name": "a", "arguments": {"n": 12345678901234567890_u64}}),
    )))
    .unwrap();
    assert_eq!(inner.name, "a");
    assert_eq!(
        inner.arguments.unwrap().as_str(),
        r#"{"n":12345678901234567890}"#
    );
    let in_string = json!({"name": "a", "arguments": "{\"n\": 1}"});
    let inner = inner_call(Some(&arguments(&in_string))).unwrap();
    assert_eq!(inner.arguments.unwrap().as_str(), "{\"n\": 1}");
    let none = json!({"name": "a"});
    assert!(
        inner_call(Some(&arguments(&none)))
            .unwrap()
            .arguments
            .is_none()
    );
    for (value, expected) in [
        (json!({}), "argument `name` must be the name of a tool"),
        (
            json!({"name": 1}),
            "argument `name` must be the name of a tool",
        ),
        (
            json!({"name": "a", "arguments": [1]}),
            "argument `arguments` must be an object",
        ),
    ] {
        assert_eq!(inner_call(Some(&arguments(&value))).unwrap_err(), expected);
    }
    assert!(inner_call(None).is_err());
}

#[test]
fn definitions_of_the_three_tools_have_no_lints() {
    for tool in tools() {
        let lints = mcp_core::schema::lint(&tool);
        assert!(lints.is_empty(), "{lints:?}");
    }
}
