//! Verdicts on hand-made checks, in the shapes that the suite writes.

use super::super::claims::{Claim, Leg, Open};
use super::{Outcome, Scenario, Tally, Verdict, judge, parse};

fn check(status: &str, id: &str, name: &str) -> String {
    format!(
        r#"{{"id":"{id}","name":"{name}","description":"d","status":"{status}","timestamp":"t",
        "errorMessage":"because","specReferences":[],"details":{{"any":[1]}}}}"#
    )
}

fn scenario(checks: &[String]) -> Scenario {
    let checks = parse(&format!("[{}]", checks.join(","))).unwrap();
    Scenario {
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
        open,
    }
}

fn outcome(checks: &[String], claim: Option<&Claim>) -> Outcome {
    judge(&scenario(checks), claim).outcome
}

#[test]
fn counts_by_status_and_leaves_out_the_traffic_log() {
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
        "an unknown status is no success"
    );
}

#[test]
fn without_a_claim_the_suite_decides_but_nothing_passes_empty() {
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
fn a_claim_needs_its_number_of_successes() {
    let one = [check("SUCCESS", "a", "A")];
    assert_eq!(outcome(&one, Some(&claim(1, &[]))), Outcome::Passed);
    assert_eq!(outcome(&one, Some(&claim(2, &[]))), Outcome::Failed);
    assert_eq!(outcome(&[], Some(&claim(1, &[]))), Outcome::Failed);
}

#[test]
fn a_claim_allows_only_its_open_checks_not_to_succeed() {
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
fn an_open_check_that_succeeds_or_is_gone_is_reported() {
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
fn trouble_beside_the_checks_fails_the_scenario() {
    let mut scenario = scenario(&[check("SUCCESS", "a", "A")]);
    scenario.trouble = Some("CLIENT EXITED WITH ERROR".to_owned());
    assert_eq!(judge(&scenario, None).outcome, Outcome::Failed);
    assert_eq!(
        judge(&scenario, Some(&claim(1, &[]))).outcome,
        Outcome::Failed
    );
}

/// What the suite writes about a server that is not there.
#[test]
fn a_dead_server_passes_nothing() {
    let json = r#"[
      {"id":"tools-list","name":"ToolsList","description":"Server lists tools","status":"FAILURE",
       "timestamp":"2026-11-20T20:10:29.154Z","errorMessage":"Failed: fetch failed",
       "specReferences":[{"id":"MCP-Tools-List","url":"https://modelcontextprotocol.io"}]},
      {"id":"wire-schema-valid","name":"WireSchemaValid","description":"d","status":"SUCCESS",
       "timestamp":"2026-11-20T20:10:29.154Z","specReferences":[],"details":{"messages":0}}]"#;
    let scenario = Scenario {
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
