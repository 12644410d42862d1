//! The other SDKs: installed from their registries below the target folder, and used by the scripts
//! in `peers/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::Result;
use crate::node::{Packages, platform_package};
use crate::process;
use crate::workspace::Workspace;

/// npm packages with fixed versions. The oldest version of the TypeScript SDK has a name of its own.
const NPM: [(&str, &str); 32] = [
    ("@anthropic-ai/claude-code", "2.1.332"),
    ("@google/gemini-cli", "0.61.0"),
    ("@langchain/core", "1.4.0"),
    ("@langchain/mcp-adapters", "1.1.4"),
    ("@langchain/openai", "1.6.0"),
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/ext-apps", "2.0.4"),
    (INSPECTOR, "2.12.0"),
    ("@modelcontextprotocol/node", "2.1.2"),
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/server", "2.4.0"),
    (EVERYTHING, "2026.8.31"),
    ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    ("@modelcontextprotocol/server-memory", "2026.8.31"),
    (
        "@modelcontextprotocol/server-sequential-thinking",
        "2026.8.31",
    ),
    ("@openai/codex", "0.169.0"),
    ("@playwright/mcp", "0.0.83"),
    ("@upstash/context7-mcp", "4.1.1"),
    ("axe-core", "4.14.1"),
    ("chrome-devtools-mcp", "1.11.0"),
    ("exa-mcp-server", "3.4.1"),
    ("langchain", "1.5.14"),
    ("mcp-remote", "0.15.1"),
    ("oauth4webapi", "3.8.8"),
    ("oidc-provider", "9.13.3"),
    ("opencode-ai", "1.18.33"),
    ("playwright-core", "1.65.1"),
    ("sdk-oldest", "npm:@modelcontextprotocol/sdk@1.0.0"),
    ("standardwebhooks", "1.1.1"),
    ("supergateway", "4.0.0"),
    ("tavily-mcp", "0.2.22"),
    ("zod", "4.6.7"),
];
/// The packages of [`CaseSelection::OnePerPeer`](super::CaseSelection::OnePerPeer).
const NEWEST_NPM: [&str; 10] = [
    "@google/gemini-cli",
    "@langchain/core",
    "@langchain/mcp-adapters",
    "@langchain/openai",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/node",
    "@modelcontextprotocol/server",
    "@openai/codex",
    "langchain",
    "zod",
];
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";
const INSPECTOR: &str = "@modelcontextprotocol/inspector";
/// Environments of Python packages: two major versions of a package exclude each other.
const PYTHON: [(&str, &[&str]); 8] = [
    ("python-2", &["mcp==2.3.0", "fastmcp==4.1.2"]),
    ("python-1", &["mcp==1.30.0"]),
    ("python-oldest", &["mcp==1.2.0", "pydantic==2.10.6"]),
    ("python-fastmcp-3", &["fastmcp==3.4.2"]),
    (
        "python-tools",
        &[
            "mcp-proxy==0.13.0",
            "mcp-server-calculator==0.2.1",
            "mcp-server-fetch==2026.10.10",
            "mcp-server-git==2026.10.10",
            "mcp-server-sqlite==2025.4.25",
            "mcp-server-time==2026.10.10",
        ],
    ),
    // Servers that need newer packages than those above.
    (
        "python-servers",
        &["duckduckgo-mcp-server==0.7.0", "wikipedia-mcp==2.0.1"],
    ),
    (
        "python-langchain",
        &[
            "langchain==1.5.2",
            "langchain-mcp-adapters==0.3.2",
            "langchain-openai==1.7.4",
        ],
    ),
    ("python-telemetry", &["opentelemetry-proto==1.45.2"]),
];
/// The environments of the newest version of each SDK.
const NEWEST_PYTHON: [&str; 2] = ["python-2", "python-langchain"];
/// The package with the programs that use rmcp. It is not a member of the workspace.
const RMCP: &str = "xtask/peers/rmcp/Cargo.toml";

/// The scripts and their shared modules.
const SCRIPTS: &str = "xtask/src/interop/peers";

/// A program to start, or the reason why its SDK cannot be installed.
pub(crate) type InstalledProgram = std::result::Result<PeerCommand, String>;

/// A program with its first argument.
#[derive(Debug, Clone)]
pub(crate) struct PeerCommand {
    program: PathBuf,
    script: Option<PathBuf>,
}

impl PeerCommand {
    /// A program of this workspace, as its own peer.
    pub(super) fn new(program: PathBuf) -> Self {
        Self {
            program,
            script: None,
        }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.script);
        command
    }

    /// The program and the argument.
    pub(super) fn words(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.program.as_path()).chain(self.script.as_deref())
    }
}

/// The installed SDKs.
#[derive(Debug)]
pub(super) struct Peers {
    home: PathBuf,
    node: std::result::Result<Packages, String>,
    /// The interpreter of each environment.
    python: BTreeMap<&'static str, std::result::Result<PathBuf, String>>,
    /// The folder with the programs that use rmcp.
    rmcp: std::result::Result<PathBuf, String>,
}

impl Peers {
    /// Installs missing SDKs: all of them, or the newest version of each. The cases of an SDK that cannot be
    /// installed are skipped, with the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written or the programs with rmcp do not build.
    pub(super) fn install(workspace: &Workspace, home: &Path, newest_only: bool) -> Result<Self> {
        copy_scripts(workspace, home)?;
        let mut packages = NPM.to_vec();
        packages.retain(|(name, _)| !newest_only || NEWEST_NPM.contains(name));
        let mut environments = PYTHON.to_vec();
        environments.retain(|(name, _)| !newest_only || NEWEST_PYTHON.contains(name));
        let (node, python) = thread::scope(|scope| {
            let node = scope.spawn(|| Packages::install(home, &packages).map_err(message));
            let install = |(name, packages): (_, &[&str])| {
                (
                    name,
                    python_with(&home.join(name), packages).map_err(message),
                )
            };
            let python = environments.into_iter().map(install).collect();
            let panicked = |_| Err("the installation panicked".to_owned());
            (node.join().unwrap_or_else(panicked), python)
        });
        Ok(Self {
            home: home.to_owned(),
            node,
            python,
            rmcp: build_rmcp(workspace)?.map(|()| workspace.target().join("debug")),
        })
    }

    /// A Node.js script.
    pub(super) fn node(&self, script: &str) -> InstalledProgram {
        let packages = self.node.as_ref().map_err(String::clone)?;
        Ok(PeerCommand {
            program: packages.node().to_owned(),
            script: Some(self.home.join(script)),
        })
    }

    /// The npm package `server-everything`.
    pub(super) fn everything(&self) -> InstalledProgram {
        self.package(EVERYTHING, "dist/index.js")
    }

    /// The Inspector, whose option `--cli` calls one method.
    pub(super) fn inspector(&self) -> InstalledProgram {
        self.package(INSPECTOR, "clients/launcher/build/index.js")
    }

    /// A file in an npm package.
    pub(super) fn package(&self, package: &str, file: &str) -> InstalledProgram {
        let packages = self.node.as_ref().map_err(String::clone)?;
        let script = packages.file(package, file);
        if !script.is_file() {
            return Err(format!("{package} is not installed"));
        }
        Ok(PeerCommand {
            program: packages.node().to_owned(),
            script: Some(script),
        })
    }

    /// A program in an npm package for this platform, on which another package depends.
    pub(super) fn platform_program(&self, name: &str, file: &str) -> InstalledProgram {
        let packages = self.node.as_ref().map_err(String::clone)?;
        let package = platform_package(name).map_err(message)?;
        let program = packages.file(&package, file);
        if !program.is_file() {
            return Err(format!("{package} is not installed"));
        }
        Ok(PeerCommand::new(program))
    }

    /// A Python script, in one of the environments.
    pub(super) fn python(&self, environment: &str, script: &str) -> InstalledProgram {
        Ok(PeerCommand {
            program: self.interpreter(environment)?,
            script: Some(self.home.join(script)),
        })
    }

    /// A program of the Python packages in an environment.
    pub(super) fn python_program(&self, environment: &str, name: &str) -> InstalledProgram {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let python = self.interpreter(environment)?;
        Ok(PeerCommand::new(python.with_file_name(name)))
    }

    /// A folder that a server may read and write.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    fn interpreter(&self, environment: &str) -> std::result::Result<PathBuf, String> {
        let unselected = || Err("not selected".to_owned());
        self.python
            .get(environment)
            .cloned()
            .unwrap_or_else(unselected)
    }

    /// A program that uses rmcp.
    pub(super) fn rmcp(&self, name: &str) -> InstalledProgram {
        let folder = self.rmcp.as_ref().map_err(String::clone)?;
        Ok(PeerCommand::new(
            folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
        ))
    }
}

/// Returns the folder with all peers.
pub(super) fn home(workspace: &Workspace) -> PathBuf {
    workspace.target().join("interop")
}

/// Copies the scripts: Node.js searches packages in the folder of a script and its parents.
fn copy_scripts(workspace: &Workspace, home: &Path) -> Result<()> {
    fs::create_dir_all(home)?;
    for entry in fs::read_dir(workspace.root().join(SCRIPTS))? {
        let script = entry?;
        fs::copy(script.path(), home.join(script.file_name()))?;
    }
    Ok(())
}

/// Converts an error to its message, which other threads can receive.
fn message(error: Box<dyn std::error::Error>) -> String {
    error.to_string()
}

/// Builds the programs that use rmcp. Returns the reason why rmcp cannot be downloaded, if it cannot.
///
/// # Errors
///
/// Returns an error if the programs, which are part of this project, do not build.
fn build_rmcp(workspace: &Workspace) -> Result<std::result::Result<(), String>> {
    let fetch = ["fetch", "--quiet", "--manifest-path", RMCP];
    if let Err(error) = process::capture(workspace.cargo().args(fetch)) {
        return Ok(Err(message(error)));
    }
    let build = ["build", "--quiet", "--bins", "--manifest-path", RMCP];
    let mut cargo = workspace.cargo();
    let target = workspace.target();
    process::run(cargo.args(build).arg("--target-dir").arg(target))?;
    Ok(Ok(()))
}

/// Creates a virtual environment with these packages. Returns its interpreter.
fn python_with(home: &Path, packages: &[&str]) -> Result<PathBuf> {
    let programs = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = programs.join(format!("python{}", std::env::consts::EXE_SUFFIX));
    let installed = home.join("installed");
    let wanted = packages.join("\n");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    if !process::available(system, &["--version"]) {
        return Err("Python is not installed".into());
    }
    println!(
        "installing {} below {}",
        packages.join(", "),
        home.display()
    );
    process::capture(Command::new(system).args(["-m", "venv"]).arg(home))?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    process::capture(pip.args(packages).stdin(Stdio::null()))?;
    fs::write(installed, wanted)?;
    Ok(python)
}
