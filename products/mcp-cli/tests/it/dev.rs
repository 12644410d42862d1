//! `mcp dev`: one client stays connected while the server is edited.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mcp::ConnectMode;
use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::kit::{example, folder, mcp, mcp_in, stdio_shop};

/// The source of the server.
const SOURCE: &str = include_str!("dev/server.rs");

/// Longest time for one step, on a machine that does other work.
const LIMIT: Duration = Duration::from_secs(60);

/// The server as a program. Tests change its tools by a file.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let folder = folder("dev_program");
    fs::write(folder.join("server.rs"), SOURCE).unwrap();
    let program = folder.join(format!("server{}", std::env::consts::EXE_SUFFIX));
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--edition=2024", "server.rs", "-o"])
        .arg(&program);
    assert!(rustc.current_dir(folder).status().unwrap().success());
    program.to_str().unwrap().to_owned()
});

fn eras() -> [ConnectMode; 2] {
    [
        ConnectMode::Legacy,
        ConnectMode::Pin(ProtocolVersion::LATEST),
    ]
}

/// A running `mcp dev`. It is ended when this is dropped.
struct Dev {
    child: Child,
    events: Receiver<Value>,
}

impl Dev {
    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or_else(|_| json!(line));
                drop(sender.send(event));
            }
        });
        Self { child, events }
    }

    /// Waits for an event with this name.
    fn wait_for(&self, name: &str) -> Value {
        let end = Instant::now() + LIMIT;
        let mut others = Vec::new();
        while let Ok(event) = self
            .events
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if event["event"] == name {
                return event;
            }
            others.push(event);
        }
        panic!("no event {name:?} among {others:?}")
    }

    fn url(&self) -> String {
        self.wait_for("listening")["url"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn dev(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("dev").args(words);
    // Those of the cargo that runs this test.
    command
        .env_remove("CARGO_TARGET_DIR")
        .env("XDG_CACHE_HOME", folder("dev_cache"))
        .env("RUST_BACKTRACE", "0");
    command
}

/// Serves the server in a folder at a free port, and prints events as JSON.
fn dev_in(folder: &str, words: &[&str]) -> Command {
    let first = ["--json", "--listen", "127.0.0.1:0", "--dir", folder];
    dev(&[&first, words].concat())
}

/// The binding of the server that is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    Pipe,
    Http,
}

impl Binding {
    fn set(self, command: &mut Command) {
        if self == Self::Http {
            command.env("SERVES_HTTP", "1");
        }
    }
}

/// A host that is connected all the time, and calls all the time.
struct Host {
    client: Client,
    calls: tokio::task::JoinHandle<()>,
    answers: Arc<AtomicUsize>,
    is_done: Arc<AtomicBool>,
}

impl Host {
    fn new(client: Client) -> Self {
        let (answers, is_done) = <(Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let (caller, count, done) = (client.clone(), answers.clone(), is_done.clone());
        let calls = tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                // Each call gets a result, or an error of the server. None is lost.
                let called = timeout(LIMIT, caller.call("greet", ())).await.unwrap();
                if let Err(error) = called {
                    assert!(error.fault().is_some(), "{error}");
                }
                count.fetch_add(1, Ordering::Relaxed);
                sleep(Duration::from_millis(20)).await;
            }
        });
        Self {
            client,
            calls,
            answers,
            is_done,
        }
    }

    /// Calls a tool until the text of its result, or of its error, has these words.
    async fn call_until(&self, tool: &str, words: &str) -> CallToolResult {
        let mut last = String::new();
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            let called = timeout(LIMIT, self.client.call(tool.to_owned(), ())).await;
            match called.unwrap() {
                Ok(result) if result.text().contains(words) => return result,
                Ok(result) => last = result.text(),
                Err(error) => last = error.to_string(),
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{words:?} is not in {last:?}")
    }

    async fn tools(&self) -> Vec<String> {
        let tools = self.client.list_tools().fresh().await.unwrap();
        tools.into_iter().map(|tool| tool.name).collect()
    }

    /// Does something, and waits until the client is notified of this list. Returns the time.
    async fn edit_until_listed(&self, edit: impl FnOnce(), tools: &[&str]) -> Duration {
        let mut changes = self.client.changes().tools_changed().await.unwrap();
        let begin = Instant::now();
        edit();
        let listed = async {
            while self.tools().await != tools {
                let change = changes.next().await;
                assert!(matches!(change, Some(Ok(_))), "{change:?}");
            }
        };
        if timeout(LIMIT, listed).await.is_err() {
            panic!("{:?} instead of {tools:?}", self.tools().await);
        }
        begin.elapsed()
    }

    /// Ends the calls. All of them were answered. Each waits for a build that runs.
    async fn end(self) {
        let many = async {
            while self.answers.load(Ordering::Relaxed) <= 10 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LIMIT, many).await.unwrap();
        self.is_done.store(true, Ordering::Relaxed);
        self.calls.await.unwrap();
        assert!(self.answers.load(Ordering::Relaxed) > 10);
        self.client.close().await.unwrap();
    }
}

/// A crate with the server.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str) -> Self {
        let folder = folder(name);
        fs::create_dir(folder.join("src")).unwrap();
        let manifest =
            "[package]\nname = \"hand\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        // A build script that writes a source must not interrupt each build.
        let script = "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
            std::fs::write(\"generated.txt\", \"text\").unwrap();\n    \
            std::thread::sleep(std::time::Duration::from_millis(500));\n}\n";
        fs::write(folder.join("build.rs"), script).unwrap();
        let this = Self(folder);
        this.save(SOURCE);
        this
    }

    fn save(&self, source: &str) {
        fs::write(self.0.join("src/main.rs"), source).unwrap();
    }
}

fn edited(old: &str, new: &str) -> String {
    assert_eq!(SOURCE.matches(old).count(), 1, "{old}");
    SOURCE.replace(old, new)
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_stay_connected_over_http_while_a_crate_is_edited() {
    edit_crate(Binding::Pipe, "dev_crate").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_stay_connected_while_a_crate_that_serves_http_is_edited() {
    edit_crate(Binding::Http, "dev_crate_http").await;
}

async fn edit_crate(binding: Binding, name: &str) {
    let package = Crate::new(name);
    let folder = package.0.to_str().unwrap();
    let mut command = dev_in(folder, &[]);
    binding.set(&mut command);
    let dev = Dev::spawn(&mut command);
    let url = dev.url();
    let mut hosts = Vec::new();
    for era in eras() {
        // The first build runs.
        let client = Client::builder().mode(era).connect(&*url).await.unwrap();
        // The first list waits for its end.
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools.len(), 1, "{tools:?}");
        hosts.push(Host::new(client));
    }
    for host in &hosts {
        host.edit_until_listed(|| (), &["greet"]).await;
        host.call_until("greet", "hello").await;
    }

    package.save(&edited("\"hello\"", "\"welcome\""));
    for host in &hosts {
        host.call_until("greet", "welcome").await;
    }

    package.save(&edited("\"hello\".to_owned()", "7"));
    for host in &hosts {
        let refused = host.call_until("greet", "does not compile").await;
        assert!(refused.is_error());
        let text = refused.text();
        let place = Path::new("src").join("main.rs");
        let line = format!("\n{}:9:5: error[E0308]: mismatched types", place.display());
        assert!(text.contains(&line), "{text}");
        assert_eq!(host.tools().await, ["greet"]);
        let error = host.client.read_resource("disks://all").await.unwrap_err();
        assert!(error.to_string().contains("error[E0308]"), "{error}");
    }
    let broken = dev.wait_for("broken");
    assert_eq!(broken["errors"][0]["line"], 9, "{broken}");

    package.save(&edited("\"greet\"", "\"greet part\""));
    for host in &hosts {
        host.edit_until_listed(|| (), &["greet", "part"]).await;
        host.call_until("part", "hello").await;
    }

    package.save(&edited("fn main() {", "fn main() {\npanic!(\"no disk\");"));
    for host in &hosts {
        let refused = host.call_until("greet", "no disk").await;
        assert!(refused.is_error(), "{refused:?}");
        assert_eq!(host.tools().await, ["greet", "part"]);
    }

    // Without `part` again.
    package.save(SOURCE);
    for host in hosts {
        host.edit_until_listed(|| (), &["greet"]).await;
        host.call_until("greet", "hello").await;
        host.end().await;
    }
    // A file that does not change the program leaves it running.
    while dev.events.try_recv().is_ok() {}
    fs::write(package.0.join("notes.md"), "").unwrap();
    dev.wait_for("unchanged");
}

#[tokio::test(flavor = "multi_thread")]
async fn host_on_standard_streams_stays_connected_while_a_program_changes() {
    let [legacy, modern] = eras();
    tokio::join!(
        edit_behind_pipe(legacy.clone(), Binding::Pipe, folder("dev_legacy")),
        edit_behind_pipe(modern.clone(), Binding::Pipe, folder("dev_modern")),
        edit_behind_pipe(legacy, Binding::Http, folder("dev_legacy_http")),
        edit_behind_pipe(modern, Binding::Http, folder("dev_modern_http")),
    );
}

async fn edit_behind_pipe(era: ConnectMode, binding: Binding, folder: PathBuf) {
    let file = folder.join("tools.txt");
    let save = |tools: &str| fs::write(&file, tools).unwrap();
    save("greet slow wait die");
    let database = folder.with_extension("database");
    drop(fs::remove_file(&database));
    let words = ["--dir", folder.to_str().unwrap(), "--", &PROGRAM];
    let mut command = dev(&words);
    command.arg(&database);
    binding.set(&mut command);
    let client = Client::builder().mode(era).connect(command).await.unwrap();
    let host = Host::new(client);
    host.edit_until_listed(|| (), &["greet", "slow", "wait", "die"])
        .await;

    let time = host
        .edit_until_listed(
            || save("greet slow wait die more"),
            &["greet", "slow", "wait", "die", "more"],
        )
        .await;
    eprintln!("from the change to the new list: {} ms", time.as_millis());

    // A call that runs finishes first.
    let client = host.client.clone();
    let slow = tokio::spawn(async move { client.call("slow", ()).await });
    sleep(Duration::from_millis(300)).await;
    host.edit_until_listed(|| save("greet wait die"), &["greet", "wait", "die"])
        .await;
    let slow = slow.await.unwrap().unwrap();
    assert_eq!((slow.is_error(), &*slow.text()), (false, "hello"));

    // A call that does not end is stopped.
    let client = host.client.clone();
    let waiting = tokio::spawn(async move { client.call("wait", ()).await });
    sleep(Duration::from_millis(300)).await;
    host.edit_until_listed(|| save("greet die"), &["greet", "die"])
        .await;
    let stopped = timeout(LIMIT, waiting).await.unwrap().unwrap().unwrap();
    assert!(
        stopped.is_error() && stopped.text().contains("has changed"),
        "{stopped:?}"
    );

    save("greet die database");
    let refused = host.call_until("greet", "the database is missing").await;
    assert!(refused.is_error(), "{refused:?}");
    assert_eq!(host.tools().await, ["greet", "die"]);
    // The next call starts the program again, without a change of the sources.
    host.edit_until_listed(
        || fs::write(&database, "").unwrap(),
        &["greet", "die", "database"],
    )
    .await;
    let died = host.client.call("die", ()).await.unwrap();
    assert!(
        died.is_error() && died.text().contains("the oven burns"),
        "{died:?}"
    );
    let greeting = host.client.call("greet", ()).await.unwrap();
    assert_eq!((greeting.is_error(), &*greeting.text()), (false, "hello"));
    host.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_at_the_latest_revision_is_restarted_and_inspected() {
    let folder = folder("dev_shop");
    fs::write(folder.join(".gitignore"), "*.db\n").unwrap();
    let program = stdio_shop();
    let dir = folder.to_str().unwrap();
    let words = ["--inspect", "--no-open", "--", &program];
    let dev = Dev::spawn(&mut dev_in(dir, &words));
    let page = dev.wait_for("inspector")["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let client = Client::connect(&*dev.url()).await.unwrap();
    let ready = dev.wait_for("ready");
    assert!(
        ready["tools"].as_array().unwrap().contains(&json!("add")),
        "{ready}"
    );
    let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.text(), "3");

    // Files that git ignores, logs, and hidden ones, restart nothing: the next event is that of the last file.
    fs::write(folder.join("server.db"), "").unwrap();
    fs::write(folder.join("server.log"), "").unwrap();
    fs::write(folder.join(".hidden"), "").unwrap();
    sleep(Duration::from_millis(500)).await;
    assert!(dev.events.try_recv().is_err());
    // A new folder is watched.
    fs::create_dir(folder.join("parts")).unwrap();
    dev.wait_for("ready");
    fs::write(folder.join("parts/one.txt"), "").unwrap();
    dev.wait_for("ready");
    let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.text(), "3");

    let (host, path) = page
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 303"), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn template_over_http_runs_without_a_flag() {
    let folder = folder("dev_template");
    let folder = folder.to_str().unwrap();
    let program = example("http");
    // Also with the URL that the user names.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let url = format!("http://{address}/mcp");
    for words in [&[][..], &["--url", &url]] {
        let mut command = dev_in(folder, &[words, &["--", &program]].concat());
        if !words.is_empty() {
            command.env("ADDRESS", &address);
        }
        let dev = Dev::spawn(&mut command);
        let client = Client::connect(&*dev.url()).await.unwrap();
        dev.wait_for("ready");
        for _ in 0..2 {
            let length = json!({"inches": 10});
            let length = client.call("inches_to_centimeters", length).await.unwrap();
            assert_eq!(length.text(), "25.4");
            fs::write(Path::new(folder).join("notes.md"), "").unwrap();
            dev.wait_for("ready");
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn stored_list_is_served_before_the_first_program_is_ready() {
    let (sources, files) = (folder("dev_stored"), folder("dev_stored_files"));
    let slow = files.join("slow");
    let wait = format!("while [ -e '{}' ]; do sleep 0.1; done", slow.display());
    let script = format!("{wait}; exec '{}'", stdio_shop());
    let words = ["--", "sh", "-c", &script];
    let run = || {
        let mut command = dev_in(sources.to_str().unwrap(), &words);
        Dev::spawn(command.env("XDG_CACHE_HOME", files.join("cache")))
    };
    let dev = run();
    let client = Client::connect(&*dev.url()).await.unwrap();
    let first = client.list_tools().await.unwrap();
    assert!(!first.is_empty());
    let is_stored = || {
        let folders = fs::read_dir(files.join("cache/mcp/lists"));
        let folders = folders.into_iter().flatten().flatten();
        let mut files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        // Not one that is being written.
        files.any(|file| file.path().extension() == Some("json".as_ref()))
    };
    let end = Instant::now() + LIMIT;
    while !is_stored() {
        assert!(Instant::now() < end, "the lists are not stored");
        sleep(Duration::from_millis(20)).await;
    }
    drop(dev);

    fs::write(&slow, "").unwrap();
    let dev = run();
    let client = Client::connect(&*dev.url()).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap(), first);
    fs::remove_file(&slow).unwrap();
    let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.text(), "3");
}

#[test]
fn terminal_shows_one_address() {
    let folder = folder("dev_address");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.args(["dev", "--dir", folder.to_str().unwrap()]);
    command.args(["--listen", "127.0.0.1:0", "--", &example("http")]);
    let mut child = command
        .env("XDG_CACHE_HOME", self::folder("dev_address_cache"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut addresses = Vec::new();
    let mut starts = 0;
    while starts < 2 {
        let line = lines.next().unwrap().unwrap();
        if line.starts_with("ready after") {
            starts += 1;
            fs::write(folder.join("notes.md"), "").unwrap();
        }
        addresses.extend(line.contains("http://").then_some(line));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        addresses.len() == 1 && addresses[0].starts_with("listening on http://127.0.0.1:"),
        "{addresses:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn server_over_http_without_settings_is_found() {
    let folder = folder("dev_serve_http");
    let program = stdio_shop();
    let dir = folder.to_str().unwrap();
    let mut command = dev_in(dir, &["--", &program]);
    let dev = Dev::spawn(command.env("SHOP_ADDRESS", "127.0.0.1:0"));
    let client = Client::connect(&*dev.url()).await.unwrap();
    let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.text(), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn protected_template_gets_the_token_that_it_prints() {
    let folder = folder("dev_protected");
    let program = example("protected");
    let dir = folder.to_str().unwrap();
    let dev = Dev::spawn(&mut dev_in(dir, &["--", &program]));
    let url = dev.url();
    let mut token = None;
    while token.is_none() {
        let event = dev.events.recv_timeout(LIMIT).unwrap();
        let line = event["message"].as_str().unwrap_or_default();
        let rest = line
            .split_once("Authorization: Bearer ")
            .map(|(_, rest)| rest);
        token = rest.and_then(|rest| rest.split(['\'', '"', '`', ' ']).next().map(str::to_owned));
    }
    dev.wait_for("demands");
    // A local port is not a login.
    for wrong in [None, Some("other")] {
        let mut client = Client::builder();
        if let Some(wrong) = wrong {
            client = client.bearer_token(wrong);
        }
        let refused = client.connect(&*url).await.unwrap_err();
        assert!(refused.is_auth(), "{refused}");
    }
    let client = Client::builder().bearer_token(token.unwrap());
    let client = client.connect(&*url).await.unwrap();
    let file = json!({"path": "notes.md"});
    let read = client.call("read_file", &file).await.unwrap();
    assert_eq!(read.text(), "contents of notes.md");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_refuses_is_reported_with_the_flag_for_a_token() {
    let folder = folder("dev_refused_token");
    let program = example("protected");
    let dir = folder.to_str().unwrap();
    let words = ["-H", "Authorization: Bearer other", "--", &program];
    let dev = Dev::spawn(&mut dev_in(dir, &words));
    let reason = dev.wait_for("ended")["reason"].to_string();
    assert!(
        reason.contains("--header 'Authorization: Bearer TOKEN'"),
        "{reason}"
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn files_that_each_start_writes_do_not_restart_without_end() {
    let folder = folder("dev_loop");
    let dir = folder.to_str().unwrap();
    let script = format!("echo start >> starts.txt; exec '{}'", stdio_shop());
    let dev = Dev::spawn(&mut dev_in(dir, &["--", "sh", "-c", &script]));
    let files = dev.wait_for("loop")["files"].to_string();
    assert!(files.contains("starts.txt"), "{files}");
    let starts = || {
        fs::read_to_string(folder.join("starts.txt"))
            .unwrap()
            .lines()
            .count()
    };
    let before = starts();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(starts(), before);
    // Another file starts it at once.
    let edit = Instant::now();
    fs::write(folder.join("notes.md"), "").unwrap();
    dev.wait_for("ready");
    assert!(edit.elapsed() < Duration::from_secs(8));
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_that_edits_and_calls_gets_answers_from_its_edits() {
    let [legacy, modern] = eras();
    tokio::join!(
        edit_and_call(legacy, Binding::Pipe, folder("dev_agent_legacy")),
        edit_and_call(modern, Binding::Http, folder("dev_agent_modern")),
    );
}

async fn edit_and_call(era: ConnectMode, binding: Binding, folder: PathBuf) {
    let save = |tools: &str| fs::write(folder.join("tools.txt"), tools).unwrap();
    save("tools first");
    let words = ["--dir", folder.to_str().unwrap(), "--", &PROGRAM];
    let mut command = dev(&words);
    binding.set(&mut command);
    let client = Client::builder().mode(era).connect(command).await.unwrap();
    // The first list waits for the program.
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.len(), 2, "{tools:?}");
    for number in 0..20 {
        let tools = format!("tools edit{number}");
        save(&tools);
        let answer = timeout(LIMIT, client.call("tools", ())).await.unwrap();
        assert_eq!(answer.unwrap().text(), tools);
    }
    client.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn saves_in_a_row_are_no_restart_loop_for_the_call_after_them() {
    let folder = folder("dev_saves");
    let save = |tools: &str| fs::write(folder.join("tools.txt"), tools).unwrap();
    save("tools");
    let words = ["--", &PROGRAM];
    let dev = Dev::spawn(&mut dev_in(folder.to_str().unwrap(), &words));
    let client = Client::connect(&*dev.url()).await.unwrap();
    dev.wait_for("ready");
    for number in 0..5 {
        save(&format!("tools save{number}"));
        dev.wait_for("ready");
    }
    save("tools last");
    let begin = Instant::now();
    let answer = client.call("tools", ()).await.unwrap();
    assert_eq!(answer.text(), "tools last");
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn call_to_a_program_that_writes_its_sources_is_told() {
    let folder = folder("dev_loop_call");
    let dir = folder.to_str().unwrap();
    let script = format!("echo start >> starts.txt; exec '{}'", stdio_shop());
    let dev = Dev::spawn(&mut dev_in(dir, &["--", "sh", "-c", &script]));
    let client = Client::connect(&*dev.url()).await.unwrap();
    dev.wait_for("loop");
    for _ in 0..2 {
        let told = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
        assert!(told.is_error(), "{told:?}");
        let text = told.text();
        for part in ["newer than the program", "starts.txt", ".gitignore"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn file_that_dev_prints_to_restarts_nothing() {
    let folder = folder("dev_printed");
    let dir = folder.to_str().unwrap();
    let printed = folder.join("printed.txt");
    let program = stdio_shop();
    let mut command = dev_in(dir, &["--", &program]);
    let file = fs::File::create(&printed).unwrap();
    let mut child = command.stdin(Stdio::null()).stderr(file).spawn().unwrap();
    let text = || fs::read_to_string(&printed).unwrap();
    let end = Instant::now() + LIMIT;
    while !text().contains("\"ready\"") {
        assert!(Instant::now() < end, "{}", text());
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(text().matches("\"ready\"").count(), 1, "{}", text());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn list_says_that_a_server_has_no_items() {
    let folder = folder("dev_empty");
    fs::write(folder.join("tools.txt"), "").unwrap();
    let run = mcp_in(&folder, &["list", "--", &PROGRAM], "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    assert!(run.err.contains("lists no tools"), "{run:?}");
}

#[test]
fn dev_ends_with_its_client_and_refuses_what_it_cannot_run() {
    let folder = folder("dev_refused");
    let run = mcp_in(&folder, &["dev", "--", &PROGRAM], "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = port.local_addr().unwrap().to_string();
    for (words, problem) in [
        (&["dev", "--dir", "/"][..], "there is no Cargo.toml"),
        (&["dev", "--dir", "nowhere"], "nowhere"),
        (&["dev", "--no-open"], "--inspect"),
        (&["dev", "--url", "shop", "--", "shop"], "--url"),
        (
            &[
                "dev",
                "--",
                "cargo",
                "run",
                "--manifest-path",
                "none/Cargo.toml",
            ],
            "none",
        ),
        (&["dev", "shop"], "unexpected argument"),
        (&["dev", "--header", "Token", "--", "shop"], "--header"),
        (
            &["dev", "--listen", &taken, "--", "shop"],
            "--listen 127.0.0.1:0",
        ),
    ] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
        assert!(run.err.contains(problem), "{words:?}: {run:?}");
    }
}

/// A program that listens at a port of this machine, and keeps the requests that it gets.
#[cfg(unix)]
struct Eavesdropper {
    url: String,
    requests: Receiver<String>,
}

#[cfg(unix)]
impl Eavesdropper {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut text = vec![0; 1 << 16];
                let count = stream.read(&mut text).unwrap_or(0);
                if count > 0 {
                    drop(sender.send(String::from_utf8_lossy(&text[..count]).to_lowercase()));
                }
                let answer =
                    "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                drop(std::io::Write::write_all(&mut stream, answer.as_bytes()));
            }
        });
        Self { url, requests }
    }
}

#[cfg(unix)]
#[test]
fn url_that_a_program_only_prints_gets_no_credentials() {
    let folder = folder("dev_eavesdropper");
    let other = Eavesdropper::start();
    let script = format!(
        "echo 'Authorization: Bearer printed-secret' >&2; echo 'see {}' >&2; exec sleep 100",
        other.url
    );
    let words = ["-H", "X-Key: given-secret", "--", "sh", "-c", &script];
    let dev = Dev::spawn(&mut dev_in(folder.to_str().unwrap(), &words));
    let reason = dev.wait_for("ended")["reason"].to_string();
    assert!(
        reason.contains("PORT") && reason.contains("--url"),
        "{reason}"
    );
    let requests: Vec<_> = other.requests.try_iter().collect();
    assert!(!requests.is_empty());
    let leaked = requests.iter().find(|text| text.contains("secret"));
    assert_eq!(leaked, None);
}

#[cfg(unix)]
#[test]
fn port_in_a_variable_that_another_program_has_gets_no_credentials() {
    let folder = folder("dev_taken_port");
    let other = Eavesdropper::start();
    let port = other.url.trim_end_matches("/mcp").rsplit(':').next();
    let script = "echo 'Authorization: Bearer printed-secret' >&2; \
        echo \"serving http://127.0.0.1:$PORT/mcp\" >&2; exec sleep 100";
    let words = ["-H", "X-Key: given-secret", "--", "sh", "-c", script];
    let mut command = dev_in(folder.to_str().unwrap(), &words);
    let dev = Dev::spawn(command.env_remove("ADDRESS").env("PORT", port.unwrap()));
    let reason = dev.wait_for("ended")["reason"].to_string();
    assert!(reason.contains("another program"), "{reason}");
    let leaked = other
        .requests
        .try_iter()
        .find(|text| text.contains("secret"));
    assert_eq!(leaked, None);
}

#[cfg(unix)]
#[test]
fn program_that_ends_at_its_start_gets_no_credentials_sent_in_its_place() {
    let folder = folder("dev_in_its_place");
    for script in ["exit 1", "exec sleep 100"] {
        let other = Eavesdropper::start();
        let words = [
            "-H",
            "X-Key: secret",
            "--url",
            &other.url,
            "--",
            "sh",
            "-c",
            script,
        ];
        let dev = Dev::spawn(&mut dev_in(folder.to_str().unwrap(), &words));
        let reason = dev.wait_for("ended")["reason"].to_string();
        assert!(reason.contains("another program"), "{reason}");
        assert_eq!(other.requests.try_iter().next(), None);
    }
}

/// A program that has bound the port before the start, and listens when the server has started.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn program_that_has_reserved_the_port_gets_no_credentials() {
    use tokio::io::AsyncReadExt as _;

    let folder = folder("dev_reserved_port");
    let made = Command::new("mkfifo").arg(folder.join("started")).status();
    assert!(made.unwrap().success());
    for is_typed in [true, false] {
        let reserved = tokio::net::TcpSocket::new_v4().unwrap();
        reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = reserved.local_addr().unwrap();
        let url = format!("http://{address}/mcp");
        let script = format!(
            "echo 'Authorization: Bearer printed-secret' >&2; echo 'serving {url}' >&2; \
             echo > started; exec sleep 100"
        );
        let mut words = vec!["-H", "X-Key: given-secret"];
        if is_typed {
            words.extend(["--url", &url]);
        }
        words.extend(["--", "sh", "-c", &script]);
        let mut command = dev_in(folder.to_str().unwrap(), &words);
        let port = address.port().to_string();
        let dev = Dev::spawn(command.env_remove("ADDRESS").env("PORT", port));
        let started = folder.join("started");
        let started = tokio::task::spawn_blocking(|| fs::read(started));
        timeout(LIMIT, started).await.unwrap().unwrap().unwrap();
        let listener = reserved.listen(16).unwrap();
        // The command looks whether a program listens, and then whose it is.
        for _ in 0..6 {
            let (mut stream, _) = timeout(LIMIT, listener.accept()).await.unwrap().unwrap();
            let mut text = vec![0; 1 << 16];
            let count = timeout(LIMIT, stream.read(&mut text)).await.unwrap();
            let text = String::from_utf8_lossy(&text[..count.unwrap_or(0)]).into_owned();
            assert_eq!(text, "", "{is_typed}");
        }
        drop(dev);
    }
}

/// Returns the ports of this machine at which a process listens.
#[cfg(target_os = "linux")]
fn listening(process: u32) -> Vec<u16> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let files = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    let files: Vec<_> = files
        .map(|file| file.to_string_lossy().into_owned())
        .collect();
    let sockets = fs::read_to_string(format!("/proc/{process}/net/tcp")).unwrap();
    let port = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let is_own = files.contains(&format!("socket:[{}]", words.get(9)?));
        let (_, port) = words.get(1)?.split_once(':')?;
        (is_own && words[3] == "0A").then(|| u16::from_str_radix(port, 16).unwrap())
    };
    sockets.lines().skip(1).filter_map(port).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn ghsa_qg2g_g9w3_m5h8_inspector_opens_no_endpoint_without_a_token() {
    let folder = folder("dev_inspector_port");
    let program = stdio_shop();
    let words = [
        "-H",
        "X-Key: secret",
        "--inspect",
        "--no-open",
        "--",
        &program,
    ];
    let dev = Dev::spawn(&mut dev_in(folder.to_str().unwrap(), &words));
    let page = dev.wait_for("inspector")["url"]
        .as_str()
        .unwrap()
        .to_owned();
    dev.url();
    dev.wait_for("ready");
    let ports = listening(dev.child.id());
    assert!(ports.len() >= 3, "{ports:?}");
    for port in ports {
        if page.contains(&format!(":{port}/")) {
            continue;
        }
        let refused = Client::connect(&*format!("http://127.0.0.1:{port}/mcp")).await;
        assert!(
            refused.is_err_and(|error| error.fault().is_none()),
            "{port}"
        );
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"},
        }});
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let status = response.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(
            matches!(&*status, "401" | "403" | "404"),
            "{port}: {response}"
        );
    }
}
