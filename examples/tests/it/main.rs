//! Runs the examples and checks their output. `hello_server` listens on a fixed port and is only
//! compiled.

#![allow(clippy::unwrap_used, reason = "test helpers")]

mod chat;
mod extension;
mod gateway;
mod group;
mod host;
mod ported;
mod proxy;
mod stdio;

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(30);

/// Runs a program to its end and returns its standard output.
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

/// Starts a server and reads its URL, the first line of its standard output.
async fn start(command: &mut Command) -> (Child, String) {
    let command = command.stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    (child, url.unwrap())
}

async fn axum_server() -> (Child, String) {
    start(Command::new(env!("CARGO_BIN_EXE_axum_server")).arg("127.0.0.1:0")).await
}

#[tokio::test]
async fn quickstart_calls_tools() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_quickstart"))).await;
    for part in [
        "protocol 2026-07-28",
        "tool bake: Bake some bread.",
        "  3 of 3",
        "bake: 3 loaves of bread, still warm",
        "split: 2250 cents each",
        "must not be zero (is_error: true)",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn typed_client_calls_a_tool() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_typed_client"))).await;
    assert_eq!(text, "2 × Kind of Blue\nreservation 7: 18\n");
}

#[tokio::test]
async fn apps_shows_a_view() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_apps"))).await;
    for part in [
        "the model may call: forecast\n",
        "connect-src https://api.example.com;",
        "the view is shown by \"example-host\"\n",
        "the view received: \"Rome: sunny\"\n",
        "the view refreshed: \"Rome: still sunny\"\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn events_streams_selected_orders() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_events"))).await;
    assert_eq!(
        text,
        "order.placed: A customer has placed an order\norder 2 of 500\norder 3 of 120\n"
    );
}

#[tokio::test]
async fn dynamic_reports_changes() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_dynamic"))).await;
    for part in [
        "tools: \nchange: Some(Tools)\ntools: kitchen_lamp\nthe lamp in the kitchen is on\n",
        "change: Some(Tools)\ntools: kitchen_lamp, hall_lamp, attic_lamp\n",
        "there is a tool `hall_lamp` already; remove it first",
        "change: Some(Tools)\ntools: hall_lamp, attic_lamp\n",
        "unknown tool: kitchen_lamp",
        "change: Some(Resource { uri: \"house://temperature\" })\n",
        "21 degrees",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn forward_passes_questions_updates_and_an_extension() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_forward"))).await;
    assert_eq!(
        text,
        "order: 2 cakes are ordered\n\
         change: Some(Resource { uri: \"shop://stock\" })\n\
         credits: 0 of 1\n"
    );
}

#[tokio::test]
async fn resources_are_read() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_resources"))).await;
    for part in [
        "resource library://picture",
        "template library://books/{number}/{page}",
        r#"library://catalog: [{"uri":"library://catalog","mimeType":"application/json""#,
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
async fn prompts_are_completed_and_filled() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_prompts"))).await;
    for part in [
        "  file (required)\n  tone (optional)\n",
        "file src/…: src/lib.rs, src/main.rs\n",
        "tone F…: friendly, formal, frank\n",
        "remarks 1…: \n",
        "user: Review src/lib.rs in a Frank way, with at most 2 remarks.\n",
        "assistant: I have read it. My remarks:\n",
        "`tone`: expected one of",
        "`file`: secret.txt does not exist",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn extension_charges_and_tops_up() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_extension"))).await;
    for part in [
        "the server starts with 1 credits\nprint: printed\n0 credits are left",
        "no credits are left; call `top_up`",
        "top_up: 3 credits\n3 credits are left\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn middleware_refuses_and_times_out() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_middleware"))).await;
    for part in [
        "page 1, page 2\n",
        "removing the paper is not allowed",
        "the call took too long",
        r#"tool="print" client="omnimcp-client/"#,
        r#"answered outcome="ok" duration_ms="#,
        r#"answered outcome="too late" duration_ms="#,
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn identity_checks_permissions() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_identity"))).await;
    for part in [
        "  Ada reads: nothing happened\n  Ada wrote: sunny\n",
        "  Bob reads: nothing happened\n  tools/call \"write\"",
        "write permission is required",
        "HTTP status 401 Unauthorized",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn protected_server_demands_the_scopes_for_its_tools() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_protected_server"))).await;
    for part in [
        "token-of-ada:\n  ada of static\n  contents of notes.md\n  deleted notes.md\n",
        "token-of-bob:\n  bob of static\n  contents of notes.md\n  tools/call \"delete\"",
        "the call needs the scopes: files:read files:write",
        "HTTP status 401 Unauthorized",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn tenants_have_separate_data_and_tools() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_tenants"))).await;
    assert_eq!(
        text,
        "token-of-ada: tools add read export; notes ada: buy iron\n\
         token-of-bob: tools add read; notes bob: sell iron\n"
    );
}

/// A server as a service: it answers a call that was running when the signal arrived.
#[cfg(unix)]
#[tokio::test]
async fn deployment_finishes_calls_after_sigterm() {
    use mcp::prelude::*;
    use serde_json::json;

    let mut child = Command::new(env!("CARGO_BIN_EXE_deployment"))
        .env("ADDRESS", "127.0.0.1:0")
        .env("STATE_SECRET", "0123456789abcdef0123456789abcdef")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    let client = Client::connect(url.unwrap()).await.unwrap();
    let ticket = client.call("reserve", json!({"shelves": 3})).await.unwrap();
    let ticket = json!({"ticket": ticket.text()});
    let redeemed = client.call("redeem", ticket).await.unwrap();
    assert_eq!(redeemed.text(), "3 shelves");
    let other = client.call("redeem", json!({"ticket": "3"})).await.unwrap();
    assert!(other.is_error());
    let (started, mut is_started) = tokio::sync::mpsc::unbounded_channel();
    let call = client
        .call("fire", json!({"milliseconds": 200}))
        .on_progress(move |_| started.send(()).unwrap());
    let pid = child.id().unwrap().to_string();
    let stop = async {
        is_started.recv().await.unwrap();
        Command::new("kill").arg(pid).status().await.unwrap()
    };
    let (fired, stopped) = tokio::join!(call, stop);
    assert!(stopped.success());
    assert_eq!(fired.unwrap().text(), "fired");
    drop(client);
    let last = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    assert_eq!(last.as_deref(), Some("stopped"));
    assert!(
        timeout(LIMIT, child.wait())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn ask_runs_handler_per_round() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_ask"))).await;
    for part in [
        "elicitation: A cake for Ada?\n  Text\n  layers\n  filling\n",
        "sampling: A line about Happy birthday\n",
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
async fn client_calls_axum_server() {
    let (_server, url) = axum_server().await;
    let client = || Command::new(env!("CARGO_BIN_EXE_client"));
    let list = output(client().arg(&url)).await;
    assert_eq!(list, "greet: Greet a user.\n");
    for count in 1..=2 {
        let greeting = output(client().args([&url, "greet", r#"{"name": "Ada"}"#])).await;
        assert_eq!(
            greeting,
            format!("Hello Ada, greeting {count}, tenant default\n")
        );
    }
}

#[tokio::test]
async fn client_handlers_answer_form() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_client_handlers"))).await;
    for part in [
        "negotiated: 2026-07-28",
        "requests: How many guests?",
        "with handlers: a table for 2 on Friday",
        "with `step`: no table",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn skills_are_approved_verified_and_read() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_skills"))).await;
    for part in [
        "skill://refunds/SKILL.md: How to refund an order.",
        "skill://support-hours/SKILL.md: When people answer questions",
        "approved: skill://refunds/SKILL.md from shop\n# Refunds\n",
        "Refunds above 500 EUR need an approval.",
        "refused: `../../Cargo.toml` is not a path below the skill",
        "skill://orders/SKILL.md: How to find open orders",
        "Monday to Thursday, 9 to 17 h.",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn server_is_found_by_its_card() {
    let text = output(&mut Command::new(env!("CARGO_BIN_EXE_server_card"))).await;
    assert_eq!(text, "com.example/clock: The time\nconnected to clock\n");
}
