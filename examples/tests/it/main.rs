//! The examples run. (`hello_server` listens on a fixed port and is only compiled.)

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod group;
mod stdio;

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(30);

async fn output(command: &mut Command) -> String {
    let output = timeout(LIMIT, command.kill_on_drop(true).output())
        .await
        .unwrap()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Starts the axum server and reads its URL.
async fn axum_server() -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_axum_server"))
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = timeout(LIMIT, lines.next_line())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    (child, url)
}

#[tokio::test]
async fn quickstart() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_quickstart"))).await;
    for part in [
        "protocol 2026-07-28",
        "tool bake: Bake some bread.",
        "  3 of 3",
        "bake: 3 loaves of bread, still warm",
        "split: 2250 cents each",
        "nobody is there to pay (is_error: true)",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn dynamic() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_dynamic"))).await;
    for part in [
        "tools: \ntold: Some(Tools)\ntools: kitchen_lamp\nthe lamp in the kitchen is on\n",
        "told: Some(Tools)\ntools: kitchen_lamp, hall_lamp, attic_lamp\n",
        "there is a tool `hall_lamp` already; remove it first",
        "told: Some(Tools)\ntools: hall_lamp, attic_lamp\n",
        "unknown tool: kitchen_lamp",
        "told: Some(Resource { uri: \"house://temperature\" })\n",
        "21 degrees",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn resources() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_resources"))).await;
    for part in [
        "resource library://door",
        "template library://books/{number}/{page}",
        r#"library://catalogue: [{"uri":"library://catalogue","mimeType":"application/json""#,
        r#""blob":"R0lGODlh""#,
        r#""text":"The pool of tears""#,
        "unknown resource: library://books/7",
        "`number`: expected a whole number, got \"first\"",
        "unknown resource: library://notes/../Cargo.toml",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn prompts() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_prompts"))).await;
    for part in [
        "  file (required)\n  tone (optional)\n",
        "file src/…: src/lib.rs, src/main.rs\n",
        "tone F…: friendly, formal, frank\n",
        "remarks 1…: \n",
        "user: Review src/lib.rs in a Frank way, 2 remarks at most.\n",
        "assistant: I have read it. My remarks:\n",
        "`tone`: unknown variant `rude`",
        "`file`: there is no secret.txt",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn middleware() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_middleware"))).await;
    for part in [
        "page 1, page 2\n",
        "the paper stays here",
        "the call took too long",
        r#"tool="print" client="mcp-client/"#,
        r#"answered outcome="ok" duration_ms="#,
        r#"answered outcome="too late" duration_ms="#,
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn identity() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_identity"))).await;
    for part in [
        "  Dear Ada, nothing happened.\n  Ada wrote: sunny\n",
        "  Dear Bob, nothing happened.\n  tools/call \"write\"",
        "you may read, and not write",
        "HTTP status 401 Unauthorized",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn ask() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_ask"))).await;
    for part in [
        "the user is asked: A cake for Ada?\n  Text\n  layers\n  filling\n",
        "the model is asked: A line about Happy birthday\n",
        "order 1: 2 layers with Berries, saying \"Happy birthday\", from file:///home/baker/recipes; \
         One more candle, one more year\n",
        "refused: ",
        "does not declare a capability",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert_eq!(text.matches("(the handler runs)").count(), 4, "{text}");
    assert_eq!(text.matches("(an oven is reserved)").count(), 1, "{text}");
}

#[tokio::test]
async fn client_and_axum_server() {
    let (_server, url) = axum_server().await;
    let client = || Command::new(env!("CARGO_BIN_EXE_client"));
    let list = output(client().arg(&url)).await;
    assert_eq!(list, "greet: Greet somebody.\n");
    for count in 1..=2 {
        let greeting = output(client().args([&url, "greet", r#"{"name": "Ada"}"#])).await;
        assert_eq!(
            greeting,
            format!("Hello Ada, greeting {count}, on behalf of nobody\n")
        );
    }
}

#[tokio::test]
async fn client_handlers() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_client_handlers"))).await;
    for part in [
        "spoken: 2026-07-28",
        "asks: Who comes?",
        "by handlers: a table for 2 on Friday",
        "by hand: no table",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}
