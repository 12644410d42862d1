//! The commands of `mcp` with servers from npm and PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::cases::{Case, log_file};
use super::peers::{InstalledProgram, Peers};
use super::pipes::{COMMAND, case};
use crate::Result;
use crate::workspace::Workspace;

/// A server, and a tool with arguments whose result contains `expected`.
struct Subject {
    name: &'static str,
    program: InstalledProgram,
    arguments: Vec<PathBuf>,
    tool: &'static str,
    argument: Option<&'static str>,
    expected: &'static str,
    /// Further commands, and a part of their output.
    commands: &'static [(&'static [&'static str], &'static str)],
}

/// Commands that every server answers, and a part of their output.
const COMMANDS: [(&[&str], &str); 4] = [
    (&["ping"], " ms"),
    (&["info"], "negotiated: 20"),
    (&["doctor"], "ok       negotiation"),
    (&["snapshot"], "\"tools\""),
];

/// Commands for the features of `server-everything`.
const FEATURES: [(&[&str], &str); 4] = [
    (
        &["read", "demo://resource/static/document/startup.md"],
        "Startup Process",
    ),
    (&["prompt", "simple-prompt"], "without arguments"),
    (
        &["complete", "completable-prompt", "department=E"],
        "Engineering",
    ),
    // The server announces its tools when the session starts.
    (&["listen", "--count", "1"], "tools"),
];

/// A test before a release finds no error.
const TESTED: [(&[&str], &str); 1] = [(&["test", "--yes", "--quiet"], "0 errors")];

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

/// Returns all cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers, out: &Path) -> Result<Vec<Case>> {
    let mcp = workspace.binary("debug", COMMAND);
    let mut cases = Vec::new();
    for subject in subjects(peers)? {
        let simple = COMMANDS.iter().chain(subject.commands);
        for (words, expected) in simple {
            cases.push(subject.case(words[0], |server| {
                let mut command = Command::new(&mcp);
                command.args(*words).arg("--").args(server);
                (command, *expected)
            }));
        }
        cases.push(subject.case("list", |server| {
            let mut command = Command::new(&mcp);
            command.arg("list").arg("--").args(server);
            (command, subject.tool)
        }));
        cases.push(subject.script(&mcp, out, "diff", DIFF, false, "no differences"));
        cases.push(subject.script(&mcp, out, "replay", REPLAY, true, subject.expected));
        cases.push(subject.script(&mcp, out, "serve", SERVE, true, subject.expected));
        cases.push(subject.gateway(&mcp, out)?);
    }
    Ok(cases)
}

fn subjects(peers: &Peers) -> Result<[Subject; 4]> {
    let files = peers.folder("files");
    fs::create_dir_all(&files)?;
    Ok([
        Subject {
            name: "server-everything (npm)",
            program: peers.everything(),
            arguments: Vec::new(),
            tool: "echo",
            argument: Some("message=hi"),
            expected: "Echo: hi",
            commands: &FEATURES,
        },
        Subject {
            name: "server-filesystem (npm)",
            program: peers.package("@modelcontextprotocol/server-filesystem", "dist/index.js"),
            arguments: vec![files],
            tool: "list_allowed_directories",
            argument: None,
            expected: "Allowed directories",
            commands: &TESTED,
        },
        Subject {
            name: "mcp-server-time (PyPI)",
            program: peers.python_program("python-tools", "mcp-server-time"),
            arguments: Vec::new(),
            tool: "convert_time",
            argument: Some("source_timezone=UTC time=12:00 target_timezone=UTC"),
            expected: "+0.0h",
            commands: &TESTED,
        },
        Subject {
            name: "Python fastmcp",
            program: peers.python("python-2", "server_fastmcp.py"),
            arguments: Vec::new(),
            tool: "add",
            argument: Some("a=1 b=2"),
            expected: "3\n",
            commands: &[],
        },
    ])
}

impl Subject {
    /// The case of a command that `make` makes with the words that start the server.
    fn case(
        &self,
        command: &str,
        make: impl FnOnce(Vec<PathBuf>) -> (Command, &'static str),
    ) -> Case {
        let made = self.program.as_ref().map(|program| {
            let words = program.words().map(Path::to_path_buf);
            make(words.chain(self.arguments.clone()).collect())
        });
        let (start, expected) = match made {
            Ok((command, expected)) => (Ok(command), expected),
            Err(reason) => (Err(reason.clone()), ""),
        };
        case(format!("mcp {command} -> {}", self.name), start, expected)
    }

    /// The case of a script, which receives a file, the call if `with_call`, and the server.
    fn script(
        &self,
        mcp: &Path,
        out: &Path,
        name: &str,
        script: &str,
        with_call: bool,
        expected: &'static str,
    ) -> Case {
        self.case(name, |server| {
            let mut command = Command::new("bash");
            command.args(["-euo", "pipefail", "-c", script]).arg(mcp);
            command.arg(log_file(out, &format!("{name} {} file", self.name)));
            if with_call {
                command.args([self.tool, self.argument.unwrap_or_default()]);
            }
            command.args(server);
            (command, expected)
        })
    }

    /// The case of a gateway in front of the server.
    fn gateway(&self, mcp: &Path, out: &Path) -> Result<Case> {
        let file = log_file(out, &format!("gateway {} file", self.name));
        if let Ok(program) = &self.program {
            let mut words = program
                .words()
                .chain(self.arguments.iter().map(PathBuf::as_path));
            let command = words.next();
            let arguments: Vec<_> = words.collect();
            let server = json!({"command": command, "args": arguments});
            fs::write(&file, json!({"mcpServers": {"peer": server}}).to_string())?;
        }
        Ok(self.case("gateway", |_| {
            let mut command = Command::new(mcp);
            command.arg("call").arg(format!("peer__{}", self.tool));
            command.args(self.argument.unwrap_or_default().split_whitespace());
            command
                .arg("--")
                .arg(mcp)
                .arg("gateway")
                .arg(&file)
                .arg("--stdio");
            (command, self.expected)
        }))
    }
}
