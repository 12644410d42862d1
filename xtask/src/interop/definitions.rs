//! Definitions for model providers, of the tools of published servers: all are valid by the rules of each provider.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::cases::{Cases, with};
use super::peers::{Obstacle, Started};
use super::servers::PeerServer;
use crate::result::Result;

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

/// Returns the words that start a server that only lists its tools, and its environment variables.
pub(super) fn listing_server(
    cases: &Cases<'_>,
    name: &str,
) -> Started<(Vec<PathBuf>, Map<String, Value>)> {
    let rows = TABLE.lines().map(|row| row.split(" |").map(str::trim));
    for mut columns in rows {
        if columns.next() == Some(name) {
            let mut column = || columns.next().unwrap_or_default();
            let words = cases.peers.program(column())?;
            let variables = column().split_whitespace();
            let variables = variables.filter_map(|variable| variable.split_once('='));
            let variables = variables.map(|(name, value)| (name.to_owned(), value.into()));
            return Ok((words, variables.collect()));
        }
    }
    Err(Obstacle::Failed(format!("no server {name}")))
}

fn add_case(cases: &mut Cases<'_>, name: &str, variables: &str, words: Started<Vec<PathBuf>>) {
    let command = with(cases.ours(CHECK), variables.split_whitespace());
    let start = words.map(|words| with(command, words));
    cases.add(format!("tool definitions of {name}"), start, ", 0 invalid");
}
