//! Typed clients of servers from npm and PyPI: `mcp gen rust` writes one file for each, all files are one
//! program, and the program calls a tool of each server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::{Case, Start};
use super::http::SERVER;
use super::peers::{InstalledProgram, PeerCommand, Peers};
use super::pipes::{self, COMMAND};
use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// The program with all clients.
const PROGRAM: &str = "typed-clients";

/// A server, the call of one of its tools in Rust, and a part of the result.
struct TypedServer {
    /// The name of the module.
    name: &'static str,
    program: InstalledProgram,
    arguments: Vec<PathBuf>,
    call: String,
    expected: &'static str,
}

/// Generates the clients, builds the program, and returns a case for each server. `mcp` must be built.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Result<Vec<Case>> {
    let folder = workspace.target().join("interop/typed");
    fs::create_dir_all(folder.join("src"))?;
    let mut servers = servers(workspace, peers);
    let mut cases = Vec::new();
    servers.retain(|server| match generate(workspace, &folder, server) {
        Ok(()) => true,
        Err(error) => {
            cases.push(Case {
                name: format!("mcp gen -> {}", server.name),
                start: Start::Fail(error.to_string()),
                check: Box::new(|_| None),
            });
            false
        }
    });
    let installed = servers.iter().filter(|it| it.program.is_ok());
    write_package(workspace, &folder, &installed.collect::<Vec<_>>())?;
    let mut build = workspace.cargo();
    build.args(["build", "--quiet", "--manifest-path"]);
    build.arg(folder.join("Cargo.toml"));
    process::run(build.arg("--target-dir").arg(workspace.target()))?;
    let binary = workspace.binary("debug", PROGRAM);
    let case = |server: TypedServer| {
        let start = server.program.map(|program| {
            let mut command = Command::new(&binary);
            command.arg(server.name).args(program.words());
            command.args(&server.arguments);
            command
        });
        let name = format!("typed client -> {}", server.name);
        pipes::case(name, start, server.expected)
    };
    cases.extend(servers.into_iter().map(case));
    Ok(cases)
}

/// Writes the client of a server, if the server is installed.
fn generate(workspace: &Workspace, folder: &Path, server: &TypedServer) -> Result<()> {
    let Ok(program) = &server.program else {
        return Ok(());
    };
    let file = folder.join(format!("src/{}.rs", server.name));
    let mut command = Command::new(workspace.binary("debug", COMMAND));
    command.args(["gen", "rust", "--yes", "--output"]).arg(file);
    command.arg("--").args(program.words());
    process::capture(command.args(&server.arguments)).map(|_| ())
}

/// Writes the package with the generated files. Warnings are errors in it.
fn write_package(workspace: &Workspace, folder: &Path, servers: &[&TypedServer]) -> Result<()> {
    let library = workspace.root().join("mcp");
    let manifest = format!(
        "[package]\nname = \"{PROGRAM}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         mcp = {{ package = \"omnimcp\", path = {library:?}, default-features = false, features = [\"client\", \"stdio\"] }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(
        workspace.root().join("Cargo.lock"),
        folder.join("Cargo.lock"),
    )?;
    let modules = servers.iter().map(|it| format!("mod {};\n", it.name));
    let arms = servers.iter().map(|TypedServer { name, call, .. }| {
        let mut letters = name.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        let ty: String = first.into_iter().chain(letters).collect();
        format!(
            "        {name:?} => {{\n            let server = {name}::{ty}::new(client.clone());\n            \
             println!(\"{{:?}}\", server.{call}.await?);\n        }}\n"
        )
    });
    let main = format!(
        "//! Typed clients of servers.\n#![deny(warnings)]\n\n{}\n\
         #[tokio::main(flavor = \"current_thread\")]\nasync fn main() -> mcp::Result<()> {{\n    \
         use mcp::prelude::*;\n    let words: Vec<String> = std::env::args().skip(1).collect();\n    \
         let command = mcp::ServerCommand::new(&words[1]).args(&words[2..]);\n    \
         let client = Client::connect(command).await?;\n    match words[0].as_str() {{\n{}        \
         _ => {{}}\n    }}\n    client.close().await?;\n    Ok(())\n}}\n",
        modules.collect::<String>(),
        arms.collect::<String>()
    );
    Ok(fs::write(folder.join("src/main.rs"), main)?)
}

fn servers(workspace: &Workspace, peers: &Peers) -> Vec<TypedServer> {
    let npm = |name: &str| {
        let package = format!("@modelcontextprotocol/server-{name}");
        peers.package(&package, "dist/index.js")
    };
    let python = |name: &str| peers.python_tool(&format!("mcp-server-{name}"));
    let server = |name, program, call: &str, expected| TypedServer {
        name,
        program,
        arguments: Vec::new(),
        call: call.to_owned(),
        expected,
    };
    let files = peers.folder("files");
    let repository = peers.folder("repository");
    let git_status = format!("git_status(git::GitStatusInput::new({repository:?}))");
    let database = vec![PathBuf::from("--db-path"), files.join("test.db")];
    // The tools of some servers need a network, an account or a browser.
    let listed = |name, program, tool| server(name, program, "client().list_tools()", tool);
    let mut servers = vec![
        listed(
            "playwright",
            peers.package("@playwright/mcp", "cli.js"),
            "\"browser_close\"",
        ),
        listed(
            "context7",
            peers.package("@upstash/context7-mcp", "dist/index.js"),
            "\"resolve-library-id\"",
        ),
        listed(
            "tavily",
            peers.package("tavily-mcp", "build/index.js"),
            "\"tavily_search\"",
        ),
        listed(
            "devtools",
            peers.package(
                "chrome-devtools-mcp",
                "build/src/bin/chrome-devtools-mcp.js",
            ),
            "\"click\"",
        ),
        listed(
            "exa",
            peers.package("exa-mcp-server", "dist/stdio.cjs"),
            "\"web_search_exa\"",
        ),
        listed("fetch", python("fetch"), "\"fetch\""),
        listed(
            "wikipedia",
            peers.python_server("wikipedia-mcp"),
            "\"search_wikipedia\"",
        ),
        listed(
            "duckduckgo",
            peers.python_server("duckduckgo-mcp-server"),
            "\"search\"",
        ),
    ];
    servers.extend([
        server(
            "everything",
            npm("everything"),
            "get_sum(everything::GetSumInput::new(1.0, 2.0))",
            "The sum of 1 and 2 is 3",
        ),
        TypedServer {
            arguments: vec![files],
            ..server(
                "filesystem",
                npm("filesystem"),
                "list_allowed_directories()",
                "Allowed directories",
            )
        },
        server(
            "memory",
            npm("memory"),
            "read_graph()",
            "ReadGraphOutput { entities: [",
        ),
        server(
            "thinking",
            npm("sequential-thinking"),
            "sequentialthinking(thinking::SequentialthinkingInput::new(false.into(), \"so\", 1, 1))",
            "thought_number: 1",
        ),
        server(
            "time",
            python("time"),
            "get_current_time(time::GetCurrentTimeInput::new(\"UTC\"))",
            "UTC",
        ),
        TypedServer {
            arguments: database,
            ..server("sqlite", python("sqlite"), "list_tables()", "[]")
        },
        server(
            "calculator",
            python("calculator"),
            "calculate(calculator::CalculateInput::new(\"6*7\"))",
            "CalculateOutput { result: \"42\" }",
        ),
        server(
            "git",
            python("git"),
            &git_status,
            "Repository status",
        ),
        server(
            "fastmcp",
            peers.python("server_fastmcp.py"),
            "add(fastmcp::AddInput::new(1, 2))",
            "3",
        ),
        server(
            "python",
            peers.python("server.py"),
            "add(python::AddInput::new(1, 2))",
            "3",
        ),
        server(
            "oldest",
            peers.node("server_oldest.mjs"),
            "add(oldest::AddInput::new().with_a(1.0).with_b(2.0))",
            "3",
        ),
        TypedServer {
            arguments: vec!["--stdio".into()],
            ..server("ours", Ok(PeerCommand::new(workspace.binary("debug", SERVER))), "test_simple_text()", "simple text")
        },
    ]);
    servers
}
