//! Commands that call a server.

use std::sync::Arc;

use mcp::core::{Call, Exchange, Listing, ResultBody};
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::types::ListToolsResult;
use serde_json::{Value, json};

use crate::kit::{folder, http_shop, mcp, mcp_in, on_thread, stdio_shop};
use crate::shop::Shop;

/// Runs a command over HTTP and over standard streams, in both eras, and returns the outputs.
fn everywhere(command: &str, words: &[&str]) -> Vec<crate::kit::Run> {
    let (url, program) = (http_shop(), stdio_shop());
    let mut runs = Vec::new();
    for protocol in ["auto", "legacy", "2026-07-28", "2025-06-18"] {
        let flags = ["--protocol", protocol];
        let http = [&[command, &url][..], words, &flags].concat();
        let stdio = [&[command][..], words, &flags, &["--", &program]].concat();
        runs.extend([mcp(&http), mcp(&stdio)]);
    }
    runs
}

#[test]
fn list_shows_tools_prompts_and_resources() {
    for run in everywhere("list", &[]) {
        assert_eq!((run.code, &*run.err), (0, ""), "{run:?}");
        for expected in [
            "Tools\n",
            "  add a b",
            "Adds two numbers.",
            "review",
            "disks://all",
        ] {
            assert!(run.out.contains(expected), "{expected}: {}", run.out);
        }
        assert!(!run.out.contains('\x1b'), "no colours without a terminal");
    }
}

#[test]
fn list_with_json_is_one_document() {
    for run in everywhere("list", &["--json"]) {
        let list = run.json();
        assert_eq!(list["tools"][0]["name"], "add");
        assert_eq!(list["prompts"][0]["name"], "review");
        assert_eq!(list["resourceTemplates"], json!([]));
    }
}

#[test]
fn call_types_arguments_by_the_schema() {
    for run in everywhere("call", &["add", "a=1", "b=2"]) {
        assert_eq!((run.code, &*run.out), (0, "3\n"), "{run:?}");
    }
}

#[test]
fn call_reads_arguments_as_json() {
    let url = http_shop();
    let given = [
        "call",
        &url,
        "add",
        "--args-json",
        r#"{"a": 1, "b": 1}"#,
        "b=4",
    ];
    assert_eq!(mcp(&given).out, "5\n");
    let piped = ["call", &url, "add", "--args-json", "-"];
    let run = mcp_in(&folder("empty"), &piped, r#"{"a": 2, "b": 3}"#);
    assert_eq!((run.code, &*run.out), (0, "5\n"), "{run:?}");
}

#[test]
fn failed_tool_has_exit_code_6() {
    let url = http_shop();
    let run = mcp(&["call", &url, "fail"]);
    assert_eq!((run.code, &*run.out), (6, ""), "{run:?}");
    assert_eq!(run.err, "error: the tool failed: sold out\n");
    let run = mcp(&["call", &url, "fail", "--json"]);
    assert_eq!((run.code, run.json()["isError"].clone()), (6, json!(true)));
    let error = json!({"code": 6, "kind": "tool", "message": "the tool failed: sold out"});
    assert_eq!(run.json_error(), error);
}

#[test]
fn internal_error_shows_what_the_program_wrote_to_stderr() {
    for protocol in ["2026-07-28", "2025-11-25"] {
        let run = mcp(&["call", "bake", "--protocol", protocol, "--", &stdio_shop()]);
        assert_eq!(run.code, 5, "{run:?}");
        assert!(run.err.contains("its standard error ends with:"), "{run:?}");
        assert!(run.err.contains("the oven burns"), "{run:?}");
    }
}

#[test]
fn wrong_arguments_have_exit_code_1() {
    let url = http_shop();
    for (words, expected) in [
        (
            &["add", "a=x", "b=1"][..],
            "argument \"a\" must be an integer, got \"x\"",
        ),
        (&["add", "a=1"], "required arguments are missing: b"),
        (
            &["ad"],
            "unknown tool: ad (-32602); the server lists no tool \"ad\"; it has: add, ",
        ),
        (&["add", "a"], "write KEY=VALUE"),
        (&["add", "--args-json", "["], "not a JSON object"),
        (&[], "no tool is given"),
    ] {
        let run = mcp(&[&["call", &url][..], words].concat());
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains(expected), "{expected}: {run:?}");
    }
}

/// The list of a gateway does not have the tools of a server that still starts.
#[test]
fn tool_that_is_not_listed_is_called() {
    let origin = on_thread(|listener| async {
        let unlisted = from_fn(|exchange: Exchange, next: Next| async move {
            match &exchange.call {
                Call::ListTools(_) => {
                    let listing = Listing::new(ListToolsResult::from(Vec::new()));
                    ResultBody::ListTools(Arc::new(listing)).into()
                }
                _ => next.run(exchange).await,
            }
        });
        let server = Server::of(Shop).layer(unlisted);
        drop(mcp::serve_http(server, listener).await);
    });
    let url = format!("{origin}/mcp");
    let run = mcp(&["call", &url, "add", "a=1", "b=2"]);
    assert_eq!((run.code, &*run.out), (0, "3\n"), "{run:?}");
}

#[test]
fn form_without_a_terminal_is_declined() {
    for run in everywhere("call", &["order"]) {
        assert_eq!(run.code, 6, "{run:?}");
        assert!(run.err.contains("declined a question"), "{run:?}");
    }
}

#[test]
fn picture_is_described_or_saved() {
    let (url, folder) = (http_shop(), folder("pictures"));
    let run = mcp(&["call", &url, "picture"]);
    assert!(run.out.starts_with("[image image/gif, 6 bytes"), "{run:?}");
    let words = ["call", &url, "picture", "--save", "out"];
    for name in ["picture-1.gif", "picture-2.gif"] {
        let run = mcp_in(&folder, &words, "");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.trim_end().ends_with(name), "{run:?}");
        assert_eq!(
            std::fs::read(folder.join("out").join(name)).unwrap(),
            b"GIF89a"
        );
    }
}

#[test]
fn escape_sequences_from_servers_are_escaped() {
    let run = mcp(&["call", &http_shop(), "escape"]);
    assert_eq!(run.out, "\\u{1b}[2Jdone\n");
}

#[test]
fn read_prints_text_and_describes_bytes() {
    for run in everywhere("read", &["disks://all"]) {
        assert_eq!((run.code, &*run.out), (0, "A, B\n"), "{run:?}");
    }
    let run = mcp(&["read", &http_shop(), "disks://cover"]);
    assert!(
        run.out.starts_with("[resource image/gif, 6 bytes"),
        "{run:?}"
    );
    let run = mcp(&["read", &http_shop(), "disks://none"]);
    assert_eq!(run.code, 5, "{run:?}");
}

#[test]
fn prompt_and_complete_print_results() {
    for run in everywhere("prompt", &["review", "language=rust"]) {
        assert_eq!(run.out, "user:\nReview this rust code.\n", "{run:?}");
    }
    for run in everywhere("complete", &["review", "language=ru"]) {
        assert_eq!(run.out, "rust\nruby\n", "{run:?}");
    }
}

#[test]
fn ping_and_info_describe_the_server() {
    for run in everywhere("ping", &["--json"]) {
        assert!(run.json()["milliseconds"].as_f64().is_some(), "{run:?}");
    }
    for run in everywhere("info", &[]) {
        assert!(
            run.out.contains("shop") && run.out.contains("1.2.3"),
            "{run:?}"
        );
    }
}

// spec: SEC-01
#[test]
fn named_server_in_a_project_needs_approval() {
    let folder = folder("project");
    let config = json!({"mcpServers": {
        "shop": {"command": stdio_shop(), "env": {"TOKEN": "s3cret"}},
        "web": {"url": http_shop(), "headers": {"x-key": "s3cret"}},
    }});
    std::fs::write(folder.join("mcp.json"), config.to_string()).unwrap();
    let refused = mcp_in(&folder, &["call", "shop", "add", "a=1", "b=2"], "");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("pass --yes"), "{refused:?}");
    let approved = mcp_in(&folder, &["call", "shop", "add", "a=1", "b=2", "--yes"], "");
    assert_eq!(approved.out, "3\n", "{approved:?}");
    let refused = mcp_in(&folder, &["list", "web"], "");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.err.contains("pass --yes") && !refused.err.contains("s3cret"),
        "{refused:?}"
    );
    let web = mcp_in(&folder, &["call", "web", "add", "a=1", "b=2", "--yes"], "");
    assert_eq!(web.out, "3\n", "{web:?}");
    for words in [&["servers"][..], &["servers", "--json"]] {
        let run = mcp_in(&folder, words, "");
        assert!(
            run.out.contains("shop") && run.out.contains("web"),
            "{run:?}"
        );
        assert!(!run.out.contains("s3cret"), "{run:?}");
    }
}

#[test]
fn servers_from_other_hosts_are_listed_and_found() {
    let url = http_shop();
    let folder = folder("hosts");
    let entry = json!({ "url": url });
    let codex = format!("[mcp_servers.codex]\nurl = '{url}'\n");
    let files = [
        ("home/.codex/config.toml", codex),
        (
            "home/.gemini/settings.json",
            json!({"mcpServers": {"gemini": {"httpUrl": url}}}).to_string(),
        ),
        (
            "home/.qwen/settings.json",
            json!({"mcpServers": {"qwen": {"httpUrl": url}}}).to_string(),
        ),
        (
            "home/.config/opencode/opencode.jsonc",
            format!(
                "{{\"mcp\": {{\"opencode\": {{\"type\": \"remote\", \"url\": \"{url}\"}},}} /* x */}}"
            ),
        ),
        (
            "home/.copilot/mcp-config.json",
            json!({"mcpServers": {"copilot": {"type": "http", "url": url, "tools": ["*"]}}})
                .to_string(),
        ),
        (
            "home/.cline/data/settings/cline_mcp_settings.json",
            json!({"mcpServers": {"cline": {"type": "streamableHttp", "url": url}}}).to_string(),
        ),
        (
            "home/.config/zed/settings.json",
            json!({"theme": "One Dark", "context_servers": {"zed": entry}}).to_string(),
        ),
        // Settings without servers.
        (
            ".gemini/settings.json",
            json!({"mcp": {"allowed": []}}).to_string(),
        ),
        (".zed/settings.json", json!({"tab_size": 2}).to_string()),
    ];
    for (path, content) in &files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let run = mcp_in(&folder, &["servers", "--json"], "");
    let listed = run.json()["files"].clone();
    let names = listed.as_array().unwrap().iter().map(|file| {
        assert_eq!(file["error"], Value::Null, "{file}");
        file["servers"][0]["name"].as_str().unwrap()
    });
    let names: Vec<_> = names.collect();
    let hosts = ["codex", "gemini", "qwen", "opencode", "copilot", "cline"];
    for name in hosts.into_iter().chain((!cfg!(windows)).then_some("zed")) {
        assert!(names.contains(&name), "{name}: {run:?}");
        let run = mcp_in(&folder, &["ping", name], "");
        assert_eq!(run.code, 0, "{name}: {run:?}");
    }
    // The places without servers are named.
    let others = run.json()["withoutServers"].to_string();
    assert!(
        others.contains(".cursor") && !others.contains(".copilot"),
        "{run:?}"
    );
    let run = mcp_in(&folder, &["servers"], "");
    for part in [".claude.json (Claude Code)", "settings.json (Zed)"] {
        assert!(run.err.contains(part), "{part}: {run:?}");
    }
}
