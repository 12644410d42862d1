//! Agent programs and frameworks as clients of our server and of `mcp gateway`, each with a scripted
//! language model on loopback.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::cases::{Case, Start, log_file};
use super::peers::{InstalledProgram, PeerCommand, Peers};
use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

/// The server with results and arguments that hosts and models stumble over.
pub(super) const SERVER: &str = "host-server";
/// Our command.
const COMMAND: &str = "mcp";

const START_LIMIT: Duration = Duration::from_secs(30);

/// The calls that each model makes: the tool, its arguments, and a part of the result.
const CALLS: [(&str, &str, &str); 3] = [
    ("add", r#"{"a": 1.25, "b": 2}"#, "3.25"),
    ("words", r#"{"text": "one two"}"#, "two"),
    (
        "orders",
        r#"{"prices": [1, 2], "term": "short-term"}"#,
        "orders from 1 to 2, soon",
    ),
];

/// A text that no model may see: the identity of a server behind the gateway.
const IDENTITY: &str = "io.modelcontextprotocol";

/// Starts a host with the URL of its model and the command of its MCP server.
type Launch = fn(&PeerCommand, &Path, &str, &[PathBuf]) -> Result<Command>;

struct Host {
    name: &'static str,
    program: InstalledProgram,
    launch: Launch,
    settings: Option<Settings>,
}

/// The settings file of a host, into which `mcp install` enters the server.
#[derive(Clone, Copy)]
struct Settings {
    /// The host's name for `mcp install`.
    host: &'static str,
    /// The file in the home folder.
    file: &'static str,
    /// A line after the entry of the server.
    addition: &'static str,
}

const GEMINI: Settings = Settings {
    host: "gemini-cli",
    file: ".gemini/settings.json",
    addition: "",
};
const CODEX: Settings = Settings {
    host: "codex",
    file: "config.toml",
    addition: "default_tools_approval_mode = \"approve\"\n",
};

fn hosts(peers: &Peers) -> [Host; 4] {
    let host = |name, program, launch, settings| Host {
        name,
        program,
        launch,
        settings,
    };
    [
        host(
            "Gemini CLI",
            peers.package("@google/gemini-cli", "bundle/gemini.js"),
            gemini as Launch,
            Some(GEMINI),
        ),
        host(
            "Codex",
            peers.package("@openai/codex", "bin/codex.js"),
            codex,
            Some(CODEX),
        ),
        host(
            "LangChain JS",
            peers.node("host_langchain.mjs"),
            langchain,
            None,
        ),
        host(
            "LangChain",
            peers.python("python-langchain", "host_langchain.py"),
            langchain,
            None,
        ),
    ]
}

/// Returns all cases, and the models that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let server = vec![workspace.binary("debug", SERVER)];
    let gateway = gateway(workspace, peers)?;
    let mut models = Vec::new();
    let mut cases = Vec::new();
    for host in hosts(peers) {
        let mut add = |pair: &str, call: (&str, &'static str, &'static str), words: &[PathBuf]| {
            let (tool, arguments, expected) = call;
            let name = format!("{} -> {pair}, {tool}", host.name);
            let start = match &host.program {
                Ok(program) => {
                    let home = peers.folder("hosts").join(log_name(&name));
                    fs::create_dir_all(&home)?;
                    let model = model(
                        peers,
                        tool,
                        arguments,
                        &log_file(out, &format!("{name} model")),
                    )?;
                    let command = (host.launch)(program, &home, model.url(), words)?;
                    if let Some(settings) = &host.settings {
                        install(workspace, settings, &home, words)?;
                    }
                    models.push(model);
                    Start::Run(command)
                }
                Err(reason) => Start::Skip(reason.clone()),
            };
            cases.push(Case {
                name,
                start,
                check: Box::new(move |output| problem(output, expected)),
            });
            Result::Ok(())
        };
        for call in CALLS {
            add("our server", call, &server)?;
        }
        add("mcp gateway with a hanging server", CALLS[0], &gateway)?;
    }
    Ok((models, cases))
}

fn log_name(name: &str) -> String {
    name.replace(|c: char| !c.is_alphanumeric(), "-")
}

/// Returns what is wrong with the output of a host.
fn problem(output: &str, expected: &str) -> Option<String> {
    let Some(line) = output.lines().find(|line| line.contains("RESULT")) else {
        return Some("the model received no result".to_owned());
    };
    if !line.contains(expected) {
        return Some(format!("the result does not contain {expected:?}: {line}"));
    }
    line.contains(IDENTITY)
        .then(|| format!("the model reads the metadata of a server: {line}"))
}

/// The command of a gateway with two servers, one of which never answers.
fn gateway(workspace: &Workspace, peers: &Peers) -> Result<Vec<PathBuf>> {
    let file = peers.folder("hosts.json");
    let settings = json!({"mcpServers": {
        "shop": {"command": workspace.binary("debug", SERVER)},
        "hanging": {"command": "sleep", "args": ["600"]},
    }});
    fs::write(&file, settings.to_string())?;
    let command = workspace.binary("debug", COMMAND);
    Ok(vec![command, "gateway".into(), file, "--stdio".into()])
}

fn model(peers: &Peers, tool: &str, arguments: &str, log: &Path) -> Result<Server> {
    let mut command = peers.node("model_scripted.mjs")?.command();
    process::clean_environment(&mut command);
    command.env("TOOL", tool).env("ARGS", arguments);
    Server::start(&mut command, log, START_LIMIT)
}

fn langchain(program: &PeerCommand, _: &Path, model: &str, server: &[PathBuf]) -> Result<Command> {
    let mut command = program.command();
    command.arg(model).args(server);
    Ok(command)
}

/// Enters the server into the settings of a host, as its user would.
fn install(
    workspace: &Workspace,
    settings: &Settings,
    home: &Path,
    server: &[PathBuf],
) -> Result<()> {
    let file = home.join(settings.file);
    let mut install = Command::new(workspace.binary("debug", COMMAND));
    install.args([
        "install",
        "--quiet",
        "--name",
        "shop",
        "--host",
        settings.host,
        "--file",
    ]);
    process::run(install.arg(&file).arg("--").args(server))?;
    let mut file = fs::OpenOptions::new().append(true).open(file)?;
    file.write_all(settings.addition.as_bytes())?;
    Ok(())
}

fn gemini(program: &PeerCommand, home: &Path, model: &str, _: &[PathBuf]) -> Result<Command> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
    });
    fs::create_dir_all(home.join(".gemini"))?;
    fs::write(home.join(GEMINI.file), settings.to_string())?;
    let mut gemini = program.command();
    gemini
        .args(["--prompt", "Call the tool.", "--approval-mode", "yolo"])
        .args(["--model", "gemini-2.5-flash", "--skip-trust"])
        .current_dir(home)
        .env("HOME", home)
        .env("GEMINI_API_KEY", "none")
        .env("GOOGLE_GEMINI_BASE_URL", model);
    Ok(gemini)
}

fn codex(program: &PeerCommand, home: &Path, model: &str, _: &[PathBuf]) -> Result<Command> {
    let settings = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\n\
         wire_api = \"responses\"\n"
    );
    fs::write(home.join(CODEX.file), settings)?;
    let mut codex = program.command();
    codex
        .args(["exec", "--skip-git-repo-check", "--json", "Call the tool."])
        .current_dir(home)
        .env("CODEX_HOME", home);
    Ok(codex)
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn result_without_metadata_passes() {
        assert_eq!(problem("warning\nRESULT {\"output\": 3.25}", "3.25"), None);
        for (output, expected) in [
            ("tools", "the model received no result"),
            ("RESULT [4]", "the result does not contain"),
            (
                "RESULT 3.25 {\"io.modelcontextprotocol/serverInfo\": 1}",
                "the model reads the metadata",
            ),
        ] {
            let found = problem(output, "3.25").unwrap_or_default();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
