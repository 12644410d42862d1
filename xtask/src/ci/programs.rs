//! The programs that steps run.

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
