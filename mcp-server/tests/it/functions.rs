//! Free functions as routes.

use mcp_macros::{completion, prompt, resource, tool};
use mcp_server::{CallToolResult, Json, NotFound, Progress, Server, State, ToolError, routes};
use mcp_types::CompletionReference;
use serde_json::json;

use crate::kit::{
    call_error, call_text, complete, get_text, input, read_text, server, tool, tools,
};

#[derive(Clone)]
struct Greeting(&'static str);

/// Add two numbers.
#[tool(crate = mcp_server, read_only)]
fn add(
    /// first addend
    a: f64,
    #[arg(default = 1.0)] b: f64,
) -> f64 {
    a + b
}

#[tool(crate = mcp_server, name = "greet")]
async fn hello(
    State(greeting): State<Greeting>,
    name: String,
    progress: Progress,
) -> Result<String, ToolError> {
    progress.report(1.0, 1.0, "").await;
    if name.is_empty() {
        Err(ToolError::new("no name"))
    } else {
        Ok(format!("{} {name}", greeting.0))
    }
}

/// A parameter may have the name of the function.
#[tool(crate = mcp_server)]
async fn echo(mut echo: String) -> String {
    echo.push('!');
    echo
}

#[resource("notes://help", crate = mcp_server)]
fn help() -> &'static str {
    "Write notes."
}

#[resource("notes://{id}", crate = mcp_server)]
async fn note(id: u8) -> Result<Json<u8>, NotFound> {
    if id < 100 {
        Ok(Json(id))
    } else {
        Err(NotFound)
    }
}

/// Review a file.
#[prompt(crate = mcp_server)]
fn review(file: String, lines: Option<u8>) -> String {
    format!("Review {file} {lines:?}.")
}

#[completion(prompt = "review", argument = "file", crate = mcp_server)]
fn files(prefix: &str) -> Vec<String> {
    vec![format!("{prefix}.rs")]
}

#[test]
fn function_serves_as_a_route() {
    let server = server(
        Server::new("s", "1")
            .tool(add)
            .tool(hello)
            .tool(echo)
            .resource(help)
            .template(note)
            .prompt(review)
            .completion(files)
            .state(Greeting("Hello")),
    );
    assert_eq!(call_text(&server, "add", r#"{"a": 1, "b": 2}"#), "3");
    assert_eq!(
        call_text(&server, "greet", r#"{"name": "Ada"}"#),
        "Hello Ada"
    );
    assert_eq!(call_error(&server, "greet", r#"{"name": ""}"#), "no name");
    assert_eq!(call_text(&server, "echo", r#"{"echo": "x"}"#), "x!");
    assert_eq!(read_text(&server, "notes://help"), "Write notes.");
    assert_eq!(read_text(&server, "notes://7"), "7");
    assert_eq!(
        get_text(&server, "review", r#"{"file": "a"}"#),
        "user: Review a None."
    );
    let reference = CompletionReference::prompt("review");
    assert_eq!(complete(&server, reference, "file", "a").values, ["a.rs"]);
}

#[test]
fn function_has_description_and_schema() {
    let server = server(Server::new("s", "1").tool(add));
    let listed = tool(&server, "add");
    assert_eq!(listed.description.as_deref(), Some("Add two numbers."));
    assert_eq!(listed.annotations.unwrap().read_only_hint, Some(true));
    assert_eq!(
        input(&server, "add")["properties"]["a"],
        json!({"type": "number", "description": "first addend"})
    );
}

#[test]
fn routes_macro_mixes_functions_and_routes() {
    let more = routes![echo];
    let all = routes![add, help, note, review, files, more];
    let server = server(Server::new("s", "1").merge(all).nest("more", routes![add]));
    let names: Vec<_> = tools(&server).into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["add", "echo", "more_add"]);
}

#[tokio::test]
async fn function_is_called_directly() {
    assert_eq!(add(1.0, 2.0).to_string(), "3");
    assert_eq!(echo("x".to_owned()).await, "x!");
    assert_eq!(files("a"), ["a.rs"]);
    // In another task: the future is `Send`.
    let call = tokio::spawn(async { note(7).await.map(|Json(id)| id) });
    assert_eq!(call.await.unwrap(), Ok(7));
}

#[test]
fn handle_adds_function_to_running_server() {
    let server = Server::new("s", "1").tool(echo);
    let handle = server.tools();
    handle.add(add).unwrap();
    assert_eq!(handle.put(add).unwrap().unwrap().tool().name, "add");
    assert_eq!(call_text(&server, "add", r#"{"a": 1}"#), "2");
}

#[test]
fn function_in_function_is_route() {
    /// A local tool.
    #[tool(crate = mcp_server)]
    fn local() -> CallToolResult {
        CallToolResult::from_text("here")
    }

    let server = server(Server::new("s", "1").tool(local));
    assert_eq!(call_text(&server, "local", "{}"), "here");
    assert_eq!(local().text(), "here");
}
