//! The commands of `mcp` with servers from npm and PyPI.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::cases::{Cases, MCP, log_file, with};
use super::peers::Started;
use super::servers::PeerServer;
use crate::result::Result;

/// Commands, and a part of their output.
type Commands = &'static [(&'static str, &'static str)];

/// Commands that every server answers.
const COMMANDS: Commands = &[
    ("ping", " ms"),
    ("info", "negotiated: 20"),
    ("doctor", "ok       negotiation"),
    ("snapshot", "\"tools\""),
];

/// Commands for the features of `server-everything`.
const FEATURES: Commands = &[
    (
        "read demo://resource/static/document/startup.md",
        "Startup Process",
    ),
    ("prompt simple-prompt", "without arguments"),
    ("complete completable-prompt department=E", "Engineering"),
    // The server announces its tools when the session starts.
    ("listen --count 1", "tools"),
];

/// A test before a release finds no error.
const TESTED: Commands = &[("test --yes --quiet", "0 errors")];

/// Servers of [`servers`](super::servers), a tool with arguments, a part of its result, and further commands.
const SUBJECTS: [(&str, &str, &str, &str, Commands); 4] = [
    ("everything", "echo", "message=hi", "Echo: hi", FEATURES),
    (
        "filesystem",
        "list_allowed_directories",
        "",
        "Allowed directories",
        TESTED,
    ),
    (
        "time",
        "convert_time",
        "source_timezone=UTC time=12:00 target_timezone=UTC",
        "+0.0h",
        TESTED,
    ),
    ("fastmcp", "add", "a=1 b=2", "3\n", &[]),
];

/// A snapshot of the server does not differ from the server. `$0` is `mcp`, `$1` a file, and all further
/// words start the server, here and below.
const DIFF: &str = r#"file="$1"; shift
"$0" snapshot -- "$@" > "$file"
exec "$0" diff "$file" -- "$@""#;

/// A recorded call has the same result from the server, and from the recording as a server. `$2` and `$3`
/// are the call.
const REPLAY: &str = r#"file="$1" tool="$2" argument="$3"; shift 3
"$0" call "$tool" $argument -- "$0" record --output "$file" -- "$@" > /dev/null
"$0" replay "$file" --against -- "$@"
exec "$0" call "$tool" $argument -- "$0" replay "$file""#;

/// The server is called over HTTP, and there by a client on standard streams.
const SERVE: &str = r#"log="$1" tool="$2" argument="$3"; shift 3
"$0" serve --listen 127.0.0.1:0 -- "$@" 2> "$log" &
trap 'kill $!' EXIT
until url="$(grep -o 'http://[^ ]*/mcp' "$log")"; do
    kill -0 $!
    sleep 0.05
done
over_http="$("$0" call "$url" "$tool" $argument)"
by_proxy="$("$0" call "$tool" $argument -- "$0" proxy "$url")"
test "$over_http" = "$by_proxy"
echo "$by_proxy""#;

/// Adds all cases.
pub(super) fn add(cases: &mut Cases<'_>, servers: &[PeerServer]) -> Result<()> {
    let out = cases.out.clone();
    for (name, tool, arguments, expected, further) in SUBJECTS {
        let found = servers.iter().find(|server| server.name == name);
        let server = found
            .ok_or_else(|| format!("no server {name}"))?
            .words
            .clone();
        let pair = |command: &str| format!("mcp {command} -> {name}, pipe");
        let list = ("list", tool);
        for (words, expected) in COMMANDS.iter().chain(further).chain([&list]) {
            let words: Vec<_> = words.split(' ').collect();
            let command = with(with(cases.ours(MCP), &words), ["--"]);
            let start = server.clone().map(|server| with(command, server));
            cases.add(pair(words[0]), start, *expected);
        }
        let (none, call): (&[&str], &[&str]) = (&[], &[tool, arguments]);
        for (command, script, call, expected) in [
            ("diff", DIFF, none, "no differences"),
            ("replay", REPLAY, call, expected),
            ("serve", SERVE, call, expected),
        ] {
            let file = log_file(&out, &format!("{command} {name} file"));
            let bash = ["-euo", "pipefail", "-c", script];
            let bash = with(std::process::Command::new("bash"), bash);
            let bash = with(with(bash, [cases.binary(MCP), file]), call);
            let start = server.clone().map(|server| with(bash, server));
            cases.add(pair(command), start, expected);
        }
        let gateway = gateway(cases, name, &server)?;
        let call = with(cases.ours(MCP), ["call", &format!("peer__{tool}")]);
        let call = with(with(call, arguments.split_whitespace()), ["--"]);
        let start = server.map(|_| with(call, gateway));
        cases.add(pair("gateway"), start, expected);
    }
    Ok(())
}

/// Writes the configuration for a gateway in front of the server. Returns the words that start it.
fn gateway(cases: &Cases<'_>, name: &str, server: &Started<Vec<PathBuf>>) -> Result<[PathBuf; 4]> {
    let file = log_file(&cases.out, &format!("gateway {name} file"));
    if let Ok([command, arguments @ ..]) = server.as_deref() {
        let server = json!({"command": command, "args": arguments});
        fs::write(&file, json!({"mcpServers": {"peer": server}}).to_string())?;
    }
    Ok([cases.binary(MCP), "gateway".into(), file, "--stdio".into()])
}
