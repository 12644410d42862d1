//! The suite's folders, summaries and exits, in the shapes that it prints.

use std::time::Duration;

use super::super::checks::{Check, parse};
use super::{Exit, Leg, Run, scenario_of_folder, scenarios_of, summary};

const STAMP: &str = "2026-11-20T20-10-33-050Z";

#[test]
fn folders_are_named_after_scenarios() {
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
fn a_summary_names_each_scenario_once() {
    let output = "=== SUMMARY ===\n✗ tools-list: 1 passed, 1 failed\n✓ auth/dpop: 0 passed, 0 failed\n\
                  \nTotal: 45 passed, 103 failed\n\nNot scored:\n  ✗ tools-list (extension)\n";
    assert_eq!(
        summary(output).collect::<Vec<_>>(),
        ["tools-list", "auth/dpop"]
    );
}

#[test]
fn a_list_is_read_by_leg() {
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

fn trouble(exit: Exit, is_set: bool, output: &str, checks: Option<Vec<Check>>) -> Option<String> {
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
fn the_exit_counts_where_the_checks_do_not_explain_it() {
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
    // A set ends with the exit of its worst scenario.
    assert_eq!(trouble(failure(), true, "", Some(checks("SUCCESS"))), None);
    let late = Exit::Deadline(Duration::from_secs(9));
    assert!(
        trouble(late, true, "", Some(checks("SUCCESS")))
            .unwrap()
            .contains("9s")
    );
}

#[test]
fn no_checks_are_trouble_unless_the_scenario_does_not_apply() {
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
