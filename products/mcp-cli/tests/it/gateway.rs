//! `mcp serve` and `mcp gateway`.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mcp::ConnectMode;
use mcp::prelude::*;
use mcp::types::{ElicitResult, ProtocolVersion};
use serde_json::json;

use crate::kit::{folder, http_shop, mcp, on_thread, stdio_shop};

const LIMIT: Duration = Duration::from_secs(30);

/// A running command. It is killed when this is dropped.
pub(crate) struct Served {
    child: RefCell<Child>,
    pub(crate) url: String,
    /// The lines of standard error before the address.
    first_lines: Vec<String>,
    /// The lines of standard error after the address.
    lines: Receiver<String>,
    /// The lines that were received already.
    seen: RefCell<Vec<String>>,
}

impl Served {
    /// Waits for a line of standard error with these words.
    pub(crate) fn wait_for_line(&self, words: &str) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no line with {words:?}"));
            self.seen.borrow_mut().push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }
}

impl Served {
    /// Ends the command. Returns its standard error without the line with the address.
    pub(crate) fn into_text(self) -> String {
        let mut lines = self.first_lines.clone();
        lines.append(&mut self.seen.borrow_mut());
        self.end();
        lines.extend(self.lines.iter());
        lines.join("\n")
    }

    fn end(&self) {
        let mut child = self.child.borrow_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a command, and waits for its address.
pub(crate) fn start(words: &[&str]) -> Served {
    start_in(&folder("gateway_home"), words)
}

/// Starts it with a home folder.
pub(crate) fn start_in(home: &Path, words: &[&str]) -> Served {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(words)
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let mut first_lines = Vec::new();
    let url = lines.find_map(|line| match line.strip_prefix("listening on ") {
        Some(url) => Some(url.to_owned()),
        None => {
            first_lines.push(line);
            None
        }
    });
    let url = url.unwrap();
    // The pipe is read until its end, so that the command never waits.
    let (sender, rest) = channel();
    std::thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
    Served {
        child: child.into(),
        url,
        first_lines,
        lines: rest,
        seen: RefCell::default(),
    }
}

fn config(name: &str) -> PathBuf {
    let file = folder("gateway_files").join(format!("{name}.json"));
    let servers = json!({
        "near": {"command": stdio_shop()},
        "far": {"url": http_shop()},
        "off": {"command": "nothing", "disabled": true},
    });
    std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    file
}

fn modes() -> [ConnectMode; 2] {
    [
        ConnectMode::Legacy,
        ConnectMode::Pin(ProtocolVersion::LATEST),
    ]
}

fn client(mode: ConnectMode) -> mcp::ClientBuilder {
    Client::builder().mode(mode).on_elicit(async |_| {
        ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn program_is_served_over_http_for_both_eras() {
    for flags in [&[][..], &["--one-process"]] {
        let program = stdio_shop();
        let words = [
            &["serve", "--listen", "127.0.0.1:0"],
            flags,
            &["--", &*program],
        ]
        .concat();
        let served = start(&words);
        for mode in modes() {
            let client = client(mode).connect(&*served.url).await.unwrap();
            let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
            assert_eq!(sum.text(), "3");
            let order = client.call("order", ()).await.unwrap();
            assert_eq!(order.text(), "3 items");
            client.close().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_in_a_file_appear_as_one_server() {
    let file = config("http");
    let file = file.to_str().unwrap();
    let words = [
        "gateway",
        file,
        "--listen",
        "127.0.0.1:0",
        "--hide-tool",
        "far__f*",
    ];
    let served = start(&words);
    for mode in modes() {
        let client = client(mode).connect(&*served.url).await.unwrap();
        let tools = client.list_tools().await.unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        assert!(has("near__add") && has("far__add") && has("near__fail") && !has("far__fail"));
        for server in ["near", "far"] {
            let order = client.call(format!("{server}__order"), ()).await.unwrap();
            assert_eq!(order.text(), "3 items");
        }
        client.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_on_standard_streams_serves_clients_that_start_it() {
    let file = config("stdio");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("gateway").arg(&file).arg("--stdio");
    command.env("HOME", folder("gateway_home"));
    let client = client(ConnectMode::Auto).connect(command).await.unwrap();
    let order = client.call("near__order", ()).await.unwrap();
    assert_eq!(order.text(), "3 items");
    client.close().await.unwrap();
}

/// Returns the files of stored lists in a home folder.
#[cfg(target_os = "linux")]
fn stored_lists(home: &Path) -> Vec<PathBuf> {
    let children = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = children(home.join(".cache/mcp/lists"));
    let files = folders.flat_map(|folder| children(folder.path()));
    let files = files.map(|file| file.path());
    // Without one that is being written.
    files
        .filter(|path| path.extension() == Some("json".as_ref()))
        .collect()
}

/// Starts a gateway until it has stored lists, and returns the names of the tools and the file.
#[cfg(target_os = "linux")]
async fn store_lists(home: &Path, words: &[&str], former: &[PathBuf]) -> (Vec<String>, PathBuf) {
    let served = start_in(home, words);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    let names = names(&client).await;
    for _ in 0..500 {
        if let [file] = &*stored_lists(home)
            && !former.contains(file)
        {
            return (names, file.clone());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{:?}", stored_lists(home))
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn first_list_has_stored_tools_for_slow_servers() {
    let (home, files) = (folder("gateway_stored"), folder("gateway_stored_files"));
    let (file, slow) = (files.join("mcp.json"), files.join("slow"));
    let write = |name: &str| {
        let wait = format!("while [ -e '{}' ]; do sleep 0.1; done", slow.display());
        let script = format!("{wait}; exec '{}'", stdio_shop());
        let servers = json!({name: {"command": "sh", "args": ["-c", script]}});
        std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    };
    write("near");
    let words = ["gateway", file.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let (expected, stored) = store_lists(&home, &words, &[]).await;
    assert!(expected.contains(&"near__add".to_owned()), "{expected:?}");

    std::fs::write(&slow, "").unwrap();
    let served = start_in(&home, &words);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    assert_eq!(names(&client).await, expected);
    std::fs::remove_file(&slow).unwrap();
    let sum = client
        .call("near__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.text(), "3");
    served.end();

    // Those of a removed entry are removed.
    write("other");
    let (names, _) = store_lists(&home, &words, &[stored]).await;
    assert!(names.contains(&"other__add".to_owned()), "{names:?}");
}

/// Writes a TOML file, and returns its path.
fn toml(name: &str, content: &str) -> String {
    let file = folder(&format!("gateway_{name}")).join("gateway.toml");
    std::fs::write(&file, content).unwrap();
    file.to_str().unwrap().to_owned()
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().fresh().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn toml_file_is_applied_and_applied_again_when_it_changes() {
    let url = http_shop();
    let content = |rest: &str| {
        format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[servers.far]\nurl = \"${{GATEWAY_TEST_URL:-{url}}}\"\n\
             allow = [\"add\", \"fail\"]\ndeny = [\"f*\"]\n{rest}"
        )
    };
    let file = toml(
        "reload",
        &content("[servers.far.tools.add]\nhidden_arguments = { b = 40 }"),
    );
    let served = start(&["gateway", &file, "--audit", "-"]);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    assert_eq!(names(&client).await, ["far__add"]);
    let sum = client.call("far__add", json!({"a": 2})).await.unwrap();
    assert_eq!(sum.text(), "42");
    let audit = served.wait_for_line("outcome");
    let audit: serde_json::Value = serde_json::from_str(&audit).unwrap();
    let call = ["server", "item", "outcome"].map(|name| audit[name].as_str().unwrap());
    assert_eq!(call, ["far", "add", "ok"], "{audit}");

    let mut changes = client.changes().tools_changed().await.unwrap();
    std::fs::write(&file, content("[servers.far.tools.add]\nname = \"sum\"")).unwrap();
    let change = tokio::time::timeout(LIMIT, changes.next()).await;
    assert!(matches!(change, Ok(Some(Ok(_)))), "{change:?}");
    assert_eq!(names(&client).await, ["sum"]);

    std::fs::write(&file, content("[servers.far.tools.add]\nnam = \"sum\"")).unwrap();
    let line = served.wait_for_line("was not applied");
    assert!(
        line.contains("unknown field `nam`") && line.contains("line 8"),
        "{line}"
    );
    assert_eq!(names(&client).await, ["sum"]);
    let sum = client.call("sum", json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(sum.text(), "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_tool_is_held_until_mcp_pin_approves_it() {
    let lock = folder("gateway_pin").join("mcp.lock");
    let lock = lock.to_str().unwrap();
    let content = format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[servers.far]\nurl = \"{}\"\nallow = [\"add\", \"fail\"]\n",
        http_shop()
    );
    let file = toml("pinned", &content);
    assert!(mcp(&["pin", lock]).err.contains("there is no file"));
    let words = ["gateway", &*file, "--pin", lock];
    let served = start(&words);
    let mode = ConnectMode::Auto;
    let first = client(mode.clone()).connect(&*served.url).await.unwrap();
    assert_eq!(names(&first).await, ["far__add", "far__fail"]);
    assert!(served.into_text().contains("approved at their first use"));

    // As if the server had changed one tool, and added another one.
    let text = std::fs::read_to_string(lock).unwrap();
    let mut pins: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tools = &mut pins["tool"]["far"];
    tools["add"]["agreed"]["description"] = json!("Added two\u{202e} numbers.");
    tools.as_object_mut().unwrap().remove("fail");
    std::fs::write(lock, pins.to_string()).unwrap();
    let served = start(&words);
    let client = client(mode).connect(&*served.url).await.unwrap();
    assert!(names(&client).await.is_empty());
    let refused = client
        .call("far__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert!(
        refused.text().contains("`mcp pin mcp.lock`"),
        "{}",
        refused.text()
    );

    let shown = mcp(&["pin", lock]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for part in [
        "far__add",
        "/tools/add/description",
        "-   \"description\": \"Added two\\u{202e} numbers.\"",
        "+   \"description\": \"Adds two numbers.\"",
        "far__fail",
        "a new tool",
    ] {
        assert!(shown.out.contains(part), "no {part} in {}", shown.out);
    }
    assert!(!shown.out.contains("cosmetic"), "{shown:?}");
    let shown = mcp(&["pin", lock, "--json"]).json();
    assert_eq!(shown["held"][1]["name"], "far__fail");
    let path = "/tools/add/description";
    let difference = &shown["held"][0]["differences"][0];
    assert_eq!(
        (&difference["path"], &difference["impact"]),
        (&json!(path), &json!(null))
    );
    let digest = shown["held"][0]["digest"].as_str().unwrap();
    for (wanted, reason) in [
        (
            "far__nothing@1".to_owned(),
            "nothing that is held has such a name",
        ),
        ("far__add".to_owned(), "has no digest"),
        ("far__add@1".to_owned(), "has changed since it was shown"),
        (
            format!("far__fail@{digest}"),
            "has changed since it was shown",
        ),
    ] {
        let refused = mcp(&["pin", lock, &wanted]);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains(reason), "{refused:?}");
    }
    let approved = mcp(&["pin", lock, &format!("far__add@{digest}")]);
    assert!(approved.out.contains("approved far__add"), "{approved:?}");
    let offered = async {
        while names(&client).await != ["far__add"] {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, offered).await.unwrap();
    let sum = client
        .call("far__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.text(), "3");
    let log = served.into_text();
    assert!(log.contains("a tool is held until it is approved"), "{log}");
    // A changed description is what a model obeys.
    for text in [log, mcp(&["pin", lock, "--json"]).out] {
        assert!(!text.contains("cosmetic"), "{text}");
    }

    std::fs::write(lock, "[]").unwrap();
    assert!(mcp(&["pin", lock]).err.contains("is malformed"));
    assert!(
        mcp(&["gateway", &file, "--pin", lock])
            .err
            .contains("is malformed")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn service_with_an_openapi_document_is_a_server() {
    let origin = on_thread(|listener| async {
        let route = axum::routing::get(|headers: http::HeaderMap| async move {
            format!("{:?}", headers["x-key"])
        });
        let app = axum::Router::new().route("/v1/pets/{id}", route);
        axum::serve(listener, app).await.unwrap();
    });
    let document = folder("gateway_document").join("pets.yaml");
    let yaml = "openapi: 3.0.3\ninfo: {title: pets, version: '1'}\npaths:\n  /pets/{id}:\n    get:\n      operationId: pet\n      \
                parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n      responses: {}\n";
    std::fs::write(&document, yaml).unwrap();
    let file = toml(
        "openapi",
        &format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[servers.pets]\nurl = \"{origin}/v1\"\n\
             headers = {{ X-Key = \"k\" }}\nopenapi = {{ document = '{}', methods = [\"get\"] }}\n",
            document.display()
        ),
    );
    let served = start(&["gateway", &file]);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    assert_eq!(names(&client).await, ["pets__pet"]);
    let pet = client.call("pets__pet", json!({"id": "7"})).await.unwrap();
    assert_eq!(pet.text(), "\"k\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_error_in_a_program_is_logged_with_its_stderr() {
    let file = config("burning");
    let file = file.to_str().unwrap();
    let served = start(&["gateway", file, "--listen", "127.0.0.1:0"]);
    for mode in modes() {
        let client = client(mode).connect(&*served.url).await.unwrap();
        let error = client.call("near__bake", ()).await.unwrap_err();
        let text = error.to_string();
        assert!(!text.contains("the oven burns"), "{text}");
    }
    let line = served.wait_for_line("the oven burns");
    assert!(line.contains("reports an internal error"), "{line}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn killed_server_fails_its_calls_only_and_is_started_again() {
    let process = folder("gateway_kill").join("process");
    let script = format!("echo $$ > '{}'; exec '{}'", process.display(), stdio_shop());
    let file = toml(
        "killed",
        &format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n\
             [servers.near]\ncommand = \"sh\"\nargs = [\"-c\", \"{script}\"]\none_session = true\n\
             [servers.far]\nurl = \"{}\"\n",
            http_shop()
        ),
    );
    let served = start(&["gateway", &file]);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    let (started, mut running) = tokio::sync::mpsc::unbounded_channel();
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let (client, started) = (client.clone(), started.clone());
            tokio::spawn(async move {
                let call = client.call("near__wait", ());
                let report = |_| started.send(()).unwrap();
                call.on_progress(report).await
            })
        })
        .collect();
    for _ in 0..3 {
        tokio::time::timeout(LIMIT, running.recv()).await.unwrap();
    }
    let id = std::fs::read_to_string(&process).unwrap();
    let killed = Command::new("kill").args(["-KILL", id.trim()]).status();
    assert!(killed.unwrap().success());
    for call in calls {
        let failed = tokio::time::timeout(LIMIT, call).await.unwrap().unwrap();
        let failed = failed.unwrap();
        let text = failed.text();
        assert!(failed.is_error(), "{text}");
        for part in ["\"near\"", "SIGKILL", "may have run"] {
            assert!(text.contains(part), "{text}");
        }
    }
    let sum = client
        .call("far__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.text(), "3");
    // The server is started again without a call.
    let started = async {
        while std::fs::read_to_string(&process).is_ok_and(|text| text == id || text.is_empty()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, started).await.unwrap();
    let sum = client
        .call("near__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum.text(), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_hangs_does_not_keep_the_gateway_from_answering() {
    let far = http_shop();
    let hanging = format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[servers.far]\nurl = \"{far}\"\n\
         [servers.slow]\ncommand = \"sh\"\nargs = [\"-c\", \"sleep 100\"]\n"
    );
    let file = toml("hanging", &hanging);
    let begin = Instant::now();
    let served = start(&["gateway", &file]);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    let listed = names(&client).await;
    assert!(listed.contains(&"far__add".to_owned()), "{listed:?}");
    let line = served.wait_for_line("still starting");
    assert!(line.contains("slow"), "{line}");
    // Hosts wait for 10 to 30 seconds.
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_with_authorization_demands_a_token() {
    let file = toml(
        "protected",
        &format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[authorization]\n\
             resource = \"http://127.0.0.1/mcp\"\nissuers = [\"http://127.0.0.1:9\"]\n\
             [servers.far]\nurl = \"{}\"\n",
            http_shop()
        ),
    );
    let served = start(&["gateway", &file]);
    let client = client(ConnectMode::Auto).connect(&*served.url).await;
    let error = client.unwrap_err();
    assert!(error.is_auth(), "{error}");
}

#[test]
fn unusable_arguments_are_refused() {
    let empty = folder("gateway_files").join("empty.json");
    std::fs::write(&empty, "{\"mcpServers\": {}}").unwrap();
    let empty = empty.to_str().unwrap();
    for words in [
        &["gateway", empty][..],
        &["gateway", "missing.json"],
        &["serve"],
        &["serve", "nobody"],
    ] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
    }
    let double = "[servers.a]\nurl = \"http://127.0.0.1:9/\"\n[servers.a.tools]\nb.name = \"x\"\nc.name = \"x\"";
    let run = mcp(&["gateway", &toml("double", double)]);
    assert!(
        run.code == 1 && run.err.contains("\"x\" belongs to"),
        "{run:?}"
    );
    let anonymous = "[servers.a]\nurl = \"http://127.0.0.1:9/\"\n\
        token_exchange = { issuer = \"https://a\", client_id = \"b\", client_secret = \"c\" }";
    let run = mcp(&["gateway", &toml("anonymous", anonymous)]);
    assert!(
        run.code == 1
            && run
                .err
                .contains("`servers.a.token_exchange` needs the table `authorization`"),
        "{run:?}"
    );
    let run = mcp(&["serve", "--", "no-such-program-anywhere"]);
    assert_eq!(run.code, 4, "{run:?}");
}

/// Each restriction has its effect, or the gateway does not start: none is silently void.
#[test]
fn restrictions_that_a_mode_makes_void_are_refused() {
    let server = "[servers.a]\nurl = \"http://127.0.0.1:9/\"\n";
    let authorization = "[authorization]\nresource = \"http://127.0.0.1/mcp\"\nissuers = [\"http://127.0.0.1:9\"]\n";
    let json = folder("gateway_void").join("gateway.json");
    std::fs::write(
        &json,
        "{\"mcpServers\": {\"a\": {\"url\": \"http://127.0.0.1:9/\"}}}",
    )
    .unwrap();
    let json = json.to_str().unwrap();
    let protected = toml("void_protected", &format!("{authorization}{server}"));
    let held = toml(
        "void_held",
        &format!("[tools]\npin_new = \"hold\"\n{server}"),
    );
    let plain = toml("void_plain", server);
    let limited = toml(
        "void_limited",
        &format!("[tools.limits]\nper_seconds = 1.0\n{server}"),
    );
    for (words, reason) in [
        (
            &["gateway", &*protected, "--stdio"][..],
            "the table `authorization` needs HTTP",
        ),
        (&["gateway", &held], "`tools.pin_new`"),
        (&["gateway", &plain, "--pin-new", "hold"], "`tools.pin_new`"),
        (
            &["gateway", json, "--pin-new", "hold"],
            "--pin-new needs --pin",
        ),
        (&["gateway", &limited], "`tools.limits.per_seconds`"),
        (
            &["gateway", &plain, "--stdio", "--allow-host", "a.example"],
            "cannot be used with",
        ),
        (
            &["gateway", &plain, "--one-process", "b"],
            "has no server \"b\"",
        ),
    ] {
        let refused = mcp(words);
        assert!(
            refused.code != 0 && refused.err.contains(reason),
            "{words:?}: {refused:?}"
        );
    }
}

/// A table that a running gateway cannot apply is not applied in part.
#[test]
fn restrictions_added_while_gateway_runs_are_reported() {
    let server = format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[servers.far]\nurl = \"{}\"\n",
        http_shop()
    );
    let file = toml("added", &server);
    let served = start(&["gateway", &file]);
    for (added, table) in [
        (
            "[authorization]\nresource = \"http://127.0.0.1/mcp\"\nissuers = [\"http://127.0.0.1:9\"]\n",
            "authorization",
        ),
        ("[tools]\npin = \"mcp.lock\"\n", "tools"),
    ] {
        toml("added", &format!("{server}{added}"));
        let line = served.wait_for_line("was not applied");
        assert!(
            line.contains(&format!("the table `{table}` has changed")),
            "{line}"
        );
    }
}

/// Sends a GET request to the admin page. Returns the head and the body of the response.
fn get(host: &str, path: &str, header: &str) -> (String, String) {
    let mut stream = TcpStream::connect(host).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{header}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_page_shows_servers_to_the_browser_with_the_token() {
    let url = http_shop();
    let file = toml(
        "admin",
        &format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[admin]\nport = 0\n[servers.far]\nurl = \"{url}\"\nprefix = \"\"\n\
             [servers.lost]\ncommand = \"mcp-no-such-program\""
        ),
    );
    let served = start(&["gateway", &file]);
    let client = client(ConnectMode::Auto)
        .connect(&*served.url)
        .await
        .unwrap();
    client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert!(client.call("fail", ()).await.unwrap().is_error());

    let mut lines = served.first_lines.iter();
    let page = lines.find_map(|line| line.strip_prefix("admin page: http://"));
    let (host, start) = page.unwrap().split_once('/').unwrap();
    let (base, _) = start.split_once("/?token=").unwrap();
    let (head, _) = get(host, &format!("/{base}/api/status"), "");
    assert!(head.starts_with("http/1.1 401"), "{head}");
    let (head, _) = get(
        host,
        &format!("/{start}"),
        "origin: http://evil.example\r\n",
    );
    assert!(head.starts_with("http/1.1 403"), "{head}");
    let (head, _) = get(host, &format!("/{start}"), "");
    assert!(head.starts_with("http/1.1 303"), "{head}");
    let mut cookie = head
        .lines()
        .filter_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.next().unwrap().split(';').next().unwrap();
    let cookie = format!("cookie: {cookie}\r\n");
    for path in ["/", "/page/admin.js", "/page/admin.css"] {
        let (head, body) = get(host, &format!("/{base}{path}"), &cookie);
        assert!(
            head.starts_with("http/1.1 200") && !body.is_empty(),
            "{head}"
        );
        assert!(head.contains("content-security-policy"), "{head}");
    }
    let (_, body) = get(host, &format!("/{base}/api/status"), &cookie);
    let status: serde_json::Value = serde_json::from_str(&body).unwrap();
    let [far, lost] = &status["servers"].as_array().unwrap()[..] else {
        panic!("{status}");
    };
    assert_eq!(far["state"], "running");
    assert!(far["tools"].as_array().unwrap().contains(&json!("add")));
    let counts = ["running", "succeeded", "failed", "interrupted"].map(|name| far[name].as_u64());
    assert_eq!(counts, [0, 1, 1, 0].map(Some));
    assert_eq!(lost["state"], "down");
    assert_eq!([&far["isListed"], &lost["isListed"]], [true, false]);
    let text = lost["lastFailure"]["text"].as_str().unwrap();
    assert!(text.contains("mcp-no-such-program"), "{text}");
}
