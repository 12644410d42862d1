//! The other SDKs: installed from their registries below the target folder, and used by the scripts
//! in `peers/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::node::{Packages, platform_package};
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// npm packages with fixed versions: the newest version of each SDK, and some hosts.
const NEWEST_NPM: [(&str, &str); 10] = [
    ("@google/gemini-cli", "0.61.0"),
    ("@langchain/core", "1.4.0"),
    ("@langchain/mcp-adapters", "1.1.4"),
    ("@langchain/openai", "1.6.0"),
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/node", "2.1.2"),
    ("@modelcontextprotocol/server", "2.4.0"),
    ("@openai/codex", "0.169.0"),
    ("langchain", "1.5.14"),
    ("zod", "4.6.7"),
];

/// Further packages. The oldest version of the TypeScript SDK has a name of its own.
const MORE_NPM: [(&str, &str); 30] = [
    ("@anthropic-ai/claude-code", "2.1.332"),
    ("@better-auth/core", "1.7.5"),
    ("@better-auth/oauth-provider", "1.7.5"),
    ("@better-auth/utils", "0.4.2"),
    ("@better-fetch/fetch", "1.3.2"),
    ("@modelcontextprotocol/ext-apps", "2.0.4"),
    ("@modelcontextprotocol/inspector", "2.12.0"),
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/server-everything", "2026.8.31"),
    ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    ("@modelcontextprotocol/server-memory", "2026.8.31"),
    (
        "@modelcontextprotocol/server-sequential-thinking",
        "2026.8.31",
    ),
    ("@playwright/mcp", "0.0.83"),
    ("@upstash/context7-mcp", "4.1.1"),
    ("axe-core", "4.14.1"),
    ("better-auth", "1.7.5"),
    ("better-call", "1.4.0"),
    ("chrome-devtools-mcp", "1.11.0"),
    ("exa-mcp-server", "3.4.1"),
    ("jose", "6.2.18"),
    ("mcp-remote", "0.15.1"),
    ("oauth2-mock-server", "9.3.0"),
    ("oauth4webapi", "3.8.8"),
    ("oidc-provider", "9.13.3"),
    ("opencode-ai", "1.18.33"),
    ("playwright-core", "1.65.1"),
    ("sdk-oldest", "npm:@modelcontextprotocol/sdk@1.0.0"),
    ("standardwebhooks", "1.1.1"),
    ("supergateway", "4.0.0"),
    ("tavily-mcp", "0.2.22"),
];

/// Servers that only list their tools.
const LISTING_NPM: [(&str, &str); 19] = [
    ("@antv/mcp-server-chart", "0.9.10"),
    ("@brave/brave-search-mcp-server", "2.1.4"),
    ("@circleci/mcp-server-circleci", "0.20.0"),
    ("@currents/mcp", "2.1.1"),
    ("@elastic/mcp-server-elasticsearch", "0.3.1"),
    ("@hubspot/mcp-server", "0.4.0"),
    ("@launchdarkly/mcp-server", "0.6.2"),
    ("@modelcontextprotocol/server-everart", "0.6.2"),
    ("@modelcontextprotocol/server-github", "2025.4.8"),
    ("@modelcontextprotocol/server-gitlab", "2025.4.25"),
    ("@modelcontextprotocol/server-google-maps", "0.6.2"),
    ("@modelcontextprotocol/server-puppeteer", "2025.5.12"),
    ("@modelcontextprotocol/server-slack", "2025.4.25"),
    ("@notionhq/notion-mcp-server", "2.5.2"),
    ("airtable-mcp-server", "1.14.0"),
    ("figma-developer-mcp", "0.13.2"),
    ("firecrawl-mcp", "3.26.0"),
    ("mcp-server-code-runner", "0.1.8"),
    ("mcp-server-kubernetes", "4.1.7"),
];

/// Environments of Python packages: two major versions of a package exclude each other.
const NEWEST_PYTHON: [(&str, &str); 2] = [
    ("python-2", "mcp==2.3.0 fastmcp==4.1.2"),
    (
        "python-langchain",
        "langchain==1.5.2 langchain-mcp-adapters==0.3.2 langchain-openai==1.7.4",
    ),
];
const MORE_PYTHON: [(&str, &str); 10] = [
    ("python-1", "mcp==1.30.0"),
    ("python-oldest", "mcp==1.2.0 pydantic==2.10.6"),
    ("python-fastmcp-3", "fastmcp==3.4.2"),
    (
        "python-tools",
        "mcp-proxy==0.13.0 mcp-server-calculator==0.2.1 mcp-server-fetch==2026.10.10 \
         mcp-server-git==2026.10.10 mcp-server-sqlite==2025.4.25 mcp-server-time==2026.10.10",
    ),
    // Servers that need newer packages than those above.
    (
        "python-servers",
        "duckduckgo-mcp-server==0.7.0 wikipedia-mcp==2.0.1",
    ),
    ("python-telemetry", "opentelemetry-proto==1.45.2"),
    ("python-atlassian", "mcp-atlassian==0.23.1"),
    ("python-excel", "excel-mcp-server==2.2.2"),
    (
        "python-office",
        "mcp-obsidian==0.2.3 mcp-weather-server==0.6.1 office-word-mcp-server==1.1.11",
    ),
    ("python-redis", "redis-mcp-server==0.5.1"),
];

/// The package with the programs that use rmcp. It is not a workspace member.
const RMCP: &str = "xtask/peers/rmcp/Cargo.toml";

/// The scripts and their shared modules.
const SCRIPTS: &str = "xtask/src/interop/peers";

/// A program that was started or can be started, or the reason why it cannot.
pub(super) type Started<T> = std::result::Result<T, Obstacle>;

/// The reason why a case does not pass.
#[derive(Debug, Clone)]
pub(super) enum Obstacle {
    /// The peer cannot be installed here: the case is skipped.
    NotInstalled(String),
    /// The server did not start, or the output is not as expected.
    Failed(String),
}

impl From<Box<dyn std::error::Error>> for Obstacle {
    fn from(error: Box<dyn std::error::Error>) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The installed SDKs.
#[derive(Debug)]
pub(super) struct Peers {
    home: PathBuf,
    /// The folder with our programs, and those that use rmcp.
    binaries: PathBuf,
    node: Started<Packages>,
    /// The interpreter of each environment.
    python: BTreeMap<&'static str, Started<PathBuf>>,
    rmcp: Started<()>,
}

impl Peers {
    /// Installs missing SDKs: all of them, or the newest version of each. The cases of an SDK that cannot be
    /// installed are skipped, with the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written or the programs with rmcp do not build.
    pub(super) fn install(workspace: &Workspace, newest_only: bool) -> Result<Self> {
        let home = workspace.target().join("interop");
        copy_scripts(workspace, &home)?;
        let (mut npm, mut environments) = (NEWEST_NPM.to_vec(), NEWEST_PYTHON.to_vec());
        if !newest_only {
            npm.extend(MORE_NPM);
            npm.extend(LISTING_NPM);
            environments.extend(MORE_PYTHON);
        }
        let (node, python) = thread::scope(|scope| {
            let node = scope.spawn(|| Packages::install(&home, &npm).map_err(missing));
            let install = |(name, packages)| {
                let python = python_with(&home.join(name), packages);
                (name, python.map_err(missing))
            };
            let python = environments.into_iter().map(install).collect();
            let panicked = |_| Err(missing("the installation panicked".into()));
            (node.join().unwrap_or_else(panicked), python)
        });
        Ok(Self {
            home,
            binaries: workspace.target().join("debug"),
            node,
            python,
            rmcp: build_rmcp(workspace)?,
        })
    }

    /// Returns the words that start a program, of a description with its arguments:
    ///
    /// | description | program |
    /// |---|---|
    /// | `node SCRIPT` | a script in `peers/`, run by Node.js |
    /// | `npm PACKAGE FILE` | a script in an npm package |
    /// | `platform NAME FILE` | a program in an npm package for this platform |
    /// | `python-… SCRIPT.py` | a script in `peers/`, run by Python in an environment |
    /// | `python-… NAME` | a program in an environment |
    /// | `rmcp NAME` | a program that uses rmcp |
    /// | `ours NAME` | a program of this workspace |
    pub(super) fn program(&self, description: &str) -> Started<Vec<PathBuf>> {
        let mut words = description.split_whitespace();
        let mut next = || words.next().unwrap_or_default();
        let program = |name: &str| format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let installed = |package: &str, file: PathBuf| {
            let reason = || missing(format!("{package} is not installed").into());
            file.is_file().then_some(file).ok_or_else(reason)
        };
        let node = || self.node.as_ref().map_err(Clone::clone);
        let mut found = match next() {
            "node" => vec![node()?.node().to_owned(), self.home.join(next())],
            "npm" => {
                let (packages, package) = (node()?, next());
                let file = packages.file(package, next());
                vec![packages.node().to_owned(), installed(package, file)?]
            }
            "platform" => {
                let package = platform_package(next()).map_err(missing)?;
                vec![installed(&package, node()?.file(&package, next()))?]
            }
            "rmcp" => {
                self.rmcp.clone()?;
                vec![self.binaries.join(program(next()))]
            }
            "ours" => vec![self.binaries.join(program(next()))],
            environment => {
                let unselected = || Err(missing(format!("{environment} is not selected").into()));
                let python = self.python.get(environment).cloned();
                let (python, name) = (python.unwrap_or_else(unselected)?, next());
                if name.ends_with(".py") {
                    vec![python, self.home.join(name)]
                } else {
                    vec![python.with_file_name(program(name))]
                }
            }
        };
        found.extend(words.map(PathBuf::from));
        Ok(found)
    }

    /// Returns the command of a [`program`](Self::program).
    pub(super) fn command(&self, description: &str) -> Started<Command> {
        let words = self.program(description)?;
        Ok(command(&words))
    }

    /// A folder that programs may read and write.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }
}

/// Returns the command with these words.
pub(super) fn command(words: &[PathBuf]) -> Command {
    let (program, arguments) = words.split_first().unzip();
    let program = program.map_or(Path::new(""), PathBuf::as_path);
    let mut command = Command::new(program);
    command.args(arguments.unwrap_or_default());
    command
}

/// Returns the command of a program in `PATH`, which succeeds with `option`.
pub(super) fn installed(program: &str, option: &str) -> Started<Command> {
    if process::available(program, &[option]) {
        Ok(Command::new(program))
    } else {
        Err(missing(format!("{program} is not installed").into()))
    }
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

/// The obstacle of a peer that cannot be installed.
fn missing(error: Box<dyn std::error::Error>) -> Obstacle {
    Obstacle::NotInstalled(error.to_string())
}

/// Builds the programs that use rmcp. Returns the reason why rmcp cannot be downloaded, if it cannot.
///
/// # Errors
///
/// Returns an error if the programs, which are part of this project, do not build.
fn build_rmcp(workspace: &Workspace) -> Result<Started<()>> {
    let fetch = format!("fetch --quiet --manifest-path {RMCP}");
    if let Err(error) = process::capture(&mut workspace.cargo(&fetch)) {
        return Ok(Err(missing(error)));
    }
    let build = format!("build --quiet --bins --manifest-path {RMCP} --target-dir");
    process::run(workspace.cargo(&build).arg(workspace.target()))?;
    Ok(Ok(()))
}

/// Creates a virtual environment with these packages. Returns its interpreter.
fn python_with(home: &Path, packages: &str) -> Result<PathBuf> {
    let programs = home.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = programs.join(format!("python{}", std::env::consts::EXE_SUFFIX));
    let installed = home.join("installed");
    if fs::read_to_string(&installed).is_ok_and(|found| found == packages) {
        return Ok(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    if !process::available(system, &["--version"]) {
        return Err("Python is not installed".into());
    }
    println!("installing {packages} below {}", home.display());
    process::capture(Command::new(system).args(["-m", "venv"]).arg(home))?;
    let mut pip = Command::new(&python);
    pip.args("-m pip install --quiet --disable-pip-version-check".split(' '));
    process::capture(pip.args(packages.split(' ')).stdin(Stdio::null()))?;
    fs::write(installed, packages)?;
    Ok(python)
}
