//! Typed clients of servers from npm and PyPI: `mcp gen rust` writes one file for each, all files are one
//! program, and the program calls a tool of each server.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cases::{Case, Start};
use super::pipes::{self, COMMAND};
use super::servers::RealServer;
use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// The program with all clients.
const PROGRAM: &str = "typed-clients";

/// Generates the clients, builds the program, and returns a case for each server. `mcp` must be built.
pub(super) fn cases(workspace: &Workspace, mut servers: Vec<RealServer>) -> Result<Vec<Case>> {
    let folder = workspace.target().join("interop/typed");
    fs::create_dir_all(folder.join("src"))?;
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
    let installed = servers.iter().filter(|server| server.program.is_ok());
    write_package(workspace, &folder, &installed.collect::<Vec<_>>())?;
    let mut build = workspace.cargo();
    build.args(["build", "--quiet", "--manifest-path"]);
    build.arg(folder.join("Cargo.toml"));
    process::run(build.arg("--target-dir").arg(workspace.target()))?;
    let binary = workspace.binary("debug", PROGRAM);
    let case = |server: RealServer| {
        let start = server.program.map(|program| {
            let mut command = Command::new(&binary);
            command.arg(server.name).args(program.words());
            command.args(&server.arguments);
            command
        });
        let name = format!("typed client -> {}", server.name);
        pipes::case(name, start, server.typed_expected)
    };
    cases.extend(servers.into_iter().map(case));
    Ok(cases)
}

/// Writes the client of a server, if the server is installed.
fn generate(workspace: &Workspace, folder: &Path, server: &RealServer) -> Result<()> {
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
fn write_package(workspace: &Workspace, folder: &Path, servers: &[&RealServer]) -> Result<()> {
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
    let modules = servers
        .iter()
        .map(|server| format!("mod {};\n", server.name));
    let arms = servers.iter().map(|RealServer { name, typed_call, .. }| {
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let ty: String = first.into_iter().chain(letters).collect();
        format!(
            "        {name:?} => {{\n            let server = {name}::{ty}::new(client.clone());\n            \
             println!(\"{{:?}}\", server.{typed_call}.await?);\n        }}\n"
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
