//! The official suite: installing it with a Node that can run it, and running it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::checks::{self, Check, Scenario};
use super::claims::Leg;
use crate::Result;
use crate::node::Packages;
use crate::process::{self, Guard};
use crate::workspace::Workspace;

/// Pinned: a newer suite may check more, so it is adopted on purpose.
const SUITE: &str = "@modelcontextprotocol/conformance";
const SUITE_VERSION: &str = "0.2.0-alpha.12";

const SCENARIO_LIMIT: Duration = Duration::from_secs(90);
const SET_LIMIT: Duration = Duration::from_secs(600);

/// What the suite prints when a scenario does not exist at a revision.
const NOT_APPLICABLE: &str = "SKIPPED: scenario";
/// What it prints before the reason when the client ended badly or not at all.
const CLIENT_TROUBLE: &str = "CLIENT ";

/// The installed suite.
#[derive(Debug)]
pub(crate) struct Suite {
    node: PathBuf,
    script: PathBuf,
    /// Where this run of the tool puts what the suite writes.
    out: PathBuf,
    runs: Cell<usize>,
}

/// What the suite is asked to run.
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
    /// Installs what is missing below the target folder.
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

    /// The folder with everything that was written in this run.
    pub(crate) fn out(&self) -> &Path {
        &self.out
    }

    /// Those of `legs` in which the suite has the scenario.
    pub(crate) fn legs_of(&self, scenario: &str, legs: &[Leg]) -> Result<Vec<Leg>> {
        let listed = process::capture(self.command().arg("list"))?;
        let has = |leg: &Leg| scenarios_of(&listed, *leg).any(|name| name == scenario);
        let found: Vec<Leg> = legs.iter().copied().filter(has).collect();
        if found.is_empty() {
            return Err(format!("the suite has no such scenario `{scenario}`:\n{listed}").into());
        }
        Ok(found)
    }

    /// Runs the suite to its end. `target` is the server's address or the client's command.
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
        let exit = match process::wait_with_deadline(Guard::spawn(&mut command)?, limit)? {
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
    /// Whether it was a set, whose exit status is that of its worst scenario.
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
    /// All that the suite printed.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// The scenarios of the summary at the end of a set.
    pub(crate) fn scenario_names(&self) -> Vec<String> {
        summary(&self.output).map(str::to_owned).collect()
    }

    /// What is known about one scenario.
    pub(crate) fn scenario(&self, name: &str) -> Scenario {
        let checks = self.results.iter().find(|(found, _)| found == name);
        let checks = checks.map(|(_, checks)| checks.clone());
        let trouble = self.trouble(checks.as_deref());
        Scenario { checks, trouble }
    }

    /// What went wrong beside the checks.
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

/// Makes a new folder below `parent`, named by the time.
fn fresh_folder(parent: &Path) -> Result<PathBuf> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let folder = parent.join(now.as_millis().to_string());
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Every `checks.json` below a folder with the name of its scenario.
fn results(folder: &Path, leg: Leg) -> Result<Vec<(String, Vec<Check>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("checks.json") {
                let place = next
                    .strip_prefix(folder)?
                    .to_string_lossy()
                    .replace('\\', "/");
                let name = scenario_of_folder(&place, leg)
                    .ok_or_else(|| format!("unexpected results folder {place}"))?;
                found.push((name.to_owned(), checks::parse(&fs::read_to_string(path)?)?));
            }
        }
    }
    Ok(found)
}

/// `server-tools-list-2026-11-20T20-10-32-669Z` → `tools-list`; a client's has no prefix.
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
mod tests;
