//! Strings of any length as an argument, as a member of arguments, and as a result.

use mcp_macros::server;
use mcp_server::{Args, ContentBlock, Server, Tool, ToolError, ToolExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{call, call_error, call_text, get_text, input, server};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Change {
    file: String,
    #[serde(default)]
    notes: Vec<String>,
}

struct Editor;

#[server(crate = mcp_server)]
impl Editor {
    #[tool]
    fn echo(&self, text: String) -> String {
        text
    }

    #[tool]
    async fn count(&self, text: Option<String>, #[arg(default = "none")] end: String) -> String {
        format!("{} {end}", text.map_or(0, |text| text.len()))
    }

    #[tool]
    fn change(&self, Args(change): Args<Change>) -> Result<Vec<ContentBlock>, ToolError> {
        if change.file.is_empty() {
            return Err(ToolError::new("there is no file"));
        }
        let notes = change.notes.into_iter().map(ContentBlock::text);
        Ok(std::iter::once(change.file.into()).chain(notes).collect())
    }

    #[prompt]
    fn review(&self, file: String) -> String {
        file
    }
}

/// Returns short and long strings, with and without escapes in their JSON.
fn texts() -> [String; 4] {
    let long = |part: &str| part.repeat(10_000);
    [
        "short \"one\"".to_owned(),
        long("x"),
        long("é"),
        long("\\\n"),
    ]
}

#[test]
fn string_argument_is_returned_unchanged() {
    let server = server(Editor);
    for text in texts() {
        let arguments = json!({"text": text}).to_string();
        assert!(call_text(&server, "echo", &arguments) == text);
        let result = call(&server, "echo", &arguments);
        let written = serde_json::to_value(&result).unwrap();
        assert!(written["content"] == json!([{"type": "text", "text": text}]));

        let escaped = format!("{{\"text\":\"\\u0078{}\"}}", "x".repeat(9_999));
        assert!(call_text(&server, "echo", &escaped) == "x".repeat(10_000));

        let change = json!({"file": text, "notes": ["a", text]}).to_string();
        let result = serde_json::to_value(call(&server, "change", &change)).unwrap();
        let said = result["content"].as_array().unwrap();
        let said: Vec<_> = said.iter().map(|block| &block["text"]).collect();
        assert!(
            said == [
                &Value::from(text.as_str()),
                &"a".into(),
                &text.as_str().into()
            ]
        );
        let said = get_text(&server, "review", &json!({"file": text}).to_string());
        assert!(said == format!("user: {text}"));
    }
}

#[test]
fn missing_string_argument_gets_default() {
    let server = server(Editor);
    assert_eq!(call_text(&server, "count", "{}"), "0 none");
    assert_eq!(
        call_text(&server, "count", r#"{"text": "abc", "end": "!"}"#),
        "3 !"
    );
    assert_eq!(
        call_error(&server, "change", r#"{"file": ""}"#),
        "there is no file"
    );
}

#[test]
fn string_argument_has_string_schema() {
    let server = server(Editor);
    assert_eq!(
        input(&server, "echo")["properties"],
        json!({"text": {"type": "string"}})
    );
    assert_eq!(
        input(&server, "change")["properties"],
        json!({
            "file": {"type": "string"},
            "notes": {"type": "array", "items": {"type": "string"}, "default": []},
        })
    );
    let error = call_error(&server, "echo", r#"{"text": 7}"#);
    assert!(
        error.contains("`text`") && error.contains("expected a string"),
        "{error}"
    );
    let error = call_error(&server, "change", r#"{"file": "a", "notes": [null]}"#);
    assert!(error.contains("`notes[0]`"), "{error}");
}

#[test]
fn string_member_of_args_is_returned_unchanged() {
    let tool = Tool::new("first").handler(|Args(change): Args<Change>| {
        let json = serde_json::to_string(&change)?;
        let again: Change = serde_json::from_str(&json)?;
        Ok::<_, ToolError>(again.file)
    });
    let server = Server::new("test", "1.0.0").tool(tool);
    for text in texts() {
        let arguments = json!({"file": text}).to_string();
        assert!(call_text(&server, "first", &arguments) == text);
    }
}
