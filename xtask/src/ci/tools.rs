//! Cargo tools that `ci` installs below the target folder.

use std::path::PathBuf;

use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// A program on crates.io.
pub(super) struct Tool {
    name: &'static str,
    /// A fixed version, so that a new one does not change a check's result.
    version: &'static str,
}

/// Finds unused dependencies.
pub(super) const MACHETE: Tool = Tool {
    name: "cargo-machete",
    version: "0.9.2",
};

/// Checks the dependencies by the rules in `deny.toml`.
pub(super) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// Installs a tool unless it is installed. Returns the program's path.
///
/// The tools are built without optimization: they run for seconds, and an optimized cargo-deny takes
/// twice as long to build.
///
/// # Errors
///
/// Returns an error if `cargo install` fails, for example without a network.
pub(super) fn install(workspace: &Workspace, tool: &Tool) -> Result<PathBuf> {
    let tools = workspace.target().join("tools");
    let root = tools.join(format!("{}-{}", tool.name, tool.version));
    let program = format!("{}{}", tool.name, std::env::consts::EXE_SUFFIX);
    let program = root.join("bin").join(program);
    if !program.is_file() {
        let mut cargo = workspace.cargo("install --debug --locked --quiet");
        cargo
            .args([tool.name, "--version", tool.version, "--root"])
            .arg(root);
        cargo.arg("--target-dir").arg(tools.join("build"));
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
        process::run(&mut cargo)
            .map_err(|error| format!("{} cannot be installed ({error})", tool.name))?;
    }
    Ok(program)
}
