//! The results that the suite writes for a scenario, and the verdict on them.

use std::fmt;

use serde::Deserialize;

use super::claims::Claim;
use crate::result::Result;

/// One entry of a `checks.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Check {
    id: String,
    #[serde(default)]
    name: String,
    /// `SUCCESS`, `FAILURE`, `WARNING`, `SKIPPED` or `INFO`.
    status: String,
    #[serde(default, rename = "errorMessage")]
    message: String,
}

/// A finished run of one scenario.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) checks: Vec<Check>,
    /// A failure outside the checks: of the suite or of the client process.
    pub(super) trouble: Option<String>,
    pub(super) output: String,
}

/// Parses a `checks.json`. Entries that log traffic are skipped.
pub(super) fn parse(json: &str) -> Result<Vec<Check>> {
    let mut checks: Vec<Check> = serde_json::from_str(json)?;
    checks.retain(|check| !check.id.starts_with("incoming") && !check.id.starts_with("outgoing"));
    Ok(checks)
}

/// The verdict on a scenario, which passes if it has no faults.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) successes: usize,
    pub(super) faults: Vec<String>,
    /// Remarks about open checks.
    pub(super) notes: Vec<String>,
}

/// Judges a scenario by its claim: it passes if the minimum number of checks succeeded, and every other
/// check is a success, an information, or open.
pub(super) fn judge(run: &Run, claim: &Claim) -> Verdict {
    let mut faults: Vec<String> = run.trouble.iter().cloned().collect();
    let mut notes = Vec::new();
    for check in &run.checks {
        let is_open = claim.open.iter().any(|open| check.is(open));
        match check.status.as_str() {
            "SUCCESS" if is_open => notes.push(format!("no longer open: {check}")),
            "SUCCESS" | "INFO" => {}
            _ if is_open => notes.push(format!("open: {check}")),
            _ => faults.push(check.to_string()),
        }
    }
    for open in claim.open {
        if !run.checks.iter().any(|check| check.is(open)) {
            notes.push(format!("the suite made no check {open}, which is open"));
        }
    }
    let succeeded = || run.checks.iter().filter(|check| check.status == "SUCCESS");
    let successes = succeeded().count();
    if successes < claim.successes {
        let least = claim.successes;
        faults.push(format!(
            "{successes} checks succeeded; the claim is at least {least}"
        ));
    }
    // This check also succeeds for a program that sent nothing.
    if succeeded().all(|check| check.id == "wire-schema-valid") {
        faults.push("no check of the scenario itself succeeded".to_owned());
    }
    Verdict {
        successes,
        faults,
        notes,
    }
}

impl Check {
    fn is(&self, key: &str) -> bool {
        self.id == key || self.name == key
    }

    /// Returns true if the check makes the suite exit with an error.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "FAILURE" | "WARNING")
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            name,
            status,
            message,
        } = self;
        write!(f, "{status} {id} [{name}] {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, Verdict, judge, parse};
    use crate::conformance::claims::{Claim, Leg, NEWEST};

    fn check(status: &str, id: &str, name: &str) -> String {
        format!(
            r#"{{"id":"{id}","name":"{name}","description":"d","status":"{status}","timestamp":"t",
        "errorMessage":"because","specReferences":[],"details":{{"any":[1]}}}}"#
        )
    }

    fn run(checks: &[String]) -> Run {
        Run {
            checks: parse(&format!("[{}]", checks.join(","))).unwrap(),
            trouble: None,
            output: String::new(),
        }
    }

    fn claim(successes: usize, open: &'static [&'static str]) -> Claim {
        Claim {
            leg: Leg::Server,
            revision: NEWEST.to_owned(),
            scenario: "tools-list".to_owned(),
            successes,
            is_extension: false,
            open,
        }
    }

    fn passes(checks: &[String], claim: &Claim) -> bool {
        judge(&run(checks), claim).faults.is_empty()
    }

    #[test]
    fn successes_are_counted_without_traffic_log() {
        let checks = [
            check("SUCCESS", "a", "A"),
            check("SUCCESS", "a", "A"),
            check("FAILURE", "b", "B"),
            check("SUCCESS", "incoming-request", "I"),
            check("SUCCESS", "outgoing-response", "O"),
        ];
        let Verdict {
            successes, faults, ..
        } = judge(&run(&checks), &claim(2, &[]));
        assert_eq!(
            (successes, faults),
            (2, vec!["FAILURE b [B] because".to_owned()])
        );
    }

    #[test]
    fn claim_with_too_few_successes_fails() {
        let one = [check("SUCCESS", "a", "A")];
        assert!(passes(&one, &claim(1, &[])));
        assert!(!passes(&one, &claim(2, &[])));
        assert!(!passes(&[], &claim(1, &[])));
        let nothing_sent = [check("SUCCESS", "wire-schema-valid", "W")];
        assert!(!passes(&nothing_sent, &claim(1, &[])));
    }

    #[test]
    fn unsuccessful_check_that_is_not_open_fails_claim() {
        let good = check("SUCCESS", "a", "A");
        let info = check("INFO", "b", "B");
        assert!(passes(&[good.clone(), info], &claim(1, &[])));
        for status in ["FAILURE", "WARNING", "SKIPPED", "PASSED"] {
            let open = check(status, "shared", "B2");
            let closed = check(status, "shared", "B3");
            let claim = claim(1, &["B2"]);
            assert!(passes(&[good.clone(), open.clone()], &claim), "{status}");
            assert!(!passes(&[good.clone(), open, closed], &claim), "{status}");
        }
    }

    #[test]
    fn open_check_that_succeeds_or_is_missing_is_a_remark() {
        let verdict = judge(&run(&[check("SUCCESS", "b", "B")]), &claim(1, &["b", "c"]));
        assert!(verdict.faults.is_empty());
        assert_eq!(
            verdict.notes,
            [
                "no longer open: SUCCESS b [B] because",
                "the suite made no check c, which is open"
            ]
        );
    }

    #[test]
    fn failure_outside_the_checks_fails_scenario() {
        let run = Run {
            trouble: Some("CLIENT EXITED WITH ERROR".to_owned()),
            ..run(&[check("SUCCESS", "a", "A")])
        };
        let faults = judge(&run, &claim(1, &[])).faults;
        assert_eq!(faults, ["CLIENT EXITED WITH ERROR"]);
    }

    /// The results of the suite for a server that does not respond.
    #[test]
    fn unreachable_server_fails() {
        let checks = [
            r#"{"id":"tools-list","name":"ToolsList","description":"Server lists tools","status":"FAILURE",
       "timestamp":"2026-11-20T20:10:29.154Z","errorMessage":"Failed: fetch failed",
       "specReferences":[{"id":"MCP-Tools-List","url":"https://modelcontextprotocol.io"}]}"#,
            r#"{"id":"wire-schema-valid","name":"WireSchemaValid","description":"d","status":"SUCCESS",
       "timestamp":"2026-11-20T20:10:29.154Z","specReferences":[],"details":{"messages":0}}"#,
        ];
        let faults = judge(&run(&checks.map(str::to_owned)), &claim(4, &[])).faults;
        assert!(faults[0].contains("Failed: fetch failed"), "{faults:?}");
        assert_eq!(faults[1], "1 checks succeeded; the claim is at least 4");
        assert_eq!(faults[2], "no check of the scenario itself succeeded");
    }
}
