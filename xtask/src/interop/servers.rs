//! Servers from npm and PyPI that people use, over pipes: our client lists their tools and calls one
//! that needs no account and no network.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::cases::{Cases, MCP, PIPE_CLIENT, with};
use super::peers::Started;
use crate::process;
use crate::result::Result;

const TABLE: &str = include_str!("servers.txt");

/// A server of the table.
pub(super) struct PeerServer {
    /// Its typed client's name.
    pub(super) name: String,
    /// The words that start it.
    pub(super) words: Started<Vec<PathBuf>>,
    /// A tool call in Rust, and a part of its result.
    pub(super) typed_call: String,
    pub(super) typed_expected: String,
}

/// Adds the cases of our client, and of `mcp call` with servers whose tool is called. Creates the folders that
/// the servers use.
pub(super) fn add(cases: &mut Cases<'_>) -> Result<Vec<PeerServer>> {
    let (files, repository) = (
        cases.peers.folder("files"),
        cases.peers.folder("repository"),
    );
    fs::create_dir_all(&files)?;
    if !repository.join(".git").is_dir() {
        fs::create_dir_all(&repository)?;
        let mut git = Command::new("git");
        process::capture(git.arg("-C").arg(&repository).args(["init", "--quiet"]))?;
    }
    let (files, repository) = (files.to_string_lossy(), format!("{repository:?}"));
    let rows = TABLE.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| add_row(cases, row, &files, &repository))
        .collect()
}

fn add_row(cases: &mut Cases<'_>, row: &str, files: &str, repository: &str) -> Result<PeerServer> {
    let column = |text: &str| {
        let text = text.trim().replace("\\n", "\n");
        text.replace("$REPOSITORY", repository)
    };
    let columns: Vec<String> = row.split(" |").map(column).collect();
    let [name, program, arguments, tool, call @ ..] = columns.as_slice() else {
        return Err(format!("not a server: {row}").into());
    };
    let words = cases.peers.program(program).map(|mut words| {
        let arguments = arguments.split_whitespace();
        words.extend(arguments.map(|word| word.replace("$FILES", files).into()));
        words
    });
    let client = |program| words.clone().map(|words| with(cases.ours(program), words));
    let pair = format!("our client -> {name}, pipe");
    let (typed_call, typed_expected) = if let [values, expected, typed_call, typed] = call {
        let start = client(PIPE_CLIENT).map(|client| with(client, ["--", tool, values]));
        let mcp = with(cases.ours(MCP), ["call", tool, "--args-json", values, "--"]);
        let by_command = words.clone().map(|words| with(mcp, words));
        cases.add(pair, start, expected);
        // Our client prints the tools first, the command the result alone.
        let expected = expected.trim_start();
        cases.add(format!("mcp call -> {name}, pipe"), by_command, expected);
        (typed_call.clone(), typed.clone())
    } else {
        let start = client(PIPE_CLIENT);
        cases.add(pair, start, format!("{tool}: "));
        ("client().list_tools()".to_owned(), format!("\"{tool}\""))
    };
    Ok(PeerServer {
        name: name.clone(),
        words,
        typed_call,
        typed_expected,
    })
}
