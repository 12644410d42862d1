//! `mcp tasks` and `mcp skills`.

use std::sync::Arc;
use std::time::Duration;

use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills};
use mcp::tasks::{TaskMode, Tasks};
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::{http_shop, mcp, on_thread};

/// A server with a tool that always runs as a task, and ends after the call of `finish`.
pub(crate) fn studio() -> String {
    let origin = on_thread(|listener| async {
        let finished = Arc::new(Notify::new());
        let waiting = Arc::clone(&finished);
        let render = Tool::new("render").handler(move || {
            let waiting = Arc::clone(&waiting);
            async move {
                waiting.notified().await;
                "a picture"
            }
        });
        let finish = Tool::new("finish").handler(move || {
            finished.notify_one();
            "finished"
        });
        let refunds = InlineSkill::new("refunds", "How to refund an order", "# Steps\n")
            .file("references/limits.md", "Above 500 EUR: ask.\n");
        let server = Server::new("studio", "1.0.0")
            .tool(render.task(TaskMode::Always))
            .tool(finish)
            .tasks(Tasks::in_memory().poll_interval(Duration::from_millis(10)))
            .extension(Skills::new().add(refunds).unwrap());
        drop(mcp::serve_http(server, listener).await);
    });
    format!("{origin}/mcp")
}

/// Starts a task and returns its id.
fn start(url: &str) -> String {
    let run = mcp(&["call", url, "render", "--task", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let task = run.json();
    assert_eq!(task["status"], "working", "{run:?}");
    task["taskId"].as_str().unwrap().to_owned()
}

#[test]
fn task_is_watched_until_its_result() {
    let url = studio();
    let id = start(&url);
    let run = mcp(&["tasks", "get", &url, &id]);
    assert_eq!((run.code, run.out), (0, format!("{id} working\n")));
    assert_eq!(mcp(&["call", &url, "finish"]).code, 0);
    let run = mcp(&["tasks", "watch", &url, &id]);
    assert_eq!((run.code, &*run.out), (0, "a picture\n"), "{run:?}");
    assert!(run.err.contains("completed"), "{run:?}");
    let run = mcp(&["tasks", "watch", &url, &id, "--json"]);
    assert_eq!(run.json()["status"], "completed", "{run:?}");
    let run = mcp(&["tasks", "get", &url, &id, "--json"]);
    assert_eq!(run.json()["result"]["content"][0]["text"], "a picture");
}

#[test]
fn call_without_the_flag_waits_for_the_task() {
    let url = studio();
    assert_eq!(mcp(&["call", &url, "finish"]).code, 0);
    let run = mcp(&["call", &url, "render"]);
    assert_eq!((run.code, &*run.out), (0, "a picture\n"), "{run:?}");
}

#[test]
fn cancelled_task_has_exit_code_5() {
    let url = studio();
    let id = start(&url);
    let run = mcp(&["tasks", "cancel", &url, &id]);
    assert_eq!((run.code, run.out), (0, format!("{id} cancelled\n")));
    let run = mcp(&["tasks", "watch", &url, &id]);
    assert_eq!((run.code, &*run.out), (5, ""), "{run:?}");
    assert!(run.err.contains("was cancelled"), "{run:?}");
}

#[test]
fn unknown_task_and_missing_id_are_errors() {
    let url = studio();
    assert_eq!(mcp(&["tasks", "get", &url, "none"]).code, 5);
    assert_eq!(mcp(&["tasks", "get", &url]).code, 1);
    assert_eq!(mcp(&["tasks", "get", &http_shop(), "none"]).code, 5);
    assert_eq!(mcp(&["tasks"]).code, 1);
}

#[test]
fn call_that_is_no_task_prints_its_result() {
    let run = mcp(&["call", &http_shop(), "add", "a=1", "b=2", "--task"]);
    assert_eq!((run.code, &*run.out), (0, "3\n"), "{run:?}");
}

#[test]
fn skills_are_listed_and_shown() {
    let url = studio();
    let run = mcp(&["skills", "list", &url]);
    assert_eq!(run.out, "  refunds  How to refund an order\n", "{run:?}");
    let run = mcp(&["skills", "list", &url, "--json"]);
    assert_eq!(run.json()["skills"][0]["uri"], "skill://refunds/SKILL.md");
    for skill in ["refunds", "skill://refunds/SKILL.md"] {
        let run = mcp(&["skills", "show", &url, skill]);
        assert_eq!((run.code, &*run.out), (0, "# Steps\n"), "{run:?}");
    }
    let run = mcp(&["skills", "show", &url, "refunds", "references/limits.md"]);
    assert_eq!(run.out, "Above 500 EUR: ask.\n", "{run:?}");
    let run = mcp(&["skills", "files", &url, "refunds"]);
    assert!(run.out.contains("references/limits.md"), "{run:?}");
    assert!(run.out.contains("20 bytes, sha256:"), "{run:?}");
    let run = mcp(&["skills", "files", &url, "refunds", "--json"]);
    assert_eq!(run.json().as_array().map(Vec::len), Some(2), "{run:?}");
}

#[test]
fn unknown_skill_names_the_known_ones() {
    let url = studio();
    let run = mcp(&["skills", "show", &url, "refund", "--json"]);
    assert_eq!(run.json_error()["code"], json!(1), "{run:?}");
    assert!(run.err.contains("it has: refunds"), "{run:?}");
    assert_eq!(mcp(&["skills", "show", &url]).code, 1);
    let run = mcp(&["skills", "list", &http_shop()]);
    assert_eq!(run.code, 5, "{run:?}");
}
