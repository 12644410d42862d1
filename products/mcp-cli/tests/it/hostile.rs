//! Every command against servers whose texts contain line breaks, escape sequences, invisible characters and bytes that
//! are not UTF-8.

use std::path::Path;

use axum::Router;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills};
use mcp::toolset::PinFile;
use serde_json::{Value, json};

use crate::gateway::start;
use crate::kit::{Run, folder, mcp_in, on_thread};

/// Begins a line that looks like one of the command, clears the screen, sets the title of the terminal, and contains
/// DEL, C1, bidi, invisible and tag characters.
pub(crate) const HOSTILE: &str = "x\nerror: forged\r\n\r\x1b[2J\x1b]0;title\x07\x7f\u{85}\u{9b}2J\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}\u{e0041}y";

/// Asserts that a terminal shows every character of the text, and that no line is forged.
#[track_caller]
pub(crate) fn assert_clean(text: &str, context: &str) {
    let is_hidden = |c: char| {
        (c.is_control() && c != '\n')
            || "\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}\u{e0041}".contains(c)
    };
    let found: Vec<_> = text.chars().filter(|c| is_hidden(*c)).collect();
    assert!(found.is_empty(), "{context}: {found:?} in {text:?}");
    let is_forged = |line: &str| line.starts_with("error: forged");
    assert!(!text.lines().any(is_forged), "{context}: {text:?}");
}

/// Starts a server of 2025-06-18 whose texts are hostile. Its path decides how requests fail.
pub(crate) fn hostile_server() -> String {
    on_thread(|listener| async {
        let internal = || async { (StatusCode::INTERNAL_SERVER_ERROR, HOSTILE) };
        let refused = |body: String| async move {
            let request: Value = serde_json::from_str(&body).unwrap_or_default();
            let error = json!({"code": -32000, "message": HOSTILE, "data": {"text": HOSTILE}});
            respond(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        };
        let app = Router::new()
            .route("/mcp", get(changes).post(answer))
            .route("/broken", post(internal))
            .route("/refused", post(refused))
            .route("/protected", any(StatusCode::UNAUTHORIZED))
            .route("/.well-known/{*path}", get(metadata));
        drop(axum::serve(listener, app).await);
    })
}

fn respond(message: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

fn stream(messages: &[Value]) -> Response {
    let events = messages
        .iter()
        .map(|message| format!("data: {message}\n\n"));
    let events: String = events.collect();
    ([(CONTENT_TYPE, "text/event-stream")], events).into_response()
}

/// The metadata of the protected path: its authorization server has no valid URL.
async fn metadata(headers: HeaderMap) -> Response {
    let host = headers[HOST].to_str().unwrap();
    let resource = format!("http://{host}/protected");
    respond(
        &json!({"resource": resource, "authorization_servers": [HOSTILE], "scopes_supported": [HOSTILE]}),
    )
}

/// Changes of resources.
async fn changes() -> Response {
    let params = json!({"uri": format!("test://{HOSTILE}")});
    let method = "notifications/resources/updated";
    stream(&[json!({"jsonrpc": "2.0", "method": method, "params": params})])
}

async fn answer(body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let (id, params) = (&request["id"], &request["params"]);
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let text = json!([{"type": "text", "text": HOSTILE}, {"type": "resource_link", "name": HOSTILE, "uri": "test://a"}]);
    let properties =
        json!({HOSTILE: {"type": "string", "description": HOSTILE, "enum": [HOSTILE]}});
    let tool = |name: &str| {
        let schema = json!({"type": "object", "properties": properties});
        json!({"name": name, "title": HOSTILE, "description": HOSTILE, "inputSchema": schema, "outputSchema": schema})
    };
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": HOSTILE, "version": HOSTILE},
            "instructions": HOSTILE,
            "capabilities": {
                "tools": {}, "prompts": {}, "resources": {"subscribe": true}, "logging": {}, "completions": {},
                "experimental": {HOSTILE: {}},
            },
        }),
        "tools/list" => {
            json!({"tools": [tool("text"), tool("value"), tool("fail"), tool("error"), tool(HOSTILE)]})
        }
        "tools/call" => {
            let log = json!({"level": "error", "logger": HOSTILE, "data": HOSTILE});
            let progress = json!({
                "progressToken": params["_meta"]["progressToken"], "progress": 1, "message": HOSTILE,
            });
            let end = match params["name"].as_str().unwrap() {
                "error" => json!({"error": {"code": -32000, "message": HOSTILE}}),
                "fail" => json!({"result": {"content": text, "isError": true}}),
                "value" => {
                    json!({"result": {"content": [], "structuredContent": {HOSTILE: HOSTILE}}})
                }
                _ => json!({"result": {"content": text, "structuredContent": {}}}),
            };
            let mut end = end;
            end["jsonrpc"] = json!("2.0");
            end["id"] = id.clone();
            return stream(&[
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log}),
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}),
                end,
            ]);
        }
        "prompts/list" => json!({"prompts": [{"name": HOSTILE, "description": HOSTILE}]}),
        "prompts/get" => {
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": HOSTILE}}]})
        }
        "resources/list" => {
            json!({"resources": [{"uri": "test://a", "name": HOSTILE, "description": HOSTILE}]})
        }
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": "test://{a}", "name": HOSTILE, "description": HOSTILE}]})
        }
        "resources/read" => json!({"contents": [
            {"uri": "test://a", "text": HOSTILE},
            {"uri": "test://a", "mimeType": HOSTILE, "blob": "AAEC/w=="},
        ]}),
        "completion/complete" => json!({"completion": {"values": [HOSTILE]}}),
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": HOSTILE});
            return respond(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    respond(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Runs a command as text and with `--json`. `is_contents`: standard output is text of the server with its line breaks.
fn check(folder: &Path, words: &[&str], is_contents: bool) -> [Run; 2] {
    let run = |flags: &[&str]| {
        let at = words.iter().position(|word| *word == "--");
        let (before, after) = words.split_at(at.unwrap_or(words.len()));
        mcp_in(folder, &[before, flags, after].concat(), "")
    };
    let text = run(&[]);
    let out = if is_contents {
        text.out.replace("error: forged", "")
    } else {
        text.out.clone()
    };
    assert_clean(&out, &format!("{words:?}"));
    assert_clean(&text.err, &format!("{words:?}"));
    let json = run(&["--json"]);
    assert_clean(&json.out, &format!("{words:?} --json"));
    assert_clean(&json.err, &format!("{words:?} --json"));
    assert_eq!(json.code, text.code, "{json:?}");
    if json.code != 0 {
        assert!(json.json_error()["message"].is_string(), "{json:?}");
    }
    [text, json]
}

#[test]
fn every_command_shows_every_character_from_a_server() {
    let folder = folder("hostile");
    let origin = hostile_server();
    let url = &*format!("{origin}/mcp");
    let pins = PinFile::open(folder.join("pins.json")).unwrap();
    pins.check(HOSTILE, &[Tool::new(HOSTILE)]);
    let changed = Tool::new(HOSTILE).title(HOSTILE).description(HOSTILE);
    pins.check(HOSTILE, &[changed, Tool::new("new").description(HOSTILE)]);
    // The command, its exit code, and whether it prints contents.
    for (words, code, is_contents) in [
        (&["list", url][..], 0, false),
        (&["info", url], 0, true),
        (&["ping", url], 0, false),
        (&["call", url, "text"], 0, true),
        (&["call", url, "value"], 0, false),
        (&["call", url, "fail"], 6, false),
        (&["call", url, "error"], 5, false),
        // The server answers for a tool that it does not list.
        (&["call", url, "missing"], 0, true),
        (
            &["call", url, "text", "no=1", "--args-json", "[]"],
            1,
            false,
        ),
        (&["read", url, "test://a"], 0, true),
        (&["prompt", url, "a"], 0, true),
        (&["complete", url, "a", "b=c"], 0, false),
        (&["listen", url, "test://a", "--count", "1"], 0, false),
        (&["tasks", "get", url, "1"], 5, false),
        (&["tasks", "watch", url, "1"], 5, false),
        (&["tasks", "cancel", url, "1"], 5, false),
        (&["skills", "list", url], 5, false),
        (&["doctor", url], 0, false),
        (&["whoami", url], 0, false),
        (&["test", url, "--yes", "--calls", "3"], 1, false),
        (&["pin", "pins.json"], 0, false),
    ] {
        let [text, json] = check(&folder, words, is_contents);
        assert_eq!(text.code, code, "{words:?}: {text:?}");
        if code == 0 {
            json.json();
        }
    }
    for path in ["broken", "refused"] {
        let url = &*format!("{origin}/{path}");
        for command in ["list", "info", "ping", "doctor", "snapshot", "whoami"] {
            let [text, _] = check(&folder, &[command, url], false);
            assert!(text.code >= 4, "{text:?}");
        }
        let file = &*folder.join("session.jsonl").display().to_string();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": {HOSTILE: HOSTILE}});
        let lines = [
            json!({"recording": 1, "target": HOSTILE}),
            json!({"ms": 1, "from": "client", "message": request}),
            json!({"ms": 2, "from": "server", "message": response}),
        ];
        std::fs::write(file, lines.map(|line| line.to_string()).join("\n")).unwrap();
        let [text, _] = check(&folder, &["replay", file, "--against", url], false);
        assert_ne!(text.code, 0, "{text:?}");
    }
}

/// Commands that pass messages on: the client reads standard output, the user standard error.
#[tokio::test(flavor = "multi_thread")]
async fn commands_between_client_and_server_show_every_character() {
    let folder = folder("hostile_between");
    let url = &*format!("{}/mcp", hostile_server());
    let mcp = env!("CARGO_BIN_EXE_mcp");
    for between in [
        &["proxy", url][..],
        &["record", "-o", "session.jsonl", url],
        &["dev", "--", mcp, "proxy", url],
    ] {
        let words = [&["call", "error", "--", mcp], between].concat();
        let [text, _] = check(&folder, &words, false);
        assert!(text.code == 5 && text.err.contains(r"\n"), "{text:?}");
    }
    let words = [
        "--author",
        "Ada",
        "--description",
        "x",
        "--dry-run",
        "--",
        mcp,
        "proxy",
        url,
    ];
    let [packed, _] = check(&folder, &[&["pack"][..], &words].concat(), false);
    assert!(
        packed.code == 0 && packed.out.contains("manifest_version"),
        "{packed:?}"
    );
    let served = start(&["serve", url, "--listen", "127.0.0.1:0"]);
    let client = Client::connect(&*served.url).await.unwrap();
    assert!(client.call("error", ()).await.is_err());
    drop(client.read_resource("test://none").await);
    assert_clean(&served.into_text(), "the log of serve");
}

#[test]
fn login_refuses_an_issuer_with_control_characters() {
    let folder = folder("hostile_login");
    let url = &*format!("{}/protected", hostile_server());
    for words in [
        &["login", url, "--no-browser"][..],
        &["list", url],
        &["doctor", url],
        &["whoami", url],
        &["logout", url],
    ] {
        check(&folder, words, false);
    }
    let [text, _] = check(&folder, &["login", url, "--no-browser"], false);
    let reason = "the issuer is not a URL without query";
    assert!(
        text.err.contains(reason) && !text.err.contains("forged"),
        "{text:?}"
    );
}

/// A new command needs a row in one of the tests here, or a reason why it shows nothing of a server.
#[test]
fn every_command_is_tested() {
    let tested = [
        "list", "call", "read", "prompt", "complete", "listen", "tasks", "skills", "ping", "info",
        "doctor", "snapshot", "diff", "gen", "record", "replay", "servers", "proxy", "serve",
        "gateway", "login", "logout", "whoami", "pack", "test", "pin", "dev",
    ];
    // The inspector's page has tests of its own; the others ask no server.
    let without_text = [
        "inspect",
        "completions",
        "man",
        "new",
        "install",
        "uninstall",
    ];
    let help = mcp_in(&folder("hostile_help"), &["--help"], "").out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.split_whitespace().next());
    let missing: Vec<_> = names
        .filter(|name| !tested.contains(name) && !without_text.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn texts_from_a_server_survive_as_json() {
    let folder = folder("hostile_json");
    let url = &*format!("{}/mcp", hostile_server());
    let run = |words: &[&str]| mcp_in(&folder, words, "").json();
    let called = run(&["call", url, "text", "--json"]);
    assert_eq!(called["content"][0]["text"], HOSTILE);
    let listed = run(&["list", url, "--json"]);
    assert_eq!(listed["tools"][0]["description"], HOSTILE);
    // Without the flag a structured result is JSON as well.
    assert_eq!(run(&["call", url, "value"]), json!({ HOSTILE: HOSTILE }));
}

#[test]
fn snapshots_and_generated_code_show_every_character() {
    let folder = folder("hostile_files");
    let url = &*format!("{}/mcp", hostile_server());
    let (old, code) = (folder.join("old.json"), folder.join("shop.rs"));
    let (old, code) = (old.to_str().unwrap(), code.to_str().unwrap());
    check(&folder, &["snapshot", url], false);
    check(&folder, &["snapshot", url, "-o", old], false);
    let stored = std::fs::read_to_string(old).unwrap();
    assert_clean(&stored, "a snapshot");
    assert_eq!(mcp_in(&folder, &["snapshot", url], "").out, stored);
    check(&folder, &["diff", old, url], false);
    // Each text differs.
    let mut other: Value = serde_json::from_str(&stored).unwrap();
    for tool in other["tools"].as_array_mut().unwrap() {
        tool["description"] = json!("other");
        tool["inputSchema"]["properties"] = json!({});
    }
    std::fs::write(old, other.to_string()).unwrap();
    check(&folder, &["diff", old, url], false);
    for command in ["rust", "rust-server"] {
        let generated = mcp_in(&folder, &["gen", command, url], "");
        assert_eq!(generated.code, 0, "{generated:?}");
        assert_clean(&generated.out, command);
        check(&folder, &["gen", command, url, "-o", code], false);
        assert_clean(&std::fs::read_to_string(code).unwrap(), command);
    }
}

#[test]
fn skills_show_every_character() {
    let folder = folder("hostile_skills");
    let origin = on_thread(|listener| async {
        let skill = InlineSkill::new("refunds", "x\u{200b}\u{202e}y", HOSTILE);
        let skill = skill.file("data.bin", vec![0, 0xff, 0x1b, b'[']);
        let skills = Skills::new().add(skill).unwrap();
        let server = Server::new("shop", "1.0.0").extension(skills);
        drop(mcp::serve_http(server, listener).await);
    });
    let url = &*format!("{origin}/mcp");
    for (words, is_contents) in [
        (&["skills", "list", url][..], false),
        (&["skills", "show", url, "refunds"], true),
        (&["skills", "files", url, "refunds"], false),
    ] {
        let [text, _] = check(&folder, words, is_contents);
        assert_eq!(text.code, 0, "{text:?}");
    }
}

/// A program whose standard error is hostile and not UTF-8.
fn failing_program() -> [&'static str; 3] {
    let script = r"printf 'x\nerror: forged\r\033[2J\177\302\233\342\200\256\377y\n' >&2; exit 3";
    ["sh", "-c", script]
}

#[cfg(unix)]
#[test]
fn standard_error_from_a_program_is_shown_escaped() {
    let folder = folder("hostile_program");
    let [sh, flag, script] = failing_program();
    for command in ["list", "info", "ping", "doctor"] {
        let words = [command, "--", sh, flag, script];
        let [text, json] = check(&folder, &words, false).map(|run| run.out + &run.err);
        assert!(text.contains(r"\u{1b}[2J"), "{text:?}");
        // The message of an error is escaped before it becomes JSON.
        assert!(json.contains(r"\\u{1b}[2J"), "{json:?}");
    }
}

#[test]
fn names_in_a_configuration_file_are_shown_escaped() {
    let folder = folder("hostile_config");
    let servers = json!({
        HOSTILE: {"command": HOSTILE},
        "a": {"url": format!("http://{HOSTILE}/")},
        "b": {"type": HOSTILE},
        "c": {"url": format!("https://example.com/{HOSTILE}")},
    });
    let content = json!({ "mcpServers": servers }).to_string();
    std::fs::write(folder.join("mcp.json"), content).unwrap();
    check(&folder, &["servers"], false);
    for name in ["missing", "b", HOSTILE] {
        let [text, _] = check(&folder, &["list", name], false);
        assert_eq!(text.code, 1, "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_behind_a_gateway_cannot_forge_log_lines() {
    let folder = folder("hostile_gateway");
    let audit = folder.join("audit.jsonl");
    let [sh, flag, script] = failing_program();
    let servers = json!({
        "far": {"url": format!("{}/mcp", hostile_server())},
        "refused": {"url": format!("{}/refused", hostile_server())},
        "broken": {"url": format!("{}/broken", hostile_server())},
        "near": {"command": sh, "args": [flag, script]},
        HOSTILE: {"type": HOSTILE},
    });
    let file = folder.join("gateway.json");
    std::fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    let (file, path) = (file.to_str().unwrap(), audit.to_str().unwrap());
    let served = start(&["gateway", file, "--listen", "127.0.0.1:0", "--audit", path]);
    let client = Client::connect(&*served.url).await.unwrap();
    assert!(client.call("far__error", ()).await.is_err());
    assert!(client.call("far__fail", ()).await.unwrap().is_error());
    let uri = format!("test://{HOSTILE}");
    drop(client.read_resource(&*uri).await);
    // The file is read again when it changes.
    std::fs::write(file, format!("{{\"mcpServers\": {{{HOSTILE}")).unwrap();
    served.wait_for_line("was not applied");
    assert_clean(&served.into_text(), "the log");
    let lines = std::fs::read_to_string(&audit).unwrap();
    assert_clean(&lines, "the audit file");
    let calls: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (item, outcome) in [("error", "error"), ("fail", "error result")] {
        let call = calls.iter().find(|call| call["item"] == item);
        let call = call.unwrap_or_else(|| panic!("{item}: {lines}"));
        assert_eq!(
            (&call["server"], &call["outcome"]),
            (&json!("far"), &json!(outcome))
        );
        assert!(
            call["timestamp"].is_string() && call["duration_ms"].is_u64(),
            "{call}"
        );
    }
}

#[test]
fn audit_file_that_cannot_be_written_stops_the_start() {
    let folder = folder("hostile_audit");
    std::fs::write(folder.join("mcp.json"), r#"{"mcpServers": {}}"#).unwrap();
    let words = ["gateway", "mcp.json", "--audit", "no/such/folder/file"];
    let run = mcp_in(&folder, &words, "");
    assert!(
        run.code == 1 && run.err.contains("--audit: cannot write"),
        "{run:?}"
    );
}

/// `mcp pin` shows what its user pastes after the next `mcp pin`.
#[test]
fn name_for_the_next_command_is_inert_in_a_shell() {
    let folder = folder("hostile-paste");
    let pins = PinFile::open(folder.join("mcp.lock")).unwrap();
    pins.check("evil", &[Tool::new("a")]);
    let tools = [Tool::new("a"), Tool::new("x;touch${IFS}pwned;#")];
    pins.check("evil", &tools);
    let shown = mcp_in(&folder, &["pin", "mcp.lock"], "");
    let digest = shown.out.lines().next().unwrap().trim();
    assert!(
        digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{shown:?}"
    );
    assert!(
        shown.out.contains("its name is \"evil__x;touch"),
        "{shown:?}"
    );
    let approved = mcp_in(&folder, &["pin", "mcp.lock", digest], "");
    assert!(
        approved.code == 0 && approved.out.contains("approved evil__x"),
        "{approved:?}"
    );
}
