//! The programs that steps run, and the packages that are published.

use std::process::Command;

use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// Builds every program of the workspace with the features of `cargo test --workspace`, so that the
/// dependencies of the tests are used again. Building one package alone would compile the packages
/// that then have fewer features a second time.
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
