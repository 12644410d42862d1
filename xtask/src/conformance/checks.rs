//! The results that the suite writes for a scenario, and the verdict on them.

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

/// Parses a `checks.json`. Entries that log traffic are skipped.
pub(crate) fn parse(json: &str) -> Result<Vec<Check>> {
    let mut checks: Vec<Check> = serde_json::from_str(json)?;
    checks.retain(|check| !check.id.starts_with("incoming") && !check.id.starts_with("outgoing"));
    Ok(checks)
}

/// The results of one scenario in a run.
#[derive(Debug)]
pub(crate) struct ScenarioResult {
    /// `None` if the suite wrote no checks.
    pub(crate) checks: Option<Vec<Check>>,
    /// A failure outside the checks: of the suite or of the client process.
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

/// The number of checks with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    success: usize,
    failure: usize,
    warning: usize,
    skipped: usize,
    info: usize,
}

impl Tally {
    fn new(checks: &[Check]) -> Self {
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

/// Judges a scenario by its claim, or without a claim by the rules of the suite.
///
/// A scenario without a success does not pass. A claimed scenario passes if the minimum number of
/// checks succeeded and every other check is a success, an information, or open.
pub(crate) fn judge(scenario: &ScenarioResult, claim: Option<&Claim>) -> Verdict {
    let checks = scenario.checks.as_deref().unwrap_or_default();
    let tally = Tally::new(checks);
    let mut faults: Vec<String> = scenario.trouble.iter().cloned().collect();
    let mut notes = Vec::new();
    for check in checks {
        let open = claim.and_then(|claim| claim.open.iter().find(|open| check.is(open.check)));
        match (check.status, open) {
            (Status::Success, Some(open)) => {
                notes.push(format!(
                    "succeeds now, remove it from the open checks of the claim: {}",
                    open.check
                ));
            }
            (Status::Success | Status::Info, _) => {}
            (_, Some(open)) => notes.push(format!("open: {} ({})", open.check, open.reason)),
            // A skipped check fails a claim. Without a claim it is a remark.
            (Status::Skipped, None) if claim.is_none() => notes.push(check.to_string()),
            (_, None) => faults.push(check.to_string()),
        }
    }
    for open in claim.map(|claim| claim.open).unwrap_or_default() {
        if !checks.is_empty() && !checks.iter().any(|check| check.is(open.check)) {
            notes.push(format!(
                "the suite made no check {}, which the claim lists as open",
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
    } else if checks.iter().any(Check::is_meaningful_success) {
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

    /// Returns true for a success of the scenario itself. `wire-schema-valid` also succeeds for a
    /// program that sent nothing.
    fn is_meaningful_success(&self) -> bool {
        self.status == Status::Success && self.id != "wire-schema-valid"
    }

    /// Returns true if the check makes the suite exit with an error.
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
mod tests {
    use super::{Outcome, ScenarioResult, Tally, Verdict, judge, parse};
    use crate::conformance::claims::{Claim, Leg, Open};

    fn check(status: &str, id: &str, name: &str) -> String {
        format!(
            r#"{{"id":"{id}","name":"{name}","description":"d","status":"{status}","timestamp":"t",
        "errorMessage":"because","specReferences":[],"details":{{"any":[1]}}}}"#
        )
    }

    fn scenario(checks: &[String]) -> ScenarioResult {
        let checks = parse(&format!("[{}]", checks.join(","))).unwrap();
        ScenarioResult {
            checks: Some(checks),
            trouble: None,
        }
    }

    fn claim(successes: usize, open: &'static [Open]) -> Claim {
        Claim {
            leg: Leg::Server,
            revision: "2026-07-28",
            scenario: "tools-list",
            successes,
            is_extension: false,
            open,
        }
    }

    fn outcome(checks: &[String], claim: Option<&Claim>) -> Outcome {
        judge(&scenario(checks), claim).outcome
    }

    #[test]
    fn tally_counts_by_status_without_traffic_log() {
        let Verdict { tally, .. } = judge(
            &scenario(&[
                check("SUCCESS", "a", "A"),
                check("SUCCESS", "a", "A"),
                check("FAILURE", "b", "B"),
                check("WARNING", "c", "C"),
                check("SKIPPED", "d", "D"),
                check("INFO", "e", "E"),
                check("INFO", "incoming-request", "I"),
                check("INFO", "outgoing-response", "O"),
            ]),
            None,
        );
        assert_eq!(
            tally,
            Tally {
                success: 2,
                failure: 1,
                warning: 1,
                skipped: 1,
                info: 1
            }
        );
        assert!(
            parse(r#"[{"id":"a","status":"PASSED"}]"#).is_err(),
            "an unknown status is not a success"
        );
    }

    #[test]
    fn unclaimed_scenario_passes_by_rules_of_the_suite() {
        let good = check("SUCCESS", "a", "A");
        assert_eq!(
            outcome(&[good.clone(), check("SKIPPED", "b", "B")], None),
            Outcome::Passed
        );
        assert_eq!(
            outcome(&[good.clone(), check("INFO", "b", "B")], None),
            Outcome::Passed
        );
        assert_eq!(
            outcome(&[good.clone(), check("WARNING", "b", "B")], None),
            Outcome::Failed
        );
        assert_eq!(
            outcome(&[good, check("FAILURE", "b", "B")], None),
            Outcome::Failed
        );
        assert_eq!(
            outcome(&[check("SKIPPED", "b", "B")], None),
            Outcome::Skipped
        );
        assert_eq!(
            outcome(&[check("SUCCESS", "wire-schema-valid", "W")], None),
            Outcome::Skipped
        );
        assert_eq!(outcome(&[], None), Outcome::Skipped);
    }

    #[test]
    fn claim_with_too_few_successes_fails() {
        let one = [check("SUCCESS", "a", "A")];
        assert_eq!(outcome(&one, Some(&claim(1, &[]))), Outcome::Passed);
        assert_eq!(outcome(&one, Some(&claim(2, &[]))), Outcome::Failed);
        assert_eq!(outcome(&[], Some(&claim(1, &[]))), Outcome::Failed);
    }

    #[test]
    fn unsuccessful_check_that_is_not_open_fails_claim() {
        const OPEN: &[Open] = &[Open {
            check: "B2",
            reason: "later",
        }];
        let good = check("SUCCESS", "a", "A");
        for status in ["FAILURE", "WARNING", "SKIPPED"] {
            let open = check(status, "shared", "B2");
            let closed = check(status, "shared", "B3");
            let claim = claim(1, OPEN);
            assert_eq!(
                outcome(&[good.clone(), open.clone()], Some(&claim)),
                Outcome::Passed,
                "{status}"
            );
            assert_eq!(
                outcome(&[good.clone(), open, closed], Some(&claim)),
                Outcome::Failed,
                "{status}"
            );
        }
    }

    #[test]
    fn open_check_that_succeeds_or_is_missing_is_a_remark() {
        const OPEN: &[Open] = &[
            Open {
                check: "b",
                reason: "later",
            },
            Open {
                check: "c",
                reason: "later",
            },
        ];
        let verdict = judge(
            &scenario(&[check("SUCCESS", "b", "B")]),
            Some(&claim(1, OPEN)),
        );
        assert_eq!(verdict.outcome, Outcome::Passed);
        assert!(
            verdict.remarks[0].contains("succeeds now"),
            "{:?}",
            verdict.remarks
        );
        assert!(
            verdict.remarks[1].contains("made no check c"),
            "{:?}",
            verdict.remarks
        );
    }

    #[test]
    fn failure_outside_the_checks_fails_scenario() {
        let mut scenario = scenario(&[check("SUCCESS", "a", "A")]);
        scenario.trouble = Some("CLIENT EXITED WITH ERROR".to_owned());
        assert_eq!(judge(&scenario, None).outcome, Outcome::Failed);
        assert_eq!(
            judge(&scenario, Some(&claim(1, &[]))).outcome,
            Outcome::Failed
        );
    }

    /// The results of the suite for a server that does not respond.
    #[test]
    fn unreachable_server_fails() {
        let json = r#"[
      {"id":"tools-list","name":"ToolsList","description":"Server lists tools","status":"FAILURE",
       "timestamp":"2026-11-20T20:10:29.154Z","errorMessage":"Failed: fetch failed",
       "specReferences":[{"id":"MCP-Tools-List","url":"https://modelcontextprotocol.io"}]},
      {"id":"wire-schema-valid","name":"WireSchemaValid","description":"d","status":"SUCCESS",
       "timestamp":"2026-11-20T20:10:29.154Z","specReferences":[],"details":{"messages":0}}]"#;
        let scenario = ScenarioResult {
            checks: Some(parse(json).unwrap()),
            trouble: None,
        };
        let verdict = judge(&scenario, Some(&claim(4, &[])));
        assert_eq!(verdict.outcome, Outcome::Failed);
        assert!(
            verdict
                .remarks
                .iter()
                .any(|remark| remark.contains("Failed: fetch failed"))
        );
        assert!(
            verdict
                .remarks
                .iter()
                .any(|remark| remark.contains("1 checks succeeded; the claim is at least 4"))
        );
    }
}
