//! Servers from npm and PyPI that people use, over pipes: our client lists their tools and calls one
//! that needs no account and no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::Case;
use super::peers::{InstalledProgram, PeerCommand, Peers};
use super::pipes::{self, CLIENT, COMMAND};
use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// A server, a call to one of its tools, and a part of the output.
pub(super) struct RealServer {
    /// The name of its typed client.
    pub(super) name: &'static str,
    pub(super) program: InstalledProgram,
    pub(super) arguments: Vec<PathBuf>,
    /// The tool and its arguments. Without them our client only lists the tools.
    call: Option<[String; 2]>,
    expected: String,
    /// A call of that tool in Rust.
    pub(super) typed_call: String,
    pub(super) typed_expected: String,
}

impl RealServer {
    /// A server whose tools need a network, an account or a browser: its list has `tool`.
    fn listed(name: &'static str, program: InstalledProgram, tool: &str) -> Self {
        let typed = ("client().list_tools()", &*format!("\"{tool}\""));
        Self {
            expected: format!("{tool}: "),
            call: None,
            ..Self::new(name, program, ["", "", ""], typed)
        }
    }

    fn new(
        name: &'static str,
        program: InstalledProgram,
        [tool, arguments, expected]: [&str; 3],
        (typed_call, typed_expected): (&str, &str),
    ) -> Self {
        Self {
            name,
            program,
            arguments: Vec::new(),
            call: Some([tool.to_owned(), arguments.to_owned()]),
            expected: expected.to_owned(),
            typed_call: typed_call.to_owned(),
            typed_expected: typed_expected.to_owned(),
        }
    }

    fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The case of a program that gets the server and the call from `add`.
    fn case(
        &self,
        client: &str,
        program: &Path,
        expected: &str,
        add: impl FnOnce(&mut Command, &dyn Fn(&mut Command)),
    ) -> Case {
        let start = self.program.clone().map(|peer| {
            let mut command = Command::new(program);
            add(&mut command, &|command| {
                command.args(peer.words()).args(&self.arguments);
            });
            command
        });
        pipes::case(format!("{client} -> {}", self.name), start, expected)
    }
}

/// Returns the cases of our client, and of `mcp call` with servers whose tool is called.
pub(super) fn cases(workspace: &Workspace, servers: &[RealServer]) -> Vec<Case> {
    let client = workspace.binary("debug", CLIENT);
    let mcp = workspace.binary("debug", COMMAND);
    let mut cases = Vec::new();
    for server in servers {
        let call = server.call.as_ref();
        cases.push(
            server.case("our client", &client, &server.expected, |command, peer| {
                peer(command);
                command
                    .args(call.map(|_| "--"))
                    .args(call.into_iter().flatten());
            }),
        );
        if let Some([tool, arguments]) = call {
            // Our client prints the tools first, the command the result alone.
            let expected = server.expected.trim_start();
            cases.push(server.case("mcp call", &mcp, expected, |command, peer| {
                command.args(["call", tool, "--args-json", arguments, "--"]);
                peer(command);
            }));
        }
    }
    cases
}

/// Returns the servers, and creates the folders that they use.
pub(super) fn servers(workspace: &Workspace, peers: &Peers) -> Result<Vec<RealServer>> {
    let mut servers = listed(peers);
    servers.extend(called(peers)?);
    servers.extend(fixtures(workspace, peers));
    Ok(servers)
}

fn listed(peers: &Peers) -> Vec<RealServer> {
    let npm = |package, file| peers.package(package, file);
    let devtools = npm(
        "chrome-devtools-mcp",
        "build/src/bin/chrome-devtools-mcp.js",
    );
    [
        (
            "playwright",
            npm("@playwright/mcp", "cli.js"),
            "browser_close",
        ),
        (
            "context7",
            npm("@upstash/context7-mcp", "dist/index.js"),
            "resolve-library-id",
        ),
        (
            "tavily",
            npm("tavily-mcp", "build/index.js"),
            "tavily_search",
        ),
        ("devtools", devtools, "click"),
        (
            "exa",
            npm("exa-mcp-server", "dist/stdio.cjs"),
            "web_search_exa",
        ),
        (
            "fetch",
            peers.python_program("python-tools", "mcp-server-fetch"),
            "fetch",
        ),
        (
            "wikipedia",
            peers.python_program("python-servers", "wikipedia-mcp"),
            "search_wikipedia",
        ),
        (
            "duckduckgo",
            peers.python_program("python-servers", "duckduckgo-mcp-server"),
            "search",
        ),
    ]
    .into_iter()
    .map(|(name, program, tool)| RealServer::listed(name, program, tool))
    .collect()
}

fn called(peers: &Peers) -> Result<Vec<RealServer>> {
    let npm = |name| {
        peers.package(
            &format!("@modelcontextprotocol/server-{name}"),
            "dist/index.js",
        )
    };
    let python = |name| peers.python_program("python-tools", &format!("mcp-server-{name}"));
    let (files, repository) = (peers.folder("files"), peers.folder("repository"));
    fs::create_dir_all(&files)?;
    if !repository.join(".git").is_dir() {
        fs::create_dir_all(&repository)?;
        let mut git = Command::new("git");
        process::capture(git.arg("-C").arg(&repository).args(["init", "--quiet"]))?;
    }
    let database = [PathBuf::from("--db-path"), files.join("test.db")];
    let path = format!("{{\"repo_path\": {:?}}}", repository.display().to_string());
    let git_status = format!("git_status(git::GitStatusInput::new({repository:?}))");
    let thought =
        r#"{"thought": "so", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}"#;
    let thinking =
        "sequentialthinking(thinking::SequentialthinkingInput::new(false.into(), \"so\", 1, 1))";
    Ok(vec![
        RealServer::new(
            "filesystem",
            npm("filesystem"),
            ["list_allowed_directories", "{}", "Allowed directories"],
            ("list_allowed_directories()", "Allowed directories"),
        )
        .arguments([&files]),
        RealServer::new(
            "memory",
            npm("memory"),
            ["read_graph", "{}", "\"entities\""],
            ("read_graph()", "ReadGraphOutput { entities: ["),
        ),
        RealServer::new(
            "thinking",
            npm("sequential-thinking"),
            ["sequentialthinking", thought, "\"thoughtNumber\": 1"],
            (thinking, "thought_number: 1"),
        ),
        RealServer::new(
            "time",
            python("time"),
            [
                "get_current_time",
                r#"{"timezone": "UTC"}"#,
                "\"timezone\": \"UTC\"",
            ],
            (
                "get_current_time(time::GetCurrentTimeInput::new(\"UTC\"))",
                "UTC",
            ),
        ),
        RealServer::new(
            "git",
            python("git"),
            ["git_status", &path, "Repository status"],
            (&git_status, "Repository status"),
        ),
        RealServer::new(
            "sqlite",
            python("sqlite"),
            ["list_tables", "{}", "\n[]\n"],
            ("list_tables()", "[]"),
        )
        .arguments(database),
        RealServer::new(
            "calculator",
            python("calculator"),
            ["calculate", r#"{"expression": "6*7"}"#, "\n42\n"],
            (
                "calculate(calculator::CalculateInput::new(\"6*7\"))",
                "CalculateOutput { result: \"42\" }",
            ),
        ),
    ])
}

/// Servers with the same tools: those of the SDKs, and ours.
fn fixtures(workspace: &Workspace, peers: &Peers) -> Vec<RealServer> {
    let add = ["add", r#"{"a": 1, "b": 2}"#, "\n3\n"];
    let ours = workspace.binary("debug", super::http::SERVER);
    vec![
        RealServer::new(
            "everything",
            peers.everything(),
            ["echo", r#"{"message": "hi"}"#, "Echo: hi"],
            (
                "get_sum(everything::GetSumInput::new(1.0, 2.0))",
                "The sum of 1 and 2 is 3",
            ),
        ),
        RealServer::new(
            "fastmcp",
            peers.python("python-2", "server_fastmcp.py"),
            add,
            ("add(fastmcp::AddInput::new(1, 2))", "3"),
        ),
        RealServer::new(
            "python",
            peers.python("python-2", "server.py"),
            add,
            ("add(python::AddInput::new(1, 2))", "3"),
        ),
        RealServer::new(
            "oldest",
            peers.node("server_oldest.mjs"),
            add,
            ("add(oldest::AddInput::new().with_a(1.0).with_b(2.0))", "3"),
        ),
        RealServer::new(
            "ours",
            Ok(PeerCommand::new(ours)),
            ["test_simple_text", "{}", "simple text"],
            ("test_simple_text()", "simple text"),
        )
        .arguments(["--stdio"]),
    ]
}
