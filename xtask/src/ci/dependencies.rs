//! Checks of the dependencies: unused ones, the rules in `deny.toml`, and known vulnerabilities.
//!
//! The tools come from crates.io and are installed below the target folder. A tool that cannot be
//! installed fails its step: a check that is silently left out protects nobody.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::outcome::StepOutcome;
use super::tools;
use crate::Result;
use crate::process;
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
/// cannot be downloaded, only yanked versions are checked, and the outcome says so.
pub(super) fn advisories(workspace: &Workspace) -> Result<StepOutcome> {
    let program = tools::install(workspace, &tools::DENY)?;
    let downloaded = process::capture(cargo_deny(workspace, &program).args(["fetch", "db"]));
    let Err(error) = downloaded else {
        process::run(cargo_deny(workspace, &program).args(["check", "advisories"]))?;
        return Ok(StepOutcome::Passed);
    };
    check_yanked(workspace, &program)?;
    Ok(StepOutcome::Partial(not_checked(&error.to_string())))
}

/// Says what was not checked, and where it can be.
fn not_checked(download_error: &str) -> String {
    let reason = download_error.lines().last().unwrap_or_default();
    format!(
        "yanked versions were checked; NOT checked: advisories of RustSec, whose database cannot be \
         downloaded ({reason}). Run `cargo xtask ci --only advisories --strict` where github.com \
         can be reached"
    )
}

fn cargo_deny(workspace: &Workspace, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace.root());
    command
}

/// The stand-in database's address. The top-level domain does not exist, and git is told to use the
/// folder instead.
const STAND_IN_URL: &str = "https://advisories.invalid/none";

/// The only advisory of the stand-in database: cargo-deny refuses an empty one.
const STAND_IN: &str = r#"```toml
[advisory]
id = "NONE-2000-0001"
package = "no-such-package"
date = "2000-01-01"

[versions]
patched = []
```

# Stand-in

It affects no package.
"#;

/// Checks for yanked versions, which the index of crates.io lists. cargo-deny does so only together
/// with a database of advisories, so it gets one that affects no package.
fn check_yanked(workspace: &Workspace, program: &Path) -> Result<()> {
    let folder = workspace.target().join("tools").join("no-advisories");
    let database = folder.join("database");
    let advisory = database.join("crates/no-such-package/NONE-2000-0001.md");
    if !advisory.is_file() {
        fs::create_dir_all(advisory.parent().ok_or("the advisory has no folder")?)?;
        fs::write(&advisory, STAND_IN)?;
    }
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(&database).args(args);
        process::capture(&mut git)
    };
    if !database.join(".git").is_dir() {
        git(&["init", "--quiet", "--initial-branch", "main"])?;
        git(&["add", "."])?;
        let author = ["-c", "user.name=xtask", "-c", "user.email=xtask@localhost"];
        git(&[&author[..], &["commit", "--quiet", "--message", "stand-in"]].concat())?;
    }
    let config = folder.join("deny.toml");
    fs::write(&config, yanked_config(&folder.join("clones"))?)?;
    let mut check = cargo_deny(workspace, program);
    check
        .arg("--config")
        .arg(config)
        .args(["check", "advisories"]);
    // Settings of git in the environment hold for this command only.
    check.env("GIT_CONFIG_COUNT", "1");
    let key = format!("url.{}.insteadOf", database.display());
    check.env("GIT_CONFIG_KEY_0", key);
    check.env("GIT_CONFIG_VALUE_0", STAND_IN_URL);
    process::run(&mut check)
}

fn yanked_config(clones: &Path) -> Result<String> {
    let clones = clones.to_str().ok_or("the target folder is not UTF-8")?;
    Ok(format!(
        "[graph]\nall-features = true\n\n[advisories]\ndb-path = {clones:?}\n\
         db-urls = [\"{STAND_IN_URL}\"]\nyanked = \"deny\"\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{not_checked, yanked_config};

    #[test]
    fn outcome_without_database_says_what_was_not_checked() {
        let text = not_checked("cargo-deny fetch db: exit status: 1\nfatal: no such host");
        assert!(
            text.contains("NOT checked: advisories of RustSec"),
            "{text}"
        );
        assert!(text.contains("(fatal: no such host)"), "{text}");
    }

    #[test]
    fn yanked_versions_are_denied_in_the_stand_in_configuration() {
        let config = yanked_config(Path::new("/a b/clones")).unwrap();
        assert!(config.contains("db-path = \"/a b/clones\""), "{config}");
        assert!(config.contains("yanked = \"deny\""), "{config}");
    }
}
