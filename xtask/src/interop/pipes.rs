//! Cases over pipes: one tool call for each pair. The features are tested over HTTP; over pipes only
//! the start of the connection differs.

use std::path::PathBuf;

use super::cases::{Cases, MCP, PIPE_CLIENT, SERVER, with};

/// The newest FastMCP, which has no case over HTTP.
const FASTMCP: &str = "Python fastmcp";
/// Our server with tools of many Rust return types.
const RETURNED_TYPES: &str = "returned-types";
/// The result of the tool that clients call.
const SIMPLE_TEXT: &str = "tools: This is a simple text response for testing.";

/// Servers of an SDK with the tool `add`. Further ones are in [`servers`](super::servers).
const SERVERS: [(&str, &str); 4] = [
    ("Python server 1", "python-1 server_v1.py"),
    (FASTMCP, "python-2 server_fastmcp.py"),
    ("FastMCP 3", "python-fastmcp-3 server_fastmcp.py"),
    // It ends at the request that probes for the modern era, and is started again.
    ("Python server 1.2", "python-oldest server_v1.py"),
];

/// Clients, with their mode of version negotiation if they have several.
const CLIENTS: [(&str, &str); 7] = [
    ("TypeScript client 2, either era", "node client.mjs auto"),
    ("TypeScript client 2, legacy era", "node client.mjs legacy"),
    ("TypeScript client 1", "node client_v1.mjs"),
    ("Python client 2", "python-2 client.py"),
    ("Python client 1", "python-1 client_v1.py"),
    ("TypeScript client 1.0", "node client_oldest.mjs"),
    ("Python client 1.2", "python-oldest client_v1.py"),
];

/// Clients that compare each result with the tool's output schema.
const VALIDATING: [(&str, &str); 5] = [
    (
        "TypeScript client 2, either era",
        "node returned_v2.mjs auto",
    ),
    (
        "TypeScript client 2, legacy era",
        "node returned_v2.mjs legacy",
    ),
    ("TypeScript client 1", "node returned_v1.mjs"),
    ("Python client 2", "python-2 returned_v2.py"),
    ("Python client 1", "python-1 returned_v1.py"),
];

/// Adds all cases, or those of peers that have no case of the newest revision over HTTP.
pub(super) fn add(cases: &mut Cases<'_>, newest_only: bool) {
    if !newest_only {
        let server = [cases.binary(SERVER), "--stdio".into()];
        add_clients(cases, "our server", &server);
        for (name, program) in VALIDATING {
            let server = cases.binary(RETURNED_TYPES);
            let start = cases
                .peers
                .command(program)
                .map(|client| with(client, [server]));
            cases.add(
                format!("{name} -> returned types"),
                start,
                " calls, 0 refused",
            );
        }
    }
    let is_wanted = |(name, _): &(&str, &str)| !newest_only || *name == FASTMCP;
    for (name, program) in SERVERS.into_iter().filter(is_wanted) {
        let start = cases.peers.program(program).map(|peer| {
            let client = with(cases.ours(PIPE_CLIENT), peer);
            with(client, ["--", "add", r#"{"a": 1, "b": 2}"#])
        });
        cases.add(format!("our client -> {name}, pipe"), start, "\n3\n");
    }
}

/// Adds the cases of all clients with a server.
pub(super) fn add_clients(cases: &mut Cases<'_>, server: &str, words: &[PathBuf]) {
    for (name, program) in CLIENTS {
        let start = cases.peers.command(program);
        let start = start.map(|client| with(client, words));
        cases.add(format!("{name} -> {server}, pipe"), start, SIMPLE_TEXT);
    }
}

/// Adds the cases of clients whose server is `mcp proxy` in front of our server at `url`.
pub(super) fn add_proxied(cases: &mut Cases<'_>, url: &str) {
    let proxy = [cases.binary(MCP), "proxy".into(), url.into()];
    add_clients(cases, "mcp proxy -> our server", &proxy);
}
