//! The others: installed by name below the target folder, and driven by small programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, ScopedJoinHandle};

use super::Start;
use crate::Result;
use crate::node::Packages;
use crate::process;
use crate::workspace::Workspace;

/// Pinned: a newer one is adopted on purpose.
const NPM: [(&str, &str); 6] = [
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/node", "2.1.2"),
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/server", "2.4.0"),
    (EVERYTHING, "2026.8.31"),
    ("zod", "4.6.7"),
];
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";
/// Folders with what each of them has; the two majors of one package exclude each other.
const PYTHON: [&str; 2] = ["mcp==2.3.0", "fastmcp==4.1.2"];
const PYTHON_1: [&str; 1] = ["mcp==1.30.0"];
/// The package with the programs on rmcp, which is no member of the workspace.
const RMCP: &str = "xtask/peers/rmcp/Cargo.toml";

macro_rules! scripts {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("peers/", $name)))),*] };
}

/// The programs and what they share.
const SCRIPTS: [(&str, &str); 19] = scripts! {
    "checks.mjs" "checks.py" "client.mjs" "client.py" "client_http.mjs" "client_http.py"
    "client_http_v1.mjs" "client_http_v1.py" "client_v1.mjs" "client_v1.py" "fixtures.mjs"
    "fixtures.py" "server.py" "server_fastmcp.py" "server_http.mjs" "server_http.py"
    "server_http_v1.mjs" "server_http_v1.py" "server_v1.py"
};

/// How a program is started, or why there is none.
pub(super) type Program = std::result::Result<Words, String>;

/// A program with its first arguments.
#[derive(Debug, Clone)]
pub(super) struct Words {
    program: PathBuf,
    script: Option<PathBuf>,
}

impl Words {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.script);
        command
    }

    /// The words of the command line.
    pub(super) fn words(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.program.as_path()).chain(self.script.as_deref())
    }
}

impl From<std::result::Result<Command, String>> for Start {
    fn from(command: std::result::Result<Command, String>) -> Self {
        command.map_or_else(Self::Skip, Self::Run)
    }
}

/// What there is to speak with.
#[derive(Debug)]
pub(super) struct Peers {
    home: PathBuf,
    node: std::result::Result<Packages, String>,
    python: std::result::Result<PathBuf, String>,
    python_1: std::result::Result<PathBuf, String>,
    /// The folder with the programs on rmcp.
    rmcp: std::result::Result<PathBuf, String>,
}

impl Peers {
    /// Installs what is missing. What cannot be installed is skipped later, with the
    /// reason.
    pub(super) fn install(workspace: &Workspace, home: &Path) -> Result<Self> {
        fs::create_dir_all(home)?;
        for (name, text) in SCRIPTS {
            // Node looks for packages from the program's own folder upwards.
            fs::write(home.join(name), text)?;
        }
        let python = |name: &str, packages: &[&str]| python_with(&home.join(name), packages);
        let (node, python_2, python_1) = thread::scope(|scope| {
            let node = scope.spawn(|| Packages::install(home, &NPM).map_err(said));
            let python_2 = scope.spawn(|| python("python-2", &PYTHON).map_err(said));
            let python_1 = python("python-1", &PYTHON_1).map_err(said);
            (joined(node), joined(python_2), python_1)
        });
        Ok(Self {
            home: home.to_owned(),
            node,
            python: python_2,
            python_1,
            rmcp: on_rmcp(workspace, &home.join("rmcp"))?,
        })
    }

    /// A script for Node.
    pub(super) fn node(&self, script: &str) -> Program {
        let packages = self.node.as_ref().map_err(String::clone)?;
        Ok(Words {
            program: packages.node().to_owned(),
            script: Some(self.home.join(script)),
        })
    }

    /// A server with everything, from npm.
    pub(super) fn everything(&self) -> Program {
        let packages = self.node.as_ref().map_err(String::clone)?;
        Ok(Words {
            program: packages.node().to_owned(),
            script: Some(packages.file(EVERYTHING, "dist/index.js")),
        })
    }

    /// A script for the second Python SDK.
    pub(super) fn python(&self, script: &str) -> Program {
        self.of_python(&self.python, script)
    }

    /// A script for the first Python SDK.
    pub(super) fn python_1(&self, script: &str) -> Program {
        self.of_python(&self.python_1, script)
    }

    fn of_python(
        &self,
        interpreter: &std::result::Result<PathBuf, String>,
        script: &str,
    ) -> Program {
        Ok(Words {
            program: interpreter.clone()?,
            script: Some(self.home.join(script)),
        })
    }

    /// A program on rmcp.
    pub(super) fn rmcp(&self, name: &str) -> Program {
        let folder = self.rmcp.as_ref().map_err(String::clone)?;
        Ok(Words {
            program: folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
            script: None,
        })
    }
}

/// An error as a text can go from one thread to another.
fn said(error: Box<dyn std::error::Error>) -> String {
    error.to_string()
}

fn joined<T>(
    thread: ScopedJoinHandle<'_, std::result::Result<T, String>>,
) -> std::result::Result<T, String> {
    let panicked = |_| Err("the installation panicked".to_owned());
    thread.join().unwrap_or_else(panicked)
}

/// The folder with the programs on rmcp, or why it cannot be had.
///
/// # Errors
///
/// When the programs do not build: they are this project's own.
fn on_rmcp(workspace: &Workspace, target: &Path) -> Result<std::result::Result<PathBuf, String>> {
    let fetch = ["fetch", "--quiet", "--manifest-path", RMCP];
    if let Err(error) = process::capture(workspace.cargo().args(fetch)) {
        return Ok(Err(said(error)));
    }
    let build = ["build", "--quiet", "--bins", "--manifest-path", RMCP];
    let mut cargo = workspace.cargo();
    process::run(cargo.args(build).arg("--target-dir").arg(target))?;
    Ok(Ok(target.join("debug")))
}

/// A Python with these packages, in a folder of its own.
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
    fn every_script_is_written_where_it_runs() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/interop/peers");
        let there = std::fs::read_dir(folder).unwrap();
        let mut there: Vec<String> = there
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(there, SCRIPTS.map(|(name, _)| name));
    }
}
