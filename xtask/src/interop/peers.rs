//! The other SDKs: installed from their registries below the target folder, and used by the scripts
//! in `peers/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, ScopedJoinHandle};

use crate::Result;
use crate::node::Packages;
use crate::process;
use crate::workspace::Workspace;

/// npm packages with fixed versions. The oldest version of the TypeScript SDK has a name of its own.
const NPM: [(&str, &str); 30] = [
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
/// Python packages of each environment: two major versions of a package exclude each other.
const PYTHON: [&str; 2] = ["mcp==2.3.0", "fastmcp==4.1.2"];
const PYTHON_1: [&str; 1] = ["mcp==1.30.0"];
const PYTHON_OLDEST: [&str; 2] = ["mcp==1.2.0", "pydantic==2.10.6"];
const PYTHON_FASTMCP_3: [&str; 1] = ["fastmcp==3.4.2"];
const PYTHON_TOOLS: [&str; 6] = [
    "mcp-proxy==0.13.0",
    "mcp-server-calculator==0.2.1",
    "mcp-server-fetch==2026.10.10",
    "mcp-server-git==2026.10.10",
    "mcp-server-sqlite==2025.4.25",
    "mcp-server-time==2026.10.10",
];
/// Servers that need newer packages than those above.
const PYTHON_SERVERS: [&str; 2] = ["duckduckgo-mcp-server==0.7.0", "wikipedia-mcp==2.0.1"];
const PYTHON_LANGCHAIN: [&str; 3] = [
    "langchain==1.5.2",
    "langchain-mcp-adapters==0.3.2",
    "langchain-openai==1.7.4",
];
const PYTHON_TELEMETRY: [&str; 1] = ["opentelemetry-proto==1.45.2"];
/// The package with the programs that use rmcp. It is not a member of the workspace.
const RMCP: &str = "xtask/peers/rmcp/Cargo.toml";

macro_rules! scripts {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("peers/", $name)))),*] };
}

/// The scripts and their shared modules.
const SCRIPTS: [(&str, &str); 40] = scripts! {
    "admin.mjs" "auth_server.mjs" "browser.mjs" "browser_view.mjs" "checks.mjs" "checks.py" "client.mjs" "client.py" "client_auth.mjs" "client_auth.py" "client_fastmcp.py" "client_http.mjs"
    "client_http.py" "client_http_v1.mjs" "client_http_v1.py" "client_oldest.mjs" "client_v1.mjs"
    "client_v1.py" "fixtures.mjs" "fixtures.py" "host_langchain.mjs" "host_langchain.py" "inspector.mjs" "login_pages.mjs" "model_scripted.mjs" "protected_server.mjs" "proxy_fastmcp.py" "resource_dpop.mjs" "server.py" "server_fastmcp.py" "server_hostile.mjs" "server_http.mjs"
    "server_http.py" "server_http_v1.mjs" "server_http_v1.py" "server_oldest.mjs" "server_v1.py" "telemetry.py" "view_apps.mjs" "webhook_receiver.mjs"
};

/// The script with FastMCP's proxy.
const PROXY_FASTMCP: (&str, &str) = ("proxy_fastmcp.py", include_str!("peers/proxy_fastmcp.py"));

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
    python: std::result::Result<PathBuf, String>,
    python_1: std::result::Result<PathBuf, String>,
    python_oldest: std::result::Result<PathBuf, String>,
    python_fastmcp_3: std::result::Result<PathBuf, String>,
    python_tools: std::result::Result<PathBuf, String>,
    python_servers: std::result::Result<PathBuf, String>,
    python_telemetry: std::result::Result<PathBuf, String>,
    python_langchain: std::result::Result<PathBuf, String>,
    /// The folder with the programs that use rmcp.
    rmcp: std::result::Result<PathBuf, String>,
}

/// The proxies in Python that are compared with our gateway.
#[derive(Debug)]
pub(crate) struct Proxies {
    /// FastMCP's, with the arguments URL and port.
    pub(crate) fastmcp: InstalledProgram,
    /// mcp-proxy.
    pub(crate) mcp_proxy: InstalledProgram,
}

impl Proxies {
    /// Installs the proxies in the folder of all peers.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub(crate) fn install(workspace: &Workspace) -> Result<Self> {
        let home = home(workspace);
        fs::create_dir_all(&home)?;
        let (name, text) = PROXY_FASTMCP;
        fs::write(home.join(name), text)?;
        let fastmcp = python_with(&home.join("python-2"), &PYTHON).map_err(message);
        let tools = python_with(&home.join("python-tools"), &PYTHON_TOOLS).map_err(message);
        Ok(Self {
            fastmcp: fastmcp.map(|program| PeerCommand {
                program,
                script: Some(home.join(name)),
            }),
            mcp_proxy: program_beside(&tools, "mcp-proxy"),
        })
    }
}

impl Peers {
    /// Installs missing SDKs. The cases of an SDK that cannot be installed are skipped, with the
    /// reason.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written or the programs with rmcp do not build.
    pub(super) fn install(workspace: &Workspace, home: &Path) -> Result<Self> {
        write_scripts(home)?;
        let python = |name: &str, packages: &[&str]| python_with(&home.join(name), packages);
        let environments: [(&str, &[&str]); 7] = [
            ("python-1", &PYTHON_1),
            ("python-oldest", &PYTHON_OLDEST),
            ("python-fastmcp-3", &PYTHON_FASTMCP_3),
            ("python-tools", &PYTHON_TOOLS),
            ("python-servers", &PYTHON_SERVERS),
            ("python-telemetry", &PYTHON_TELEMETRY),
            ("python-langchain", &PYTHON_LANGCHAIN),
        ];
        let (node, python_2, others) = thread::scope(|scope| {
            let node = scope.spawn(|| Packages::install(home, &NPM).map_err(message));
            let python_2 = scope.spawn(|| python("python-2", &PYTHON).map_err(message));
            let others =
                environments.map(|(name, packages)| python(name, packages).map_err(message));
            (join(node), join(python_2), others)
        });
        let [
            python_1,
            python_oldest,
            python_fastmcp_3,
            python_tools,
            python_servers,
            python_telemetry,
            python_langchain,
        ] = others;
        Ok(Self {
            home: home.to_owned(),
            node,
            python: python_2,
            python_1,
            python_oldest,
            python_fastmcp_3,
            python_tools,
            python_servers,
            python_telemetry,
            python_langchain,
            rmcp: build_rmcp(workspace)?.map(|()| workspace.target().join("debug")),
        })
    }

    /// Installs the newest version of each SDK.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written or the programs with rmcp do not build.
    pub(super) fn install_newest(workspace: &Workspace, home: &Path) -> Result<Self> {
        write_scripts(home)?;
        let wanted: Vec<_> = NPM
            .into_iter()
            .filter(|(name, _)| NEWEST_NPM.contains(name))
            .collect();
        let (node, python, python_langchain) = thread::scope(|scope| {
            let node = scope.spawn(|| Packages::install(home, &wanted).map_err(message));
            let environment =
                |name: &str, packages| python_with(&home.join(name), packages).map_err(message);
            let python = environment("python-2", &PYTHON);
            let langchain = environment("python-langchain", &PYTHON_LANGCHAIN);
            (join(node), python, langchain)
        });
        let unselected = || Err("not selected".to_owned());
        Ok(Self {
            home: home.to_owned(),
            node,
            python,
            python_1: unselected(),
            python_oldest: unselected(),
            python_fastmcp_3: unselected(),
            python_tools: unselected(),
            python_servers: unselected(),
            python_telemetry: unselected(),
            python_langchain,
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

    /// A script for the oldest version of the Python SDK that still installs.
    pub(super) fn python_oldest(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python_oldest, script)
    }

    /// A script for version 3 of FastMCP.
    pub(super) fn fastmcp_3(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python_fastmcp_3, script)
    }

    /// A script that uses LangChain.
    pub(super) fn langchain(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python_langchain, script)
    }

    /// A script that decodes OTLP.
    pub(super) fn telemetry(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python_telemetry, script)
    }

    /// A program of the Python packages with servers and bridges.
    pub(super) fn python_tool(&self, name: &str) -> InstalledProgram {
        program_beside(&self.python_tools, name)
    }

    /// A server of Python packages that need newer packages than [`python_tool`](Self::python_tool).
    pub(super) fn python_server(&self, name: &str) -> InstalledProgram {
        program_beside(&self.python_servers, name)
    }

    /// A folder that a server may read and write.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// A script for version 2 of the Python SDK.
    pub(super) fn python(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python, script)
    }

    /// A script for version 1 of the Python SDK.
    pub(super) fn python_1(&self, script: &str) -> InstalledProgram {
        self.python_script(&self.python_1, script)
    }

    fn python_script(
        &self,
        interpreter: &std::result::Result<PathBuf, String>,
        script: &str,
    ) -> InstalledProgram {
        Ok(PeerCommand {
            program: interpreter.clone()?,
            script: Some(self.home.join(script)),
        })
    }

    /// A program that uses rmcp.
    pub(super) fn rmcp(&self, name: &str) -> InstalledProgram {
        let folder = self.rmcp.as_ref().map_err(String::clone)?;
        Ok(PeerCommand {
            program: folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
            script: None,
        })
    }
}

/// Returns the folder with all peers.
pub(super) fn home(workspace: &Workspace) -> PathBuf {
    workspace.target().join("interop")
}

fn write_scripts(home: &Path) -> Result<()> {
    fs::create_dir_all(home)?;
    for (name, text) in SCRIPTS {
        // Node.js searches packages in the folder of the script and its parents.
        fs::write(home.join(name), text)?;
    }
    Ok(())
}

/// Converts an error to its message, which other threads can receive.
fn message(error: Box<dyn std::error::Error>) -> String {
    error.to_string()
}

fn join<T>(
    thread: ScopedJoinHandle<'_, std::result::Result<T, String>>,
) -> std::result::Result<T, String> {
    let panicked = |_| Err("the installation panicked".to_owned());
    thread.join().unwrap_or_else(panicked)
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

/// A program in the folder of an interpreter.
fn program_beside(
    interpreter: &std::result::Result<PathBuf, String>,
    name: &str,
) -> InstalledProgram {
    let python = interpreter.as_ref().map_err(String::clone)?;
    Ok(PeerCommand {
        program: python.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
        script: None,
    })
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::SCRIPTS;

    #[test]
    fn script_list_has_every_file_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/interop/peers");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert_eq!(files, SCRIPTS.map(|(name, _)| name));
    }
}
