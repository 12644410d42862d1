//! Checks of the dependencies: unused ones, the rules in `deny.toml`, and known vulnerabilities.
//!
//! The tools come from crates.io and are installed below the target folder. A tool that cannot be
//! installed fails its step: a check that is silently left out protects nobody.

use std::path::Path;
use std::process::Command;

use super::outcome::StepOutcome;
use super::tools;
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// Finds unused dependencies.
pub(super) fn machete(workspace: &Workspace) -> Result<StepOutcome> {
    let program = tools::install(workspace, &tools::MACHETE)?;
    process::run(Command::new(program).arg(workspace.root()))?;
    Ok(StepOutcome::Passed)
}

/// Checks licences, sources and version requirements of all dependencies.
pub(super) fn deny(workspace: &Workspace) -> Result<StepOutcome> {
    let program = tools::install(workspace, &tools::DENY)?;
    let checks = "check --hide-inclusion-graph bans licenses sources".split(' ');
    process::run(cargo_deny(workspace, &program).args(checks))?;
    Ok(StepOutcome::Passed)
}

/// Checks for known vulnerabilities, unmaintained and yanked packages.
///
/// The RustSec database is a git repository on github.com. No package registry has a copy. Where it
/// cannot be downloaded, the step is skipped; the release workflow runs it with `--strict`.
pub(super) fn advisories(workspace: &Workspace) -> Result<StepOutcome> {
    let program = tools::install(workspace, &tools::DENY)?;
    let downloaded = process::capture(cargo_deny(workspace, &program).args(["fetch", "db"]));
    if let Err(error) = downloaded {
        return Ok(StepOutcome::Skipped(not_checked(&error.to_string())));
    }
    process::run(cargo_deny(workspace, &program).args(["check", "advisories"]))?;
    Ok(StepOutcome::Passed)
}

/// Says what was not checked, and where it can be.
fn not_checked(download_error: &str) -> String {
    let reason = download_error.lines().last().unwrap_or_default();
    format!(
        "NOT checked: the advisories of RustSec, whose database cannot be downloaded ({reason}). Run `cargo xtask ci \
         --only advisories --strict` where github.com can be reached"
    )
}

fn cargo_deny(workspace: &Workspace, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace.root());
    command
}

#[cfg(test)]
mod tests {
    use super::not_checked;
    use crate::sources::Sources;
    use crate::workspace::Workspace;

    #[test]
    fn outcome_without_database_says_what_was_not_checked() {
        let text = not_checked("cargo-deny fetch db: exit status: 1\nfatal: no such host");
        assert!(
            text.contains("NOT checked: the advisories of RustSec"),
            "{text}"
        );
        assert!(text.contains("(fatal: no such host)"), "{text}");
    }

    #[test]
    fn release_workflow_checks_the_advisories() {
        let workspace = Workspace::find().unwrap();
        let sources = Sources::read(workspace.root()).unwrap();
        let text = |path| &*sources.text(path).unwrap().content;
        let step = "cargo xtask ci --only advisories --strict";
        assert!(text(".github/workflows/release.yml").contains(step));
        for rule in ["unmaintained = \"all\"", "yanked = \"deny\""] {
            assert!(text("deny.toml").contains(rule), "{rule}");
        }
    }
}
