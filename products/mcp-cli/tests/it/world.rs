//! The quirk laboratory of the command: files that list servers, and servers that are a little wrong.

mod files;
#[expect(dead_code, reason = "the columns of other crates")]
#[path = "../../../../mcp-client/tests/it/world/quirks.rs"]
mod quirks;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::post;
use serde_json::{Value, json};

use crate::kit::{Run, folder, mcp, mcp_in, on_thread, stdio_shop};
use files::FILES;
use quirks::{Call, QUIRKS, Quirk, Sent};

#[test]
fn each_file_lists_its_usable_servers() {
    let folder = folder("world_files");
    fs::create_dir(folder.join(".vscode")).unwrap();
    for row in FILES {
        let path = folder.join(row.file);
        fs::write(&path, row.content).unwrap();
        let run = mcp(&["servers", "--json", "--config", path.to_str().unwrap()]);
        let document = run.json();
        let file = &document["files"][0];
        let servers = file["servers"].as_array().unwrap().iter().map(|server| {
            let (name, target) = (&server["name"], &server["target"]);
            format!("{}: {}", name.as_str().unwrap(), target.as_str().unwrap())
        });
        let servers = servers.collect::<Vec<_>>().join("; ");
        let expected = row.servers.replace("FOLDER", folder.to_str().unwrap());
        assert_eq!(servers, expected, "{}: {run:?}", row.name);
        assert_eq!(file["error"], Value::Null, "{}", row.name);
    }
}

/// Serves a row: the responses of its method in their order, and one tool for calls.
fn server(quirk: &'static Quirk) -> String {
    let list = match quirk.call {
        Call::Tools | Call::Tool => "tools",
        Call::Resources | Call::Resource => "resources",
        Call::Prompts | Call::Prompt => "prompts",
    };
    let count = Arc::new(AtomicUsize::new(0));
    let answer = move |body: String| {
        let message: Value = serde_json::from_str(&body).unwrap();
        let (id, method) = (message["id"].clone(), message["method"].clone());
        let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let answered = if id.is_null() {
            None
        } else if method == quirk.call.method() {
            let sent = quirk.sent[count.fetch_add(1, Ordering::Relaxed)];
            Some(match sent {
                Sent::Result(result) => {
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
                }
                Sent::Message(message) => message.replace("$ID", &id.to_string()),
            })
        } else if method == "initialize" {
            let result = result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {list: {}},
                "serverInfo": {"name": "quirks", "version": "1"},
            }));
            Some(result.to_string())
        } else if method == "tools/list" {
            let tools = json!({"tools": [{"name": "a", "inputSchema": {}}]});
            Some(result(tools).to_string())
        } else if method == "ping" {
            Some(result(json!({})).to_string())
        } else {
            let error = json!({"code": -32601, "message": "none"});
            Some(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
        };
        async move {
            match answered {
                Some(text) => ([("content-type", "application/json")], text).into_response(),
                None => StatusCode::ACCEPTED.into_response(),
            }
        }
    };
    let origin = on_thread(|listener| async {
        let app = Router::new().route("/mcp", post(answer));
        drop(axum::serve(listener, app).await);
    });
    format!("{origin}/mcp")
}

/// Returns what a run shows, in the words of the table's client.
fn shown(call: Call, run: &Run) -> String {
    let document = run.json();
    let names = |list: &str, name: &str| {
        let items = document[list].as_array().unwrap().iter();
        let names = items.map(|item| item[name].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(", ")
    };
    let block = |block: &Value| match block["data"].as_str() {
        Some(data) => {
            let bytes = data.trim_end_matches('=').len() * 3 / 4;
            format!("{} of {bytes} bytes", block["mimeType"].as_str().unwrap())
        }
        None => block["text"].as_str().unwrap().to_owned(),
    };
    let joined = |items: &Value, text: &dyn Fn(&Value) -> String| {
        let items = items.as_array().unwrap().iter();
        items.map(text).collect::<Vec<_>>().join(" | ")
    };
    let mut text = match call {
        Call::Tools => names("tools", "name"),
        Call::Resources => names("resources", "uri"),
        Call::Prompts => names("prompts", "name"),
        Call::Tool if document["isError"] == true => {
            format!("failed: {}", joined(&document["content"], &block))
        }
        Call::Tool => joined(&document["content"], &block),
        Call::Prompt => joined(&document["messages"], &|message| block(&message["content"])),
        Call::Resource => joined(&document["contents"], &|part| {
            let (uri, text) = (part["uri"].as_str(), part["text"].as_str());
            format!("{} {}", uri.unwrap(), text.unwrap())
        }),
    };
    for line in run.err.lines().filter(|line| line.contains(" left out: ")) {
        let _ = write!(text, "; {}", line.split_once(": ").unwrap().1);
    }
    text
}

#[test]
fn each_row_for_a_server_has_its_outcome() {
    for quirk in QUIRKS {
        let url = server(quirk);
        let words: &[&str] = match quirk.call {
            Call::Tools | Call::Resources | Call::Prompts => &["list", &url],
            Call::Tool => &["call", &url, "a"],
            Call::Prompt => &["prompt", &url, "a"],
            Call::Resource => &["read", &url, "a:"],
        };
        let run = mcp(&[words, &["--json", "--protocol", "legacy"]].concat());
        assert_eq!(
            shown(quirk.call, &run),
            quirk.client,
            "{}: {run:?}",
            quirk.name
        );
    }
}

#[test]
fn doctor_names_what_is_left_out_with_its_place() {
    let row = |name: &str| QUIRKS.iter().find(|quirk| quirk.name == name).unwrap();
    for (name, expected) in [
        (
            "a tool without `inputSchema`",
            "tools/list: `bad` (tools[1]) is left out: ",
        ),
        (
            "a number as cursor",
            "prompts/list: nextCursor is left out: ",
        ),
    ] {
        let run = mcp(&[
            "doctor",
            &server(row(name)),
            "--json",
            "--protocol",
            "legacy",
        ]);
        let document = run.json();
        assert_eq!(document["healthy"], true, "{run:?}");
        let steps = document["steps"].as_array().unwrap().iter();
        let told = steps.filter(|step| step["detail"].as_str().unwrap().contains(expected));
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), 1, "{run:?}");
        assert_eq!(
            (&told[0]["step"], &told[0]["state"]),
            (&json!("lists"), &json!("warning"))
        );
        let page = mcp(&["list", &server(row(name)), "--protocol", "legacy"]);
        assert_eq!(page.err.matches(expected).count(), 1, "{page:?}");
    }
}

/// Writes an `mcp.json` whose servers print their variables to standard error, and end.
#[cfg(unix)]
fn printing(folder: &Path, entry: &Value) {
    fs::write(folder.join("print"), "#!/bin/sh\nenv >&2\nexit 1\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(folder.join("print"), mode).unwrap();
    let file = json!({"mcpServers": {"a": entry}});
    fs::write(folder.join("mcp.json"), file.to_string()).unwrap();
}

#[cfg(unix)]
#[test]
fn servers_get_proxies_from_environment_without_passwords() {
    let folder = folder("world_proxies");
    let run = |entry: &Value, flags: &[&str]| {
        printing(&folder, entry);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mcp"));
        let config = folder.join("mcp.json");
        command
            .args(["list", "a", "--config"])
            .arg(config)
            .args(flags);
        let output = command
            .env("HOME", &folder)
            .env("HTTPS_PROXY", "http://proxy.example:3128")
            .env("https_proxy", "http://ada:s3cret@proxy.example:3128")
            .env("NO_PROXY", "localhost")
            .env("NODE_EXTRA_CA_CERTS", "/etc/corp.pem")
            .env("OTHER_TOKEN", "t0ken")
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let warning = "the URL of https_proxy contains a password";
    let err = run(&json!({"command": "./print"}), &[]);
    for passed in [
        "HTTPS_PROXY=http://proxy.example:3128",
        "NO_PROXY=localhost",
        "NODE_EXTRA_CA_CERTS=/etc/corp.pem",
    ] {
        assert!(err.contains(passed), "{passed}: {err}");
    }
    assert!(err.contains(warning), "{err}");
    for secret in ["s3cret", "t0ken"] {
        assert!(!err.contains(secret), "{err}");
    }
    let listed = json!({"command": "./print", "env": {"https_proxy": "${https_proxy}"}});
    for (entry, flags) in [
        (listed, &[][..]),
        (json!({"command": "./print"}), &["--env", "https_proxy"]),
    ] {
        let err = run(&entry, flags);
        assert!(err.contains("https_proxy=http://ada:s3cret@"), "{err}");
        assert!(!err.contains(warning), "{err}");
    }
}

#[test]
fn socks_proxy_is_told_in_words() {
    for words in [&["list"][..], &["doctor", "--json"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mcp"));
        for name in [
            "HTTPS_PROXY",
            "https_proxy",
            "HTTP_PROXY",
            "http_proxy",
            "all_proxy",
        ] {
            command.env_remove(name);
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = format!("socks5://{}", port.local_addr().unwrap());
        drop(port);
        command.env("ALL_PROXY", proxy).args(words);
        let output = command.arg("https://a.example/mcp").output().unwrap();
        let run = Run::from(output);
        let text = format!("{}{}", run.out, run.err);
        let expected = "the variable ALL_PROXY names a SOCKS proxy, which is not supported";
        assert!(text.contains(expected), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn program_in_a_file_starts_from_any_folder() {
    let folder = folder("world_relative");
    fs::create_dir_all(folder.join("bin")).unwrap();
    std::os::unix::fs::symlink(stdio_shop(), folder.join("bin/shop")).unwrap();
    let text = r#"{"mcpServers": {"shop": {"command": "bin/shop", "cwd": "bin"}}}"#;
    fs::write(folder.join("mcp.json"), text).unwrap();
    let config = folder.join("mcp.json");
    let words = ["call", "shop", "add", "a=1", "b=2", "--config"];
    let run = mcp(&[&words[..], &[config.to_str().unwrap()]].concat());
    assert_eq!((run.code, &*run.out), (0, "3\n"), "{run:?}");

    // The program of another host's file starts where that host starts it: in the project.
    let text = r#"{"mcpServers": {"shop": {"command": "./bin/shop"}}}"#;
    fs::write(folder.join(".mcp.json"), text).unwrap();
    fs::remove_file(&config).unwrap();
    let run = mcp_in(&folder, &["call", "shop", "add", "a=1", "b=2", "--yes"], "");
    assert_eq!((run.code, &*run.out), (0, "3\n"), "{run:?}");
}

const BEGIN: &str = "<!-- files: written by `UPDATE_PAGES=1 cargo test -p omnimcp-cli world` -->";
const END: &str = "<!-- end of files -->";

/// The section of `docs/world.md`.
fn page() -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\u{feff}', "");
    let mut page = format!("{BEGIN}\n\n## Quirks of files that list servers\n\n");
    page.push_str("An entry that cannot be used never takes the others with it. Each row is a test of `mcp servers`; the rows ");
    page.push_str("of servers are tests of `mcp list`, `mcp call`, `mcp prompt` and `mcp read`, which show what the client has.\n\n");
    page.push_str("| a file has | in | `mcp servers` | source |\n|---|---|---|---|\n");
    for row in FILES {
        let source = match row.source.trim_start_matches("https://") {
            "" => "found by tests".to_owned(),
            source => format!("[{source}]({})", row.source),
        };
        let _ = writeln!(
            page,
            "| {} | `{}` | {} | {source} |",
            cell(row.name),
            row.file,
            cell(row.servers),
        );
    }
    let _ = write!(page, "\n{END}");
    page
}

#[test]
fn page_has_the_rows_from_the_files() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/world.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = match text.split_once(BEGIN) {
        Some((before, rest)) => (before, rest.split_once(END).map_or("", |(_, after)| after)),
        None => (&*text, ""),
    };
    let separator = if before.ends_with("\n\n") { "" } else { "\n" };
    let rest = if rest.is_empty() { "\n" } else { rest };
    let expected = format!("{before}{separator}{}{rest}", page());
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|text| text == expected);
    assert!(
        is_current,
        "run `UPDATE_PAGES=1 cargo test -p omnimcp-cli world`"
    );
}
