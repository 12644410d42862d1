//! Definitions for model providers, of the tools of published servers: all are valid by the rules of each provider.

use std::path::PathBuf;

use super::cases::{Cases, with};
use super::servers::PeerServer;
use crate::Result;

const TABLE: &str = include_str!("definitions.txt");
/// Our program that lists the tools of a server and checks their definitions.
const CHECK: &str = "tool-definitions";

/// Adds a case for each server that people use, and for those that only list their tools here.
pub(super) fn add(cases: &mut Cases<'_>, servers: &[PeerServer]) -> Result<()> {
    for server in servers {
        add_case(cases, &server.name, "", server.words.clone());
    }
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split(" |").map(str::trim).collect();
        let [name, program, variables] = columns[..] else {
            return Err(format!("not a server: {row}").into());
        };
        let words = cases.peers.program(program);
        add_case(cases, name, variables, words);
    }
    Ok(())
}

fn add_case(
    cases: &mut Cases<'_>,
    name: &str,
    variables: &str,
    words: super::peers::Started<Vec<PathBuf>>,
) {
    let command = with(cases.ours(CHECK), variables.split_whitespace());
    let start = words.map(|words| with(command, words));
    cases.add(format!("tool definitions of {name}"), start, ", 0 invalid");
}
