//! The others: installed by name below the target folder, and driven by small programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::node::Packages;
use crate::process;

/// Pinned: a newer one is adopted on purpose.
const NPM: [(&str, &str); 3] = [
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/sdk", "1.32.2"),
    (EVERYTHING, "2026.8.31"),
];
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";
/// Folders with what each of them has; the two majors of one package exclude each other.
const PYTHON: [&str; 2] = ["mcp==2.3.0", "fastmcp==4.1.2"];
const PYTHON_1: [&str; 1] = ["mcp==1.30.0"];

/// A program with its first arguments, or why there is none.
type Program = std::result::Result<Vec<PathBuf>, String>;

/// What there is to speak with.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) everything: Program,
    pub(crate) client: Program,
    pub(crate) client_1: Program,
    pub(crate) python_server: Program,
    pub(crate) python_client: Program,
    pub(crate) fastmcp_server: Program,
    pub(crate) python_1_server: Program,
    pub(crate) python_1_client: Program,
}

impl Peers {
    /// Installs what is missing. What cannot be installed is skipped later, with the reason.
    pub(crate) fn install(home: &Path) -> Result<Self> {
        fs::create_dir_all(home)?;
        let node = Packages::install(home, &NPM).map_err(|error| error.to_string());
        let python =
            python_with(&home.join("python-2"), &PYTHON).map_err(|error| error.to_string());
        let python_1 =
            python_with(&home.join("python-1"), &PYTHON_1).map_err(|error| error.to_string());
        // Node looks for packages from the program's own folder upwards.
        let file = |name: &str, text: &str| -> Result<PathBuf> {
            let path = home.join(name);
            fs::write(&path, text)?;
            Ok(path)
        };
        let of_node = |script: PathBuf| -> Program {
            let packages = node.as_ref().map_err(String::clone)?;
            Ok(vec![packages.node().to_owned(), script])
        };
        let of_python = |interpreter: &std::result::Result<PathBuf, String>, script: PathBuf| {
            interpreter.clone().map(|python| vec![python, script])
        };
        Ok(Self {
            everything: match &node {
                Ok(packages) => of_node(packages.file(EVERYTHING, "dist/index.js")),
                Err(reason) => Err(reason.clone()),
            },
            client: of_node(file("client.mjs", include_str!("peers/client.mjs"))?),
            client_1: of_node(file("client_v1.mjs", include_str!("peers/client_v1.mjs"))?),
            python_server: of_python(&python, file("server.py", include_str!("peers/server.py"))?),
            python_client: of_python(&python, file("client.py", include_str!("peers/client.py"))?),
            fastmcp_server: of_python(
                &python,
                file("server_fastmcp.py", include_str!("peers/server_fastmcp.py"))?,
            ),
            python_1_server: of_python(
                &python_1,
                file("server_v1.py", include_str!("peers/server_v1.py"))?,
            ),
            python_1_client: of_python(
                &python_1,
                file("client_v1.py", include_str!("peers/client_v1.py"))?,
            ),
        })
    }
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
