//! What the suite wrote about a scenario, and the verdict on it.

use std::fmt;

use serde::Deserialize;

use super::claims::Claim;
use crate::Result;

/// One entry of a `checks.json`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Check {
    id: String,
    #[serde(default)]
    name: String,
    status: Status,
    #[serde(default, rename = "errorMessage")]
    message: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// Reads a `checks.json`, without the entries that only log the traffic.
pub(crate) fn parse(json: &str) -> Result<Vec<Check>> {
    let mut checks: Vec<Check> = serde_json::from_str(json)?;
    checks.retain(|check| !check.id.starts_with("incoming") && !check.id.starts_with("outgoing"));
    Ok(checks)
}

/// What is known about one scenario of a run.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// None when the suite wrote no checks.
    pub(crate) checks: Option<Vec<Check>>,
    /// What went wrong beside the checks: the suite's or the client's exit.
    pub(crate) trouble: Option<String>,
}

/// The verdict on a scenario.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    pub(crate) tally: Tally,
    pub(crate) remarks: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        })
    }
}

/// How many checks ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    success: usize,
    failure: usize,
    warning: usize,
    skipped: usize,
    info: usize,
}

impl Tally {
    fn of(checks: &[Check]) -> Self {
        let mut tally = Self::default();
        for check in checks {
            *match check.status {
                Status::Success => &mut tally.success,
                Status::Failure => &mut tally.failure,
                Status::Warning => &mut tally.warning,
                Status::Skipped => &mut tally.skipped,
                Status::Info => &mut tally.info,
            } += 1;
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            success,
            failure,
            warning,
            skipped,
            info,
        } = self;
        write!(
            f,
            "{success} SUCCESS {failure} FAILURE {warning} WARNING {skipped} SKIPPED {info} INFO"
        )
    }
}

/// Decides on a scenario: by its claim, or without one by what the suite itself demands.
///
/// Nothing passes without a success. What is claimed passes when the least number of checks
/// succeeded and every other check succeeded, informs, or is open.
pub(crate) fn judge(scenario: &Scenario, claim: Option<&Claim>) -> Verdict {
    let checks = scenario.checks.as_deref().unwrap_or_default();
    let tally = Tally::of(checks);
    let mut faults: Vec<String> = scenario.trouble.iter().cloned().collect();
    let mut notes = Vec::new();
    for check in checks {
        let open = claim.and_then(|claim| claim.open.iter().find(|open| check.is(open.check)));
        match (check.status, open) {
            (Status::Success, Some(open)) => {
                notes.push(format!(
                    "succeeds now, take it out of the claim's open checks: {}",
                    open.check
                ));
            }
            (Status::Success | Status::Info, _) => {}
            (_, Some(open)) => notes.push(format!("open: {} ({})", open.check, open.reason)),
            // A check that could not be made breaks a claim, and is no one's fault without one.
            (Status::Skipped, None) if claim.is_none() => notes.push(check.to_string()),
            (_, None) => faults.push(check.to_string()),
        }
    }
    for open in claim.map(|claim| claim.open).unwrap_or_default() {
        if !checks.is_empty() && !checks.iter().any(|check| check.is(open.check)) {
            notes.push(format!(
                "the suite made no check {}, which the claim calls open",
                open.check
            ));
        }
    }
    if let Some(claim) = claim
        && tally.success < claim.successes
    {
        let Tally { success, .. } = tally;
        faults.push(format!(
            "{success} checks succeeded; the claim is at least {}",
            claim.successes
        ));
    }
    let outcome = if !faults.is_empty() {
        Outcome::Failed
    } else if checks.iter().any(Check::says_something) {
        Outcome::Passed
    } else {
        Outcome::Skipped
    };
    faults.append(&mut notes);
    Verdict {
        outcome,
        tally,
        remarks: faults,
    }
}

impl Check {
    fn is(&self, key: &str) -> bool {
        self.id == key || self.name == key
    }

    /// Whether it is a success of the scenario's own: that nothing invalid was sent is also true
    /// of a program that sent nothing.
    fn says_something(&self) -> bool {
        self.status == Status::Success && self.id != "wire-schema-valid"
    }

    /// Whether the check is one that makes the suite itself exit with an error.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.status, Status::Failure | Status::Warning)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            Status::Success => "SUCCESS",
            Status::Failure => "FAILURE",
            Status::Warning => "WARNING",
            Status::Skipped => "SKIPPED",
            Status::Info => "INFO",
        };
        write!(f, "{status} {} [{}] {}", self.id, self.name, self.message)
    }
}

#[cfg(test)]
mod tests;
