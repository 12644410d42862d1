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
async fn weak_matches_have_a_mark() {
    let weak = parsed(&search(json!({"queries": "order a pizza"})).await);
    assert!(weak["tools"].as_array().unwrap().len() <= 3, "{weak}");
    let hint = weak["hint"].as_str().unwrap();
    assert!(
        hint.contains("may not have this") && hint.contains("other words"),
        "{hint}"
    );
    let none = parsed(&search(json!({"queries": "zzzzqqqq"})).await);
    assert_eq!(none["tools"], json!([]));
    assert!(none["hint"].as_str().unwrap().contains("No tool fits"));
    let strong = parsed(&search(json!({"queries": "create a pull request"})).await);
    assert_eq!(strong.get("hint"), None);
}

#[tokio::test]
async fn required_arguments_in_a_found_tool_are_bounded() {
    let names: Vec<_> = (0..10_000)
        .map(|number| format!("{number}{}", "x".repeat(500)))
        .collect();
    let schema = json!({"type": "object", "required": names});
    let schema: mcp_types::JsonObject = serde_json::from_value(schema).unwrap();
    let tools = [Tool::new("read")
        .description("Reads a file")
        .input_schema(schema)];
    let queries = arguments(&json!({"queries": ["read a file"]}));
    let found = search_tools(&WordRanker::new(), &tools, Some(&queries)).await;
    assert!(found.text().len() < 2_000, "{}", found.text().len());
    let found = parsed(&found);
    assert_eq!(found["tools"][0]["more_required_arguments"], 9_980);
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
        (
            json!({"queries": ["a"], "limit": 21}),
            "argument `limit` must be a number from 1 to 20",
        ),
        (
            json!({"queries": ["a", "b", "c", "d", "e"]}),
            "argument `queries` must have at most 4 strings, got 5",
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
    let list: Vec<Tool> = (0..20).map(large).collect();
    let names: Vec<&str> = list.iter().map(|tool| &*tool.name).collect();
    let result = describe_tools(&list, Some(&arguments(&json!({ "names": names }))));
    assert!(result.text().len() < 210_000);
    let described = parsed(&result);
    assert_eq!(described["tools"].as_array().unwrap().len(), 6);
    assert_eq!(described["omitted_because_too_large"][0], "t6");
}

#[test]
fn definitions_are_counted_as_they_are_written() {
    // Tags, which take three times as many bytes when they are escaped.
    let hidden =
        |number: usize| Tool::new(format!("t{number}")).description("\u{e0041}".repeat(12_000));
    let list: Vec<Tool> = (0..4).map(hidden).collect();
    let names: Vec<&str> = list.iter().map(|tool| &*tool.name).collect();
    let result = describe_tools(&list, Some(&arguments(&json!({ "names": names }))));
    assert!(result.text().len() < 200_500, "{}", result.text().len());
    assert_eq!(
        parsed(&result)["tools"][0]["description"],
        list[0].description.as_deref().unwrap()
    );
}

#[tokio::test]
async fn names_in_an_answer_are_bounded() {
    let long = |number: usize| {
        Tool::new(format!("{number}{}", "x".repeat(100_000)))
            .description(format!("Reads a file {}", "y".repeat(300_000)))
    };
    let mut list: Vec<Tool> = (0..20).map(long).collect();
    let names: Vec<String> = list.iter().map(|tool| tool.name.clone()).collect();
    let unknown: Vec<String> = names.iter().map(|name| format!("u{name}")).collect();
    for names in [&names, &unknown] {
        let result = describe_tools(&list, Some(&arguments(&json!({ "names": names }))));
        assert!(result.text().len() < 20_000, "{}", result.text().len());
    }
    list.push(Tool::new("read").description("Reads a file"));
    let queries = arguments(&json!({"queries": ["read a file"]}));
    let found = search_tools(&WordRanker::new(), &list, Some(&queries)).await;
    let found = parsed(&found);
    assert_eq!(found["tools"].as_array().unwrap().len(), 1);
    assert_eq!(found["tools"][0]["name"], "read");
}

#[test]
fn names_beyond_the_schema_are_refused_before_any_work() {
    // A tool whose definition takes long to write, named as often as a request can.
    let large = Tool::new("large").description("x".repeat(4 << 20));
    let many: Vec<String> = (0..100_000).map(|number| format!("t{number}")).collect();
    let refused = describe_tools(
        std::slice::from_ref(&large),
        Some(&arguments(&json!({ "names": many }))),
    );
    assert_eq!(
        refused.text(),
        "argument `names` must have at most 20 strings, got 100000"
    );
    let repeated = vec!["large"; 100_000];
    let described = describe_tools(&[large], Some(&arguments(&json!({ "names": repeated }))));
    let described = parsed(&described);
    assert_eq!(described["omitted_because_too_large"], json!(["large"]));
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
fn definitions_for_the_three_tools_have_no_lints() {
    for tool in tools() {
        let lints = mcp_core::schema::lint(&tool);
        assert!(lints.is_empty(), "{lints:?}");
    }
}
