//! npm packages and a Node.js of a fixed version, installed in one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use crate::process;
use crate::result::Result;

/// Version of the npm packages `node-<system>-<machine>`, which contain the `node` program.
const NODE_VERSION: &str = "22";

/// Installed npm packages with the `node` program that runs them.
#[derive(Debug)]
pub(crate) struct Packages {
    node: PathBuf,
    modules: PathBuf,
}

impl Packages {
    /// Installs packages (name and version) in `home`, unless they are installed already.
    ///
    /// # Errors
    ///
    /// Returns an error if npm is missing or fails.
    pub(crate) fn install(home: &Path, wanted: &[(&str, &str)]) -> Result<Self> {
        let node_package = platform_package("node")?;
        let modules = home.join("node_modules");
        let program = format!("bin/node{}", std::env::consts::EXE_SUFFIX);
        let node = modules.join(&node_package).join(program);
        let is_installed = |(name, version): &(&str, &str)| {
            // `npm:PACKAGE@VERSION` installs a package under another name.
            let version = version.rsplit('@').next();
            installed_version(&modules.join(name)).as_deref() == version
        };
        if !node.is_file() || !wanted.iter().all(is_installed) {
            fs::create_dir_all(home)?;
            let named = |(name, version): &(&str, &str)| ((*name).to_owned(), json!(version));
            let mut dependencies: Map<String, Value> = wanted.iter().map(named).collect();
            dependencies.insert(node_package, json!(NODE_VERSION));
            let manifest = json!({ "private": true, "dependencies": dependencies });
            fs::write(home.join("package.json"), manifest.to_string())?;
            npm_install(home, wanted)?;
        }
        Ok(Self { node, modules })
    }

    /// The path of `node`.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// Returns the path of a file in a package.
    pub(crate) fn file(&self, package: &str, path: &str) -> PathBuf {
        self.modules.join(package).join(path)
    }
}

/// Returns the name of the npm package with the program `name` for this platform.
pub(crate) fn platform_package(name: &str) -> Result<String> {
    use std::env::consts::{ARCH, OS};
    let system = match OS {
        "macos" => "darwin",
        "windows" => "win",
        other => other,
    };
    let machine = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("npm has no package with {name} for {OS} on {other}").into()),
    };
    Ok(format!("{name}-{system}-{machine}"))
}

fn installed_version(package: &Path) -> Option<String> {
    let manifest = fs::read_to_string(package.join("package.json")).ok()?;
    let manifest: Value = serde_json::from_str(&manifest).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

fn npm_install(home: &Path, wanted: &[(&str, &str)]) -> Result<()> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !process::available(npm, &["--version"]) {
        return Err("npm is not installed (install nodejs and npm)".into());
    }
    for (name, version) in wanted {
        println!("installing {name} {version} below {}", home.display());
    }
    let mut command = Command::new(npm);
    command
        .current_dir(home)
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
    // npm warns if the system's Node.js is older than the packages require; the installed one is not.
    process::run(command.args(["--loglevel", "error"]).stdin(Stdio::null()))
}
