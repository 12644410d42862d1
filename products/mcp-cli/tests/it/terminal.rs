//! The command on a pseudo-terminal: progress, forms, URLs, Ctrl-C.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use mcp::prelude::*;
use nix::sys::wait::WaitStatus;
use rexpect::session::{PtySession, spawn_command};

use crate::desk::{http_desk, http_desk_with_endless_sessions};
use crate::hostile::{HOSTILE, assert_clean, hostile_server};
use crate::kit::{folder, http_shop, on_thread};
use crate::shop::Order;

/// Time limit of each expectation in milliseconds.
const LIMIT: u64 = 20_000;

fn command(words: &[&str], home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.args(words).current_dir(home).env("HOME", home);
    command.env_remove("XDG_DATA_HOME");
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

/// Starts `mcp` on a pseudo-terminal.
fn start(words: &[&str]) -> PtySession {
    // Shared by all tests: this folder is never removed.
    let home = folder("empty");
    spawn_command(command(words, &home), Some(LIMIT)).unwrap()
}

/// Reads until the end. Returns the rest of the output and the exit code.
fn finish(mut session: PtySession) -> (String, i32) {
    let rest = session.exp_eof().unwrap();
    match session.process().wait().unwrap() {
        WaitStatus::Exited(_, code) => (rest, code),
        status => panic!("{status:?}: {rest}"),
    }
}

#[test]
fn progress_is_a_bar_that_the_result_replaces() {
    let mut session = start(&["call", &http_desk(), "wait"]);
    session
        .exp_string("[##########..........]  50 % painting")
        .unwrap();
    session.send_control('c').unwrap();
    session.exp_string("\x1b[K").unwrap();
    assert_eq!(finish(session).1, 130);
}

#[test]
fn missing_arguments_are_asked_again_until_they_have_their_type() {
    let mut session = start(&["call", &http_shop(), "add"]);
    session.exp_string("a: ").unwrap();
    session.send_line("many").unwrap();
    session.exp_string("must be an integer").unwrap();
    session.exp_string("a: ").unwrap();
    session.send_line("1").unwrap();
    session.exp_string("b: ").unwrap();
    session.send_line("2").unwrap();
    let (rest, code) = finish(session);
    assert_eq!(code, 0, "{rest}");
    assert!(rest.trim_end().ends_with('3'), "{rest:?}");
}

#[test]
fn form_is_answered_by_type_or_declined() {
    let url = http_shop();
    for protocol in ["auto", "legacy"] {
        let mut session = start(&["call", &url, "order", "--protocol", protocol]);
        session.exp_string("asks: How many?").unwrap();
        session.exp_string("Answer? [y/N] ").unwrap();
        session.send_line("y").unwrap();
        session.exp_string("Number of items").unwrap();
        session.send_line("x").unwrap();
        session.exp_string("is not a number").unwrap();
        session.send_line("3").unwrap();
        let (rest, code) = finish(session);
        assert_eq!(code, 0, "{rest}");
        assert!(rest.contains("3 items"), "{rest:?}");
    }
    let mut session = start(&["call", &url, "order"]);
    session.exp_string("Answer? [y/N] ").unwrap();
    session.send_line("").unwrap();
    let (rest, code) = finish(session);
    assert_eq!(code, 6, "{rest}");
    assert!(rest.contains("no order"), "{rest:?}");
}

/// Removes the sequences of this program: colors, and the end of the progress line.
fn without_styles(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("\r\x1b[K", "");
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((style, rest)) if style.bytes().all(|byte| byte.is_ascii_digit()) => {
                out.push_str(rest)
            }
            _ => out.push_str(&format!("\x1b[{part}")),
        }
    }
    out
}

#[test]
fn terminal_shows_every_character_from_a_server() {
    let url = &*format!("{}/mcp", hostile_server());
    for (words, code) in [
        (&["list", url][..], 0),
        (&["info", url], 0),
        (&["call", url, "text"], 0),
        (&["call", url, "fail"], 6),
        (&["call", url, "error"], 5),
        (&["doctor", url], 0),
    ] {
        let (text, ended) = finish(start(words));
        assert_eq!(ended, code, "{text:?}");
        let text = without_styles(&text);
        // Contents have the line breaks of the server.
        let text = match words {
            ["info", ..] | ["call", _, "text"] => text.replace("\nerror: forged", "\n"),
            _ => text,
        };
        assert_clean(&text, &format!("{words:?}"));
    }
}

#[test]
fn questions_from_a_server_are_one_line() {
    let origin = on_thread(|listener| async {
        let order = Tool::new("order").handler(async |ask: Ask| {
            let form = ask.form::<Order>("order", HOSTILE).await?;
            Ok::<_, ToolError>(if form.is_accepted() { "yes" } else { "no" })
        });
        let server = Server::new("shop", "1.0.0").tool(order);
        drop(mcp::serve_http(server, listener).await);
    });
    let mut session = start(&["call", &format!("{origin}/mcp"), "order"]);
    let question = session.exp_string("Answer? [y/N] ").unwrap();
    assert_clean(&without_styles(&question), "a question");
    session.send_line("n").unwrap();
    assert_eq!(finish(session).1, 0);
}

/// Writes an `mcp.json` with one server into a folder.
fn project(name: &str, server: &serde_json::Value) -> std::path::PathBuf {
    let folder = folder(name);
    let content = serde_json::json!({"mcpServers": {"x": server}}).to_string();
    std::fs::write(folder.join("mcp.json"), content).unwrap();
    folder
}

#[test]
fn approval_shows_the_host_that_is_used_and_what_it_gets() {
    for (number, url) in [
        "http://127.0.0.1:PORT\\@good.example/mcp",
        "http:\\\\127.0.0.1:PORT\\@good.example",
        "http://good.example@127.0.0.1:PORT/mcp",
        "http://good.example:80@127.0.0.1:PORT/",
        "http://127.0.0.1:PORT\t/@good.example",
        "http://good.example\t@127.0.0.1:PORT/",
        "ht\ntp://127.0.0.1\t:PORT/",
        "http://127.0.0.1:PORT#@good.example/",
        "http://\u{ff11}27\u{3002}0.0.1:PORT/",
        "http://0x7f.1:PORT/",
    ]
    .into_iter()
    .enumerate()
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, connected) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(listener.accept().is_ok()));
        let server = serde_json::json!({
            "url": url.replace("PORT", &port.to_string()),
            "headers": {"Authorization": "Bearer ${HOME}"},
        });
        let folder = project(&format!("approval_{number}"), &server);
        let command = command(&["ping", "x", "--timeout", "10"], &folder);
        let mut session = spawn_command(command, Some(LIMIT)).unwrap();
        let shown = format!(
            "connect to http://127.0.0.1:{port} with the headers [\"Authorization\"], passing on the values of the \
             variables [\"HOME\"]. Allow it? [y/N] "
        );
        session.exp_string(&shown).unwrap();
        session.send_line("y").unwrap();
        // The listener closes the connection.
        assert_eq!(finish(session).1, 4);
        let limit = std::time::Duration::from_millis(LIMIT);
        assert_eq!(connected.recv_timeout(limit), Ok(true), "{url:?}");
    }
}

// spec: SEC-01
#[test]
fn approval_shows_the_whole_command_and_its_folder() {
    let server = serde_json::json!({
        "command": "no-such\u{202e}program",
        "args": ["-c", "a\nb\u{1b}[2J", "${HOME}"],
        "env": {"KEY\u{200b}": "1"},
        "cwd": "/",
    });
    let folder = project("approval_command", &server);
    let mut session = spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap();
    let home = folder.to_str().unwrap();
    let shown = format!(
        "mcp.json wants to run the command \"no-such\\u{{202e}}program\" [\"-c\", \"a\\nb\\u{{1b}}[2J\", {home:?}] \
         in the folder \"/\" with the environment variables [\"KEY\\u{{200b}}\"], passing on the values of the \
         variables [\"HOME\"]. Allow it? [y/N] "
    );
    session.exp_string(&shown).unwrap();
    session.send_line("n").unwrap();
    assert_eq!(finish(session).1, 1);
}

#[test]
fn approval_shows_the_program_that_is_found() {
    let folder = project("approval_program", &serde_json::Value::Null);
    let tools = folder.join("tools");
    let passed = folder.join("passed");
    std::fs::create_dir_all(&tools).unwrap();
    std::fs::create_dir(&passed).unwrap();
    // The operating system passes over the first one, which nobody can execute.
    std::fs::write(passed.join("shop"), "").unwrap();
    let script = format!("#!/bin/sh\n: > {}\n", folder.join("ran").display());
    std::fs::write(tools.join("shop"), script).unwrap();
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(tools.join("shop"), mode).unwrap();
    let both = std::env::join_paths([&passed, &tools]).unwrap();
    let both = both.to_str().unwrap();
    for (program, path, shown) in [
        ("shop", both, "tools/shop"),
        ("shop", "passed:tools", "tools/shop"),
        ("./shop", both, "shop"),
    ] {
        let server = serde_json::json!({"command": program, "env": {"PATH": path}});
        let content = serde_json::json!({"mcpServers": {"x": server}}).to_string();
        std::fs::write(folder.join("mcp.json"), content).unwrap();
        let mut session = spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap();
        let shown = folder.join(shown);
        let question = format!("wants to run the command {:?} []", shown.to_str().unwrap());
        session.exp_string(&question).unwrap();
        session.send_line("y").unwrap();
        assert_eq!(finish(session).1, 4);
        let ran = std::fs::remove_file(folder.join("ran")).is_ok();
        assert_eq!(ran, program == "shop", "{path}");
    }
}

#[test]
fn approval_shows_variables_from_file_and_no_values_from_user() {
    let server = serde_json::json!({
        "command": "no-such-program",
        "env": {"PYTHONPATH": "./lib", "FOLDER": "${HOME}/x", "API_TOKEN": "s3cret"},
    });
    let folder = project("approval_variables", &server);
    let mut session = spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap();
    let shown = session.exp_string("Allow it? [y/N] ").unwrap();
    for name in ["\"PYTHONPATH=./lib\"", "\"FOLDER\"", "\"API_TOKEN\""] {
        assert!(shown.contains(name), "{shown}");
    }
    session.send_line("n").unwrap();
    assert_eq!(finish(session).1, 1);
}

#[test]
fn approval_has_nothing_out_of_sight() {
    let ask = |name: &str, arg: String| {
        let server = serde_json::json!({"command": "sh", "args": ["-c", arg]});
        let folder = project(name, &server);
        spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap()
    };
    for (number, blanks) in [" ".repeat(2_000), "\u{2003}".repeat(300), "a ".repeat(800)]
        .into_iter()
        .enumerate()
    {
        let session = ask(
            &format!("approval_blanks_{number}"),
            format!("x #{blanks}mcp.json"),
        );
        let (rest, code) = finish(session);
        assert_eq!(code, 1, "{rest}");
        assert!(
            rest.contains("too long to be shown") && !rest.contains("Allow it?"),
            "{rest}"
        );
    }
    let mut session = ask("approval_blanks", "x #    mcp.json\u{a0}wants".to_owned());
    let shown = session.exp_string("Allow it? [y/N] ").unwrap();
    assert!(
        shown.contains("x # \\u{20}\\u{20}\\u{20}mcp.json\\u{a0}wants"),
        "{shown}"
    );
    session.send_line("n").unwrap();
    assert_eq!(finish(session).1, 1);
}

#[test]
fn approval_shows_the_settings_for_a_login() {
    let server = serde_json::json!({"url": "http://127.0.0.1:1/mcp", "oauth": {
        "issuer": "https://login.example",
        "resource": "https://other.example/\u{202e}mcp",
        "callbackPort": 8765,
        "allowMissingPkce": "https://login.example",
        "omitResource": true,
        "clientId": "shop",
        "clientSecret": "s3cret",
        "tokenEndpointAuthMethod": "client_secret_post",
        "scopes": ["read"],
        "account": "ada",
    }});
    let folder = project("approval_login", &server);
    let words = ["ping", "x", "--yes"];
    let mut session = spawn_command(command(&words, &folder), Some(LIMIT)).unwrap();
    session
        .exp_string(
            "and to log in with clientId \"shop\", tokenEndpointAuthMethod \"client_secret_post\", account \"ada\", \
             issuer \"https://login.example\", resource \"https://other.example/\\u{202e}mcp\", \
             redirectUri \"http://localhost:8765/callback\", allowMissingPkce \"https://login.example\", omitResource, \
             scopes [\"read\"]. Allow it? [y/N] ",
        )
        .unwrap();
    session.send_line("n").unwrap();
    assert_eq!(finish(session).1, 1);
}

#[test]
fn typed_client_secret_is_not_shown() {
    let folder = folder("login_typed");
    let words = [
        "login",
        "http://127.0.0.1:1/mcp",
        "--client-id",
        "a",
        "--client-secret",
        "--no-browser",
    ];
    let mut session = spawn_command(command(&words, &folder), Some(LIMIT)).unwrap();
    session.exp_string("Client secret: ").unwrap();
    session.send_line("hunter2").unwrap();
    let (rest, code) = finish(session);
    // Nothing listens there.
    assert_eq!(code, 3, "{rest}");
    assert!(!rest.contains("hunter2"), "{rest}");
}

#[test]
fn approval_is_remembered_until_the_entry_changes() {
    let folder = project("approval_again", &serde_json::Value::Null);
    let ping = |value: &str| {
        let server = serde_json::json!({"command": "no-such-program", "env": {"KEY": value}});
        let content = serde_json::json!({"mcpServers": {"x": server}}).to_string();
        std::fs::write(folder.join("mcp.json"), content).unwrap();
        spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap()
    };
    let mut session = ping("one");
    session.exp_string("Allow it? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    let (rest, code) = finish(session);
    assert_eq!(code, 4, "{rest}");
    assert!(rest.contains("approved until the entry changes"), "{rest}");
    let (rest, code) = finish(ping("one"));
    assert_eq!(code, 4, "{rest}");
    assert!(!rest.contains("Allow it?"), "{rest}");
    // The question does not show values, but they decide what runs.
    let mut session = ping("two");
    session.exp_string("Allow it? [y/N] ").unwrap();
    session.send_line("").unwrap();
    assert_eq!(finish(session).1, 1);
}

/// An approved entry whose value moves to another member is not approved.
#[test]
fn approval_ends_when_a_value_changes_its_member() {
    let folder = project("approval_members", &serde_json::Value::Null);
    let url = "http://127.0.0.1:1/mcp";
    let entries = [
        serde_json::json!({"clientId": "admin"}),
        serde_json::json!({"account": "admin"}),
        serde_json::json!({"scopes": ["admin"]}),
        serde_json::json!({"clientSecret": "admin"}),
        serde_json::json!({"clientId": "admin", "tokenEndpointAuthMethod": "client_secret_post"}),
        serde_json::json!({"clientId": "admin", "clientSecret": "x"}),
        serde_json::json!({"clientId": "admin", "scopes": ["x"]}),
    ];
    for oauth in entries {
        let server = serde_json::json!({"url": url, "oauth": oauth});
        let content = serde_json::json!({"mcpServers": {"x": server}}).to_string();
        std::fs::write(folder.join("mcp.json"), content).unwrap();
        let ping = || spawn_command(command(&["ping", "x"], &folder), Some(LIMIT)).unwrap();
        let mut session = ping();
        session.exp_string("Allow it? [y/N] ").unwrap();
        session.send_line("y").unwrap();
        assert_ne!(finish(session).1, 1, "it is approved");
        let (rest, code) = finish(ping());
        assert!(code != 1 && !rest.contains("Allow it?"), "{oauth}: {rest}");
    }
}

/// The question shows the arguments. Nothing of them stays after a token is replaced.
#[test]
fn approvals_have_one_hash_per_server_and_no_secrets() {
    let folder = project("approval_hashes", &serde_json::Value::Null);
    let file = folder.join(".local/share/mcp/approvals.json");
    let mut hashes = Vec::new();
    for (token, is_asked) in [
        ("first", true),
        ("second", true),
        ("second", false),
        ("first", true),
    ] {
        let args = ["--token", "${THE_TOKEN}", "--key", "literal-secret"];
        let server = serde_json::json!({"command": "no-such-program", "args": args});
        let content = serde_json::json!({"mcpServers": {"x": server}}).to_string();
        std::fs::write(folder.join("mcp.json"), content).unwrap();
        let mut command = command(&["ping", "x"], &folder);
        command.env("THE_TOKEN", format!("{token}-secret"));
        let mut session = spawn_command(command, Some(LIMIT)).unwrap();
        if is_asked {
            session.exp_string("Allow it? [y/N] ").unwrap();
            session.send_line("y").unwrap();
        }
        let (rest, code) = finish(session);
        assert!(code == 4 && !rest.contains("Allow it?"), "{rest}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("secret"), "{text}");
        let approvals: serde_json::Value = serde_json::from_str(&text).unwrap();
        let owner = folder.join("mcp.json");
        let names = approvals["entry"][owner.to_str().unwrap()].as_object();
        let names = names.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(names.len(), 1, "{text}");
        hashes.push(names["x"]["agreed"].clone());
    }
    assert_eq!((&hashes[1], &hashes[3]), (&hashes[2], &hashes[0]));
}

/// Other users could approve commands.
#[test]
fn approvals_that_others_can_write_are_not_used() {
    let server = serde_json::json!({"command": "no-such-program"});
    let folder = project("approval_shared", &server);
    let file = folder.join(".local/share/mcp/approvals.json");
    for mode in [0o600, 0o666] {
        let ping = command(&["ping", "x"], &folder);
        let mut session = spawn_command(ping, Some(LIMIT)).unwrap();
        if mode == 0o666 {
            session.exp_string("others can have written it").unwrap();
        }
        session.exp_string("Allow it? [y/N] ").unwrap();
        session.send_line("y").unwrap();
        finish(session);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn url_is_opened_after_consent_only() {
    // spec: ELIC-12, ELIC-14
    let home = folder("terminal_browser");
    let browser = home.join("browser");
    let opened = home.join("opened");
    let script = format!("#!/bin/sh\necho \"$1\" > '{}'\n", opened.display());
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    let url = http_desk();
    for (consent, code) in [("n", 6), ("y", 0)] {
        let mut command = command(&["call", &url, "pay"], &home);
        command.env("BROWSER", &browser);
        let mut session = spawn_command(command, Some(LIMIT)).unwrap();
        session
            .exp_string("https://pay.example.com/start?order=7")
            .unwrap();
        session.exp_string("The host is pay.example.com").unwrap();
        session
            .exp_string("Open it in the browser? [y/N] ")
            .unwrap();
        assert!(!opened.exists());
        session.send_line(consent).unwrap();
        if consent == "y" {
            session.exp_string("Press Enter").unwrap();
            session.send_line("").unwrap();
        }
        let (rest, actual) = finish(session);
        assert_eq!(actual, code, "{rest}");
    }
    let page = std::fs::read_to_string(&opened).unwrap();
    assert_eq!(page.trim(), "https://pay.example.com/start?order=7");
}

#[test]
fn first_ctrl_c_cancels_the_call() {
    let mut session = start(&["call", &http_desk(), "wait"]);
    session.exp_string("50 %").unwrap();
    session.send_control('c').unwrap();
    session
        .exp_string("cancelling; press Ctrl-C again to leave")
        .unwrap();
    let (rest, code) = finish(session);
    assert_eq!(code, 130, "{rest}");
    assert!(rest.contains("error:"), "{rest:?}");
}

#[test]
fn second_ctrl_c_leaves_at_once() {
    // The server never answers the end of a session, so that only the second one ends the command.
    let url = http_desk_with_endless_sessions();
    let mut session = start(&["call", &url, "wait", "--protocol", "legacy"]);
    session.exp_string("50 %").unwrap();
    session.send_control('c').unwrap();
    session
        .exp_string("cancelling; press Ctrl-C again to leave")
        .unwrap();
    session.send_control('c').unwrap();
    let (rest, code) = finish(session);
    assert_eq!(code, 130, "{rest}");
    assert!(!rest.contains("error:"), "{rest:?}");
}
