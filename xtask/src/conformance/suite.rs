//! The official suite, an npm package: installation and runs.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::checks::{self, Check, ScenarioResult};
use super::claims::Leg;
use crate::Result;
use crate::node::Packages;
use crate::process::{self, ChildGuard};
use crate::workspace::Workspace;

/// A fixed version: a newer suite may have more checks, so an update is a change of its own.
const SUITE: &str = "@modelcontextprotocol/conformance";
const SUITE_VERSION: &str = "0.2.0-alpha.12";

const SCENARIO_LIMIT: Duration = Duration::from_secs(90);
const SET_LIMIT: Duration = Duration::from_secs(600);

/// The output for a scenario that does not exist at a revision.
const NOT_APPLICABLE: &str = "SKIPPED: scenario";
/// The start of the output about a client that failed or did not end.
const CLIENT_TROUBLE: &str = "CLIENT ";

/// The installed suite.
#[derive(Debug)]
pub(crate) struct Suite {
    node: PathBuf,
    script: PathBuf,
    /// Folder for this run's output.
    out: PathBuf,
    runs: Cell<usize>,
}

/// The scenarios in one run of the suite.
#[derive(Debug)]
pub(crate) enum Selection<'a> {
    Requirements {
        revision: &'a str,
    },
    Scenario {
        name: &'a str,
        revision: &'a str,
        force: bool,
    },
}

impl Suite {
    /// Installs the suite below the target folder, unless it is installed already.
    ///
    /// # Errors
    ///
    /// Returns an error if npm fails.
    pub(crate) fn install(workspace: &Workspace) -> Result<Self> {
        let home = workspace.target().join("conformance");
        let packages = Packages::install(&home, &[(SUITE, SUITE_VERSION)])?;
        let script = packages.file(SUITE, "dist/index.js");
        let out = fresh_folder(&home.join("out"))?;
        Ok(Self {
            node: packages.node().to_owned(),
            script,
            out,
            runs: Cell::new(0),
        })
    }

    /// The folder with the output of this run.
    pub(crate) fn out(&self) -> &Path {
        &self.out
    }

    /// Returns those of `legs` in which the suite has the scenario.
    ///
    /// # Errors
    ///
    /// Returns an error if none has it.
    pub(crate) fn legs_of(&self, scenario: &str, legs: &[Leg]) -> Result<Vec<Leg>> {
        let listed = process::capture(self.command().arg("list"))?;
        let has = |leg: &Leg| scenarios_of(&listed, *leg).any(|name| name == scenario);
        let found: Vec<Leg> = legs.iter().copied().filter(has).collect();
        if found.is_empty() {
            return Err(
                format!("the suite has no scenario `{scenario}`; it has:\n{listed}").into(),
            );
        }
        Ok(found)
    }

    /// Runs the suite to its end. `target` is the address of the server or the command of the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the suite cannot be started or its results cannot be read.
    pub(crate) fn run(&self, leg: Leg, target: &str, selection: &Selection<'_>) -> Result<Run> {
        let (label, limit) = match selection {
            Selection::Requirements { revision } => (*revision, SET_LIMIT),
            Selection::Scenario { name, .. } => (*name, SCENARIO_LIMIT),
        };
        let number = self.runs.replace(self.runs.get() + 1);
        let folder = self
            .out
            .join(format!("{number:02}-{leg}-{}", label.replace('/', "-")));
        fs::create_dir_all(&folder)?;
        let log = folder.join("suite.log");
        let file = fs::File::create(&log)?;

        let mut command = self.command();
        let option = match leg {
            Leg::Server => "--url",
            Leg::Client => "--command",
        };
        command
            .args([&leg.to_string(), option, target, "--output-dir"])
            .arg(&folder);
        match selection {
            Selection::Requirements { revision } => {
                command.args(["--requirements", revision]);
            }
            Selection::Scenario {
                name,
                revision,
                force,
            } => {
                command.args(["--scenario", name, "--spec-version", revision]);
                command.args(force.then_some("--force"));
            }
        }
        command.stdout(file.try_clone()?).stderr(file);
        let exit = match process::wait_with_deadline(ChildGuard::spawn(&mut command)?, limit)? {
            Some(status) if status.success() => Exit::Success,
            Some(status) => Exit::Failure(status.to_string()),
            None => Exit::Deadline(limit),
        };
        let is_set = matches!(selection, Selection::Requirements { .. });
        Ok(Run {
            is_set,
            exit,
            output: fs::read_to_string(log)?,
            results: results(&folder, leg)?,
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command
            .arg(&self.script)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        process::clean_environment(&mut command);
        command
    }
}

/// A finished run of the suite.
#[derive(Debug)]
pub(crate) struct Run {
    /// The run has several scenarios; its exit status is that of the worst one.
    is_set: bool,
    exit: Exit,
    output: String,
    results: Vec<(String, Vec<Check>)>,
}

#[derive(Debug)]
enum Exit {
    Success,
    Failure(String),
    Deadline(Duration),
}

impl Run {
    /// The output of the suite.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// The scenarios in the summary, if the run had several.
    pub(crate) fn scenario_names(&self) -> Vec<String> {
        summary(&self.output).map(str::to_owned).collect()
    }

    /// Returns the results of one scenario.
    pub(crate) fn scenario(&self, name: &str) -> ScenarioResult {
        let checks = self.results.iter().find(|(found, _)| found == name);
        let checks = checks.map(|(_, checks)| checks.clone());
        let trouble = self.trouble(checks.as_deref());
        ScenarioResult { checks, trouble }
    }

    /// A failure outside the checks.
    fn trouble(&self, checks: Option<&[Check]>) -> Option<String> {
        let Exit::Failure(status) = &self.exit else {
            return match self.exit {
                Exit::Deadline(limit) => Some(format!("the suite was stopped after {limit:?}")),
                _ if checks.is_some() || self.output.contains(NOT_APPLICABLE) => None,
                _ => Some(format!(
                    "the suite wrote no checks:\n{}",
                    tail(&self.output)
                )),
            };
        };
        let Some(checks) = checks else {
            return Some(format!(
                "the suite wrote no checks:\n{}",
                tail(&self.output)
            ));
        };
        let about_client = self
            .output
            .lines()
            .find(|line| line.contains(CLIENT_TROUBLE));
        match about_client {
            _ if self.is_set => None,
            Some(line) => Some(line.trim().to_owned()),
            None if checks.iter().any(Check::has_failed) => None,
            None => Some(format!(
                "no check failed, but the suite ended with {status}"
            )),
        }
    }
}

/// Creates a folder below `parent`, named by the time.
fn fresh_folder(parent: &Path) -> Result<PathBuf> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let folder = parent.join(now.as_millis().to_string());
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Reads every `checks.json` below a folder. Returns them with the names of their scenarios.
fn results(folder: &Path, leg: Leg) -> Result<Vec<(String, Vec<Check>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("checks.json") {
                let relative = next
                    .strip_prefix(folder)?
                    .to_string_lossy()
                    .replace('\\', "/");
                let name = scenario_of_folder(&relative, leg)
                    .ok_or_else(|| format!("unexpected results folder {relative}"))?;
                found.push((name.to_owned(), checks::parse(&fs::read_to_string(path)?)?));
            }
        }
    }
    Ok(found)
}

/// Returns `tools-list` for `server-tools-list-2026-11-20T20-10-32-669Z`. Folders of clients have no
/// prefix.
fn scenario_of_folder(folder: &str, leg: Leg) -> Option<&str> {
    const STAMP: &str = "-2026-11-20T20-10-32-669Z";
    let name = folder.get(..folder.len().checked_sub(STAMP.len())?)?;
    match leg {
        Leg::Server => name.strip_prefix("server-"),
        Leg::Client => Some(name),
    }
}

/// The scenario names in the lines `✓ tools-list: 4 passed, 0 failed` of a set's summary.
fn summary(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let rest = line.strip_prefix('✓').or_else(|| line.strip_prefix('✗'))?;
        let (name, counts) = rest.trim_start().split_once(": ")?;
        counts.contains(" passed, ").then_some(name)
    })
}

/// The names that `list` prints below the heading of a leg.
fn scenarios_of(list: &str, leg: Leg) -> impl Iterator<Item = &str> {
    let heading = match leg {
        Leg::Server => "Server scenarios",
        Leg::Client => "Client scenarios",
    };
    let lines = list
        .lines()
        .skip_while(move |line| !line.starts_with(heading))
        .skip(1);
    let entries = lines
        .map(str::trim)
        .take_while(|line| line.starts_with("- "));
    entries.filter_map(|line| line.strip_prefix("- ")?.split_whitespace().next())
}

/// The last lines of an output, indented.
fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(8)..];
    last.iter()
        .map(|line| format!("            {line}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Exit, Leg, Run, scenario_of_folder, scenarios_of, summary};
    use crate::conformance::checks::{Check, parse};

    const STAMP: &str = "2026-11-20T20-10-33-050Z";

    #[test]
    fn scenario_is_read_from_folder_name() {
        let folder = |name: &str| format!("{name}-{STAMP}");
        let server = folder("server-server-stateless");
        assert_eq!(
            scenario_of_folder(&server, Leg::Server),
            Some("server-stateless")
        );
        let client = folder("auth/iss-wrong-issuer");
        assert_eq!(
            scenario_of_folder(&client, Leg::Client),
            Some("auth/iss-wrong-issuer")
        );
        assert_eq!(scenario_of_folder(&folder("tools_call"), Leg::Server), None);
        assert_eq!(scenario_of_folder("short", Leg::Client), None);
    }

    #[test]
    fn summary_lists_each_scenario_once() {
        let output = "=== SUMMARY ===\n✗ tools-list: 1 passed, 1 failed\n✓ auth/dpop: 0 passed, 0 failed\n\
                  \nTotal: 45 passed, 103 failed\n\nNot scored:\n  ✗ tools-list (extension)\n";
        assert_eq!(
            summary(output).collect::<Vec<_>>(),
            ["tools-list", "auth/dpop"]
        );
    }

    #[test]
    fn scenario_list_is_split_by_leg() {
        let list = "Server scenarios (test against a server):\n  - ping [2025-06-18,2025-11-25]\n  \
                - tools-list [2026-07-28]\n\nClient scenarios (test against a client):\n  \
                - tools_call [2026-07-28]\n\nAuthorization server scenarios:\n  - grant\n";
        assert_eq!(
            scenarios_of(list, Leg::Server).collect::<Vec<_>>(),
            ["ping", "tools-list"]
        );
        assert_eq!(
            scenarios_of(list, Leg::Client).collect::<Vec<_>>(),
            ["tools_call"]
        );
    }

    fn checks(status: &str) -> Vec<Check> {
        parse(&format!(r#"[{{"id":"a","status":"{status}"}}]"#)).unwrap()
    }

    fn trouble(
        exit: Exit,
        is_set: bool,
        output: &str,
        checks: Option<Vec<Check>>,
    ) -> Option<String> {
        let results = checks
            .map(|checks| ("a".to_owned(), checks))
            .into_iter()
            .collect();
        Run {
            is_set,
            exit,
            output: output.to_owned(),
            results,
        }
        .scenario("a")
        .trouble
    }

    #[test]
    fn failed_exit_without_failed_check_is_trouble() {
        let failure = || Exit::Failure("exit status: 1".to_owned());
        let client = "checks\n\n⚠️  CLIENT EXITED WITH ERROR (code 1) - Test may be incomplete\n";
        assert_eq!(
            trouble(Exit::Success, false, "", Some(checks("SUCCESS"))),
            None
        );
        assert_eq!(trouble(failure(), false, "", Some(checks("FAILURE"))), None);
        assert!(trouble(failure(), false, "", Some(checks("SUCCESS"))).is_some());
        assert!(
            trouble(failure(), false, client, Some(checks("SUCCESS")))
                .unwrap()
                .contains("code 1")
        );
        assert!(
            trouble(failure(), false, client, Some(checks("FAILURE")))
                .unwrap()
                .contains("code 1")
        );
        // A run with several scenarios has the exit status of the worst one.
        assert_eq!(trouble(failure(), true, "", Some(checks("SUCCESS"))), None);
        let late = Exit::Deadline(Duration::from_secs(9));
        assert!(
            trouble(late, true, "", Some(checks("SUCCESS")))
                .unwrap()
                .contains("9s")
        );
    }

    #[test]
    fn missing_checks_are_trouble_unless_scenario_does_not_apply() {
        let skipped = "SKIPPED: scenario 'a' is not applicable at spec version 2026-07-28";
        assert_eq!(trouble(Exit::Success, false, skipped, None), None);
        assert!(trouble(Exit::Success, false, "", None).is_some());
        let output = "one\nServer test error: two\n";
        let found = trouble(
            Exit::Failure("exit status: 1".to_owned()),
            false,
            output,
            None,
        )
        .unwrap();
        assert!(found.contains("Server test error: two"));
    }
}
