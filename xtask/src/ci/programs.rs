//! The programs that steps run, and the packages that are published.

use std::process::Command;

use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// Builds every program with the features that `cargo test --workspace` enables, so that no dependency is
/// compiled twice. Building one package alone would enable fewer features.
pub(super) fn build_programs(workspace: &Workspace) -> Result<()> {
    process::run(
        workspace
            .cargo()
            .args(["build", "--quiet", "--workspace", "--bins", "--tests"]),
    )
}

/// Adds the flags that select the published packages.
pub(super) fn select_published(command: &mut Command, workspace: &Workspace) {
    for package in workspace.published() {
        command.args(["--package", package.name.as_str()]);
    }
}
