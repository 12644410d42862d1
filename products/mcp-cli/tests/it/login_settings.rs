//! Settings of logins: secrets, accounts, files of projects, servers with fixed tokens.

use std::process::Command;

use axum::Router;
use axum::http::{StatusCode, Uri};
use mcp::prelude::*;
use serde_json::json;

use crate::gateway::start_in;
use crate::kit::{folder, mcp_in, on_thread};
use crate::login::{log_in_with, protected_shop};

fn login(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("login").args(words).arg("--no-browser");
    command
}

/// A server that demands a token, and names no authorization server.
fn fixed_token_server() -> String {
    let origin = on_thread(|listener| async {
        let app = Router::new().fallback(|uri: Uri| async move {
            match uri.path() {
                "/mcp" => StatusCode::UNAUTHORIZED,
                _ => StatusCode::NOT_FOUND,
            }
        });
        drop(axum::serve(listener, app).await);
    });
    format!("{origin}/mcp")
}

#[test]
fn client_secret_on_the_command_line_is_refused() {
    let folder = folder("login_secret");
    let url = "http://127.0.0.1:1/mcp";
    for (secret, expected) in [
        ("--client-secret=hunter2", "takes the name of a variable"),
        ("--client-secret=${NO_SUCH_VARIABLE_HERE}", "has no value"),
        ("--client-secret", "--client-secret='${NAME}'"),
    ] {
        let run = mcp_in(&folder, &["login", url, "--client-id", "a", secret], "");
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains(expected), "{expected}: {run:?}");
        assert!(!run.err.contains("hunter2"), "{run:?}");
    }
}

#[test]
fn accounts_at_one_url_have_their_own_logins() {
    let (url, tokens) = protected_shop();
    let folder = folder("login_accounts");
    let home = folder.join("home");
    log_in_with(
        login(&[&url, "--account", "ada", "--client-id", "given"]),
        &home,
    );
    let list = |words: &[&str]| mcp_in(&folder, &[&["list", &url], words].concat(), "");
    assert_eq!(list(&["--account", "ada"]).code, 0);
    let other = list(&[]);
    assert_eq!(other.code, 3, "{other:?}");
    assert!(
        other.err.contains(&format!("`mcp login {url}`")),
        "{other:?}"
    );
    let bob = list(&["--account", "bob"]);
    assert!(
        bob.err
            .contains(&format!("`mcp login {url} --account bob`")),
        "{bob:?}"
    );
    // An entry has the account as well.
    let file = folder.join("servers.json");
    let entry = json!({"url": url, "oauth": {"account": "ada"}});
    std::fs::write(&file, json!({"mcpServers": {"shop": entry}}).to_string()).unwrap();
    let named = ["list", "shop", "--config", file.to_str().unwrap()];
    assert_eq!(mcp_in(&folder, &named, "").code, 0);
    let out = mcp_in(&folder, &["logout", &url, "--account", "ada"], "");
    assert!(out.out.contains("logged out"), "{out:?}");
    assert!(tokens.is_empty());
    assert_eq!(list(&["--account", "ada"]).code, 3);
}

#[test]
fn login_settings_in_a_project_are_refused_without_a_question() {
    for member in [
        json!({"resource": "https://other.example/mcp"}),
        json!({"omitResource": true}),
        json!({"issuer": "https://other.example"}),
        json!({"allowMissingPkce": "https://other.example"}),
        json!({"redirectUri": "http://localhost:8765/callback"}),
        json!({"callbackPort": 8765}),
    ] {
        let (url, tokens) = protected_shop();
        let folder = folder("login_project");
        let entry = json!({"url": url, "oauth": member});
        let content = json!({"mcpServers": {"shop": entry}}).to_string();
        std::fs::write(folder.join("mcp.json"), content).unwrap();
        for words in [
            &["login", "shop", "--yes", "--no-browser"][..],
            &["list", "shop", "--yes"],
        ] {
            let run = mcp_in(&folder, words, "");
            assert_eq!(run.code, 1, "{member}: {run:?}");
            assert!(
                run.err.contains("approved in a terminal only"),
                "{member}: {run:?}"
            );
        }
        assert!(tokens.is_empty());
    }
}

#[test]
fn server_with_fixed_tokens_is_named_as_such() {
    let url = fixed_token_server();
    let folder = folder("login_fixed");
    for words in [&["login", &url, "--no-browser"][..], &["doctor", &url]] {
        let run = mcp_in(&folder, words, "");
        assert_eq!(run.code, 3, "{run:?}");
        let printed = run.out + &run.err;
        for expected in [
            "this server takes fixed tokens",
            "--header 'Authorization: Bearer TOKEN'",
        ] {
            assert!(printed.contains(expected), "{words:?}: {printed}");
        }
    }
}

#[test]
fn server_behind_a_gateway_that_needs_a_login_names_the_command() {
    let (url, _) = protected_shop();
    let folder = folder("login_gateway");
    let file = folder.join("servers.json");
    let content = json!({"mcpServers": {"shop": {"url": url}}}).to_string();
    std::fs::write(&file, content).unwrap();
    let home = folder.join("home");
    let words = ["gateway", file.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let served = start_in(&home, &words);
    let line = served.wait_for_line("mcp login");
    assert!(line.contains(&format!("`mcp login {url}`")), "{line}");
    // The cure works without a restart.
    log_in_with(login(&[&url]), &home);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = Client::connect(&*served.url).await.unwrap();
        let has_tool = async || {
            let tools = client.list_tools().await.unwrap();
            tools.iter().any(|tool| tool.name == "shop__add")
        };
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        while !has_tool().await {
            assert!(
                tokio::time::Instant::now() < deadline,
                "the gateway does not recover"
            );
            tokio::task::yield_now().await;
        }
        let sum = client
            .call("shop__add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.text(), "3");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn missing_keychain_is_told_before_a_page_opens() {
    let (url, tokens) = protected_shop();
    let folder = folder("login_keychain");
    let output = login(&[&url])
        .current_dir(&folder)
        .env("HOME", folder.join("home"))
        .env("MCP_CREDENTIALS", "keychain")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("keychain"), "{printed}");
    assert!(printed.contains("MCP_CREDENTIALS=file"), "{printed}");
    assert!(!printed.contains("Log in at"), "{printed}");
    assert!(tokens.is_empty());
}

#[test]
fn status_at_an_open_server_is_told_without_guesses() {
    let folder = folder("login_status");
    let url = crate::kit::http_shop();
    let who = mcp_in(&folder, &["whoami", &url], "");
    assert!(who.out.contains("has answered without a token"), "{who:?}");
    let out = mcp_in(&folder, &["logout", &url], "");
    assert!(out.out.contains("this machine has no token"), "{out:?}");
}
