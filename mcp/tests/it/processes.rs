//! Servers as processes: they end although a function blocks, and answer although one does.

use std::env;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use mcp::StdioServer;
use mcp::http::Serve;
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(30);

/// The time that servers here give to running calls.
const DRAIN: Duration = Duration::from_millis(50);

/// The test of this file that is run as a program of its own.
const PROGRAM: &str = "processes::program";
/// Selects the kind of program.
const KIND: &str = "MCP_TEST_KIND";

struct Blocker;

#[mcp::server]
impl Blocker {
    /// Blocks a thread for blocking work.
    #[tool(blocking)]
    fn block_own_thread() -> String {
        block()
    }

    /// Blocks a thread of the runtime, after a log message that the writer has to write.
    #[tool]
    fn block_runtime(log: Log) -> String {
        log.info("blocking");
        block()
    }

    /// Prints to both streams.
    #[tool]
    fn print() -> &'static str {
        println!("to standard output");
        eprintln!("to standard error");
        "printed"
    }

    /// Returns at once.
    #[tool]
    fn echo(text: String) -> String {
        text
    }
}

fn block() -> String {
    // Read by the tests below, which wait until the function runs.
    eprintln!("blocking");
    loop {
        thread::park();
    }
}

/// A server whose kind is an environment variable.
#[test]
#[ignore = "is run by the tests below"]
fn program() {
    let Ok(kind) = env::var(KIND) else { return };
    let runtime = match &*kind {
        "stdio on one thread" | "http on one thread" => {
            Builder::new_current_thread().enable_all().build()
        }
        "http on two threads" => Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build(),
        _ => Runtime::new(),
    };
    let runtime = runtime.unwrap();
    runtime.block_on(async {
        let server = Server::of(Blocker);
        match &*kind {
            kind if kind.starts_with("http") => {
                let server = Serve::new(server).drain_timeout(DRAIN);
                server.run("127.0.0.1:0").await.unwrap();
            }
            _ => {
                let server = StdioServer::new(server).drain_timeout(DRAIN);
                server.run().await.unwrap();
            }
        }
    });
    if kind == "stdio, shutdown in the background" {
        runtime.shutdown_background();
        // The test harness would wait for nothing else.
        return;
    }
    // As `#[tokio::main]` does.
    drop(runtime);
}

fn spawn(kind: &str, log: impl Into<Stdio>) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([PROGRAM, "--exact", "--ignored", "--nocapture"])
        .env(KIND, kind)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// A running program and its output.
struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    /// The lines of its standard error.
    log: Receiver<String>,
}

impl Process {
    fn start(kind: &str) -> Self {
        let mut child = spawn(kind, Stdio::piped());
        let (sender, log) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            log,
        }
    }

    /// Starts a program whose standard error nobody reads any more.
    fn start_without_log(kind: &str) -> Self {
        let (log, closed) = io::pipe().unwrap();
        drop(log);
        let mut child = spawn(kind, closed);
        Self {
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            log: channel().1,
        }
    }

    /// Opens a session. Lines of the test harness come before the first response.
    fn initialize(&mut self) {
        let client = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.send(&json!({"id": 0, "method": "initialize", "params": params}));
        self.response(0);
        self.send(&json!({"method": "notifications/initialized"}));
    }

    fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"id": id, "method": "tools/call", "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Reads messages until the response to a request.
    fn response(&mut self, id: u32) -> Value {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "no response to {id}");
            let message = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Waits for a line of standard error that contains `text`.
    fn wait_for_log(&self, text: &str) -> String {
        loop {
            let line = self.log.recv_timeout(LIMIT).unwrap();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until the process has ended by itself.
    fn ended(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        let id = self.child.id();
        let (sender, ended) = channel();
        let mut child = self.child;
        thread::spawn(move || sender.send(child.wait().unwrap()));
        ended.recv_timeout(LIMIT).unwrap_or_else(|_| {
            signal(id, "-KILL");
            panic!("the process has outlived its client")
        })
    }
}

fn signal(process: u32, signal: &str) {
    let kill = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(kill.unwrap().success());
}

#[test]
fn stdio_server_with_blocking_tool_ends_with_its_input() {
    let mut server = Process::start("stdio");
    server.initialize();
    server.call(1, "block_own_thread", json!({}));
    server.wait_for_log("blocking");
    assert!(server.ended().success());
}

/// Returns the address of a server over HTTP.
fn address_of(server: &Process) -> String {
    let line = server.wait_for_log("http://");
    let (_, rest) = line.split_once("http://").unwrap();
    rest.split('/').next().unwrap().to_owned()
}

/// Sends a call over a connection of its own.
fn call_over_http(address: &str, tool: &str, arguments: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let body = body.to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len(),
    )
    .unwrap();
    stream
}

#[test]
fn http_server_with_blocking_tool_ends_after_sigterm() {
    let server = Process::start("http");
    let address = address_of(&server);
    let _call = call_over_http(&address, "block_own_thread", &json!({}));
    server.wait_for_log("blocking");
    signal(server.child.id(), "-TERM");
    assert!(server.ended().success());
}

#[test]
fn http_server_answers_while_function_blocks_worker() {
    // With one worker, a plain function blocks all calls; `#[tool(blocking)]` blocks none.
    for (kind, tool) in [
        ("http on two threads", "block_runtime"),
        ("http on one thread", "block_own_thread"),
    ] {
        let server = Process::start(kind);
        let address = address_of(&server);
        let _call = call_over_http(&address, tool, &json!({}));
        server.wait_for_log("blocking");
        for text in ["first", "second", "third"] {
            let mut stream = call_over_http(&address, "echo", &json!({"text": text}));
            stream.set_read_timeout(Some(LIMIT)).unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).unwrap();
            assert!(response.contains(text), "{kind}: {response}");
        }
        signal(server.child.id(), "-KILL");
        server.ended();
    }
}

/// The guide's way for functions that block threads of the runtime.
#[test]
fn stdio_server_with_blocked_runtime_ends_after_shutdown_in_background() {
    let mut server = Process::start("stdio, shutdown in the background");
    server.initialize();
    server.call(1, "block_runtime", json!({}));
    server.wait_for_log("blocking");
    assert!(server.ended().success());
}

/// `println!` and `eprintln!` panic if nobody can read them.
#[test]
fn printing_does_not_fail_calls_after_host_has_closed_standard_error() {
    for kind in ["stdio", "stdio on one thread"] {
        let mut server = Process::start_without_log(kind);
        server.initialize();
        for id in 1..4 {
            server.call(id, "print", json!({}));
            let response = server.response(id);
            assert_eq!(
                response["result"]["content"][0]["text"], "printed",
                "{response}"
            );
        }
        assert!(server.ended().success());
    }
}

#[test]
fn ping_is_answered_while_function_blocks_runtime() {
    for kind in ["stdio", "stdio on one thread"] {
        let mut server = Process::start(kind);
        server.initialize();
        server.call(1, "block_runtime", json!({}));
        server.wait_for_log("blocking");
        let id = server.child.id();
        // Ends the wait for a response that never comes.
        let (answered, watchdog) = channel::<()>();
        let guard = thread::spawn(move || {
            if watchdog.recv_timeout(LIMIT).is_err() {
                signal(id, "-KILL");
            }
        });
        for ping in 2..10 {
            server.send(&json!({"id": ping, "method": "ping"}));
            assert_eq!(server.response(ping)["result"], json!({}));
        }
        // With other threads, other calls run, too.
        if kind == "stdio" && thread::available_parallelism().unwrap().get() > 1 {
            server.call(20, "echo", json!({"text": "hello"}));
            assert_eq!(server.response(20)["result"]["content"][0]["text"], "hello");
        }
        answered.send(()).unwrap();
        guard.join().unwrap();
        signal(id, "-KILL");
        server.ended();
    }
}
