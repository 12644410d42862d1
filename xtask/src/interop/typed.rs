//! Typed clients of servers from npm and PyPI: `mcp gen rust` writes one file for each, all files are one
//! program, and the program calls a tool of each server.

use std::fs;
use std::path::Path;

use super::cases::{Cases, MCP, with};
use super::peers::Obstacle;
use super::servers::PeerServer;
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// The program with all clients.
const PROGRAM: &str = "typed-clients";

/// Generates the clients, builds the program, and adds a case for each server, unless none is selected. `mcp` must be built.
pub(super) fn add(cases: &mut Cases<'_>, mut servers: Vec<PeerServer>) -> Result<()> {
    let name = |server: &PeerServer| format!("typed client -> {}, pipe", server.name);
    if !servers.iter().any(|server| cases.selects(&name(server))) {
        return Ok(());
    }
    let folder = cases.peers.folder("typed");
    fs::create_dir_all(folder.join("src"))?;
    for server in &mut servers {
        if let Ok(words) = &server.words {
            let file = folder.join(format!("src/{}.rs", server.name));
            let mut generate = with(cases.ours(MCP), ["gen", "rust", "--yes", "--output"]);
            let generated = process::capture(generate.arg(file).arg("--").args(words));
            if let Err(error) = generated {
                server.words = Err(Obstacle::Failed(error.to_string()));
            }
        }
    }
    let generated: Vec<_> = servers
        .iter()
        .filter(|server| server.words.is_ok())
        .collect();
    write_package(cases.workspace, &folder, &generated)?;
    let mut build = cases.workspace.cargo("build --quiet --manifest-path");
    build.arg(folder.join("Cargo.toml"));
    process::run(build.arg("--target-dir").arg(cases.workspace.target()))?;
    for server in servers {
        let name = name(&server);
        let client = with(cases.ours(PROGRAM), [&server.name]);
        let start = server.words.map(|words| with(client, words));
        cases.add(name, start, server.typed_expected);
    }
    Ok(())
}

/// Writes the package with the generated files. Warnings are errors in it.
fn write_package(workspace: &Workspace, folder: &Path, servers: &[&PeerServer]) -> Result<()> {
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
    let arms = servers.iter().map(|PeerServer { name, typed_call, .. }| {
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
