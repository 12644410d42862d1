//! The programs that steps run, and the packages that are published.

use std::process::Command;

use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// Builds every program with the features that `cargo test --workspace` enables, so that no dependency is
/// compiled twice. Building one package alone would enable fewer features.
pub(super) fn build_programs(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo("build --quiet --workspace --bins --tests"))
}

/// Installs a target of the compiler. Returns the reason if that is not possible.
pub(super) fn missing_target(target: &str) -> Option<String> {
    let installed = process::run(Command::new("rustup").args(["target", "add", target]));
    let reason = |_| format!("rustup cannot install the target {target}");
    installed.err().map(reason)
}

/// Adds the flags that select the published packages.
pub(super) fn select_published(command: &mut Command, workspace: &Workspace) {
    for package in workspace.published() {
        command.args(["--package", package.name.as_str()]);
    }
}
