//! The official suite, an npm package: installation and runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::checks::{self, Check, Run};
use super::claims::{Claim, Leg};
use crate::node::Packages;
use crate::process::{self, ChildGuard};
use crate::result::Result;
use crate::workspace::Workspace;

/// A fixed version: a newer suite may have more checks, so an update is a change of its own.
const SUITE: &str = "@modelcontextprotocol/conformance";
const SUITE_VERSION: &str = "0.2.0-alpha.12";

const LIMIT: Duration = Duration::from_secs(90);

/// The start of the output about a client that failed or did not end.
const CLIENT_TROUBLE: &str = "CLIENT ";

/// The installed suite.
#[derive(Debug)]
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
    /// Folder for this run's output.
    pub(super) out: PathBuf,
}

impl Suite {
    /// Installs the suite below the target folder, unless it is installed already.
    ///
    /// # Errors
    ///
    /// Returns an error if npm fails.
    pub(super) fn install(workspace: &Workspace) -> Result<Self> {
        let home = workspace.target().join("conformance");
        let packages = Packages::install(&home, &[(SUITE, SUITE_VERSION)])?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        let out = home.join("out").join(now.as_millis().to_string());
        fs::create_dir_all(&out)?;
        Ok(Self {
            node: packages.node().to_owned(),
            script: packages.file(SUITE, "dist/index.js"),
            out,
        })
    }

    /// Runs a scenario in a process of its own. For clients this is the strict mode of the suite, in which
    /// the exit status of the client counts. `target` is the address of the server or the command of the
    /// client, `label` a name for the output.
    ///
    /// # Errors
    ///
    /// Returns an error if the suite cannot be started or its results cannot be read.
    pub(super) fn run(&self, claim: &Claim, target: &str, label: &str) -> Result<Run> {
        let Claim {
            leg,
            scenario,
            revision,
            ..
        } = claim;
        let folder = format!("{label}-{revision}-{}", scenario.replace('/', "-"));
        let folder = self.out.join(folder);
        fs::create_dir_all(&folder)?;
        let log = folder.join("suite.log");
        let file = fs::File::create(&log)?;
        let option = match leg {
            Leg::Server => "--url",
            Leg::Client => "--command",
        };
        let mut command = Command::new(&self.node);
        command
            .arg(&self.script)
            .args([&leg.to_string(), option, target, "--output-dir"])
            .arg(&folder)
            .args(["--scenario", scenario, "--spec-version", revision])
            .args(claim.is_extension.then_some("--force"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        process::clean_environment(&mut command);
        let exit = process::wait_with_deadline(ChildGuard::spawn(&mut command)?, LIMIT)?;
        let output = fs::read_to_string(log)?;
        let checks = results(&folder)?;
        let succeeded = exit.map(|status| status.success());
        Ok(Run {
            trouble: trouble(succeeded, &output, checks.as_deref()),
            checks: checks.unwrap_or_default(),
            output,
        })
    }
}

/// Returns a failure outside the checks. `succeeded` is the exit status, or `None` after the deadline.
fn trouble(succeeded: Option<bool>, output: &str, checks: Option<&[Check]>) -> Option<String> {
    let Some(succeeded) = succeeded else {
        return Some(format!("the suite was stopped after {LIMIT:?}"));
    };
    let Some(checks) = checks else {
        let lines: Vec<&str> = output.lines().collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n            ");
        return Some(format!("the suite wrote no checks:\n            {last}"));
    };
    if succeeded {
        return None;
    }
    let about_client = output.lines().find(|line| line.contains(CLIENT_TROUBLE));
    match about_client {
        Some(line) => Some(line.trim().to_owned()),
        None if checks.iter().any(Check::has_failed) => None,
        None => Some("no check failed, but the suite ended with an error".to_owned()),
    }
}

/// Reads the `checks.json` somewhere below a folder.
fn results(folder: &Path) -> Result<Option<Vec<Check>>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir()
            && let Some(checks) = results(&path)?
        {
            return Ok(Some(checks));
        }
        if path.ends_with("checks.json") {
            return checks::parse(&fs::read_to_string(path)?).map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::trouble;
    use crate::conformance::checks::{Check, parse};

    fn checks(status: &str) -> Vec<Check> {
        parse(&format!(r#"[{{"id":"a","status":"{status}"}}]"#)).unwrap()
    }

    #[test]
    fn failed_exit_without_failed_check_is_trouble() {
        let client = "checks\n\n⚠️  CLIENT EXITED WITH ERROR (code 1) - Test may be incomplete\n";
        let (good, bad) = (checks("SUCCESS"), checks("FAILURE"));
        assert_eq!(trouble(Some(true), "", Some(&good)), None);
        assert_eq!(trouble(Some(false), "", Some(&bad)), None);
        assert!(trouble(Some(false), "", Some(&good)).is_some());
        for checks in [&good, &bad] {
            let found = trouble(Some(false), client, Some(checks)).unwrap();
            assert!(found.contains("code 1"), "{found}");
        }
        assert!(trouble(None, "", Some(&good)).unwrap().contains("90s"));
    }

    #[test]
    fn missing_checks_are_trouble() {
        let skipped = "SKIPPED: scenario 'a' is not applicable at spec version 2026-07-28";
        assert!(trouble(Some(true), skipped, None).is_some());
        let output = "one\nServer test error: two\n";
        let found = trouble(Some(false), output, None).unwrap();
        assert!(found.contains("Server test error: two"));
    }
}
