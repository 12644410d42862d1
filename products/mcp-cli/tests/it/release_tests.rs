//! `mcp test` against servers with one defect each, and without one.

use std::fs;

use mcp::prelude::*;
use serde_json::Value;

use crate::kit::{Run, example, folder, mcp, on_thread};

/// Tests the program with a defect.
fn tested(defect: &str, flags: &[&str]) -> Run {
    let lock = folder("release-tests").join(format!("{defect}.lock"));
    let words = ["test", "--json", "--quiet"];
    let program = example("faulty");
    let command = ["--", &program, defect, lock.to_str().unwrap()];
    // A later flag would be a second value.
    let limit = if flags.contains(&"--timeout=2") {
        &[][..]
    } else {
        &["--timeout=3"][..]
    };
    mcp(&[&words, flags, limit, &command].concat())
}

fn rules(run: &Run) -> Vec<String> {
    let document = run.json();
    let findings = document["findings"].as_array().unwrap();
    for found in findings {
        for member in ["where", "what", "repair", "confidence"] {
            let text = found[member].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{member}: {found}");
        }
    }
    let rules = findings.iter().map(|found| found["rule"].as_str());
    rules.map(|rule| rule.unwrap().to_owned()).collect()
}

fn check(run: &Run, name: &str) -> Value {
    let document = run.json();
    let mut checks = document["checks"].as_array().unwrap().iter();
    checks.find(|check| check["check"] == name).unwrap().clone()
}

#[test]
fn server_without_a_defect_passes() {
    let run = tested("none", &[]);
    assert_eq!((run.code, &*run.err), (0, ""), "{run:?}");
    assert_eq!(rules(&run), [""; 0], "{run:?}");
    for name in [
        "connection",
        "schemas",
        "examples",
        "arguments",
        "cancellation",
        "sessions",
    ] {
        assert_eq!(check(&run, name)["state"], "ok", "{run:?}");
    }
    if cfg!(target_os = "linux") {
        let memory = check(&run, "memory");
        assert_eq!(memory["state"], "ok", "{run:?}");
        assert!(memory["detail"].as_str().unwrap().starts_with("1000 calls"));
    }
}

#[test]
fn each_defect_is_found() {
    for (defect, code) in [
        ("crash", 1),
        ("hang", 1),
        ("internal-error", 1),
        ("malformed", 1),
        ("accepted", 1),
        ("unknown-tool", 1),
        ("output-schema", 1),
        ("dropped-content", 0),
        ("invalid", 1),
        ("cancel", 1),
        ("sessions", 1),
        ("protocol-error", 0),
        ("refused-example", 0),
        ("unnamed-argument", 0),
        ("empty-error", 0),
        ("stack-trace", 0),
        ("long-error", 0),
        ("client", 0),
        ("no-description", 0),
        ("no-example", 0),
    ] {
        let run = tested(defect, &["--calls", "20"]);
        assert_eq!(run.code, code, "{defect}: {run:?}");
        assert!(
            rules(&run).iter().any(|rule| rule == defect),
            "{defect}: {run:?}"
        );
        if code == 1 {
            assert_eq!(run.json_error()["kind"], "findings", "{defect}");
        }
    }
}

// spec: TOOL-16
#[test]
fn defects_in_older_revisions_are_found() {
    for (defect, rule, expected) in [
        (
            "old-output-schema",
            "output-schema",
            "the result breaks the output schema",
        ),
        ("old-array", "invalid", "its root has no"),
        ("old-invalid", "invalid", "whole"),
    ] {
        let run = tested(defect, &["--calls", "20"]);
        assert_eq!(run.code, 1, "{defect}: {run:?}");
        let document = run.json();
        let findings = document["findings"].as_array().unwrap();
        let found = |version: &str| {
            let place = format!("tool `add`, revision {version}");
            findings.iter().any(|found| {
                let (place_of, what) = (&found["where"], &found["what"]);
                found["rule"] == rule
                    && place_of.as_str().unwrap().starts_with(&place)
                    && what.as_str().unwrap().contains(expected)
            })
        };
        assert!(found("2025-06-18"), "{defect}: {run:?}");
        assert!(!found("2025-11-25"), "{defect}: {run:?}");
        let detail = check(&run, "revisions")["detail"].to_string();
        assert!(
            detail.contains("2025-06-18, 2025-03-26, 2024-11-05"),
            "{detail}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn growing_memory_is_found() {
    let run = tested("memory", &[]);
    assert_eq!(rules(&run), ["memory"], "{run:?}");
    assert_eq!(run.code, 1, "{run:?}");
}

#[test]
fn memory_for_a_full_cache_is_not_a_finding() {
    let run = tested("cache", &[]);
    assert_eq!(rules(&run), [""; 0], "{run:?}");
    if cfg!(target_os = "linux") {
        let detail = check(&run, "memory")["detail"].to_string();
        assert!(detail.contains("1800 calls"), "{detail}");
    }
}

#[test]
fn calls_are_cancelled_while_they_work() {
    let run = tested("cancel-work", &["--calls=9"]);
    assert_eq!(
        (rules(&run), run.code),
        (vec!["cancel".to_owned()], 1),
        "{run:?}"
    );
}

#[test]
fn tools_that_change_something_are_called_with_permission_only() {
    for (flags, called) in [(&["--calls=9"][..], false), (&["--yes", "--calls=9"], true)] {
        let run = tested("changes", flags);
        assert_eq!(run.code, 0, "{run:?}");
        let state = if called { "ok" } else { "skipped" };
        let examples = check(&run, "examples");
        assert_eq!(examples["state"], state, "{run:?}");
        let said = examples["skipped"].to_string();
        assert_eq!(said.contains("not called: add"), !called, "{said}");
    }
    let run = tested("none", &["--ignore-tool", "a*", "--calls=9"]);
    assert_eq!(check(&run, "examples")["state"], "skipped", "{run:?}");
}

#[test]
fn tool_that_runs_as_a_task_is_not_called() {
    let run = tested("tasks", &["--calls=9"]);
    let said = check(&run, "examples")["skipped"].to_string();
    assert!(said.contains("add (it runs as a task only)"), "{run:?}");
}

#[test]
fn progress_extends_the_time_limit() {
    let run = tested("slow", &["--calls=9", "--timeout=2"]);
    assert_eq!(rules(&run), [""; 0], "{run:?}");
    assert!(
        check(&run, "examples")["seconds"].as_f64().unwrap() > 2.9,
        "{run:?}"
    );
}

#[test]
fn text_report_escapes_the_server_and_a_file_has_it_for_junit() {
    let file = folder("release-tests-junit").join("report.xml");
    let program = example("faulty");
    let flags = ["--calls=9", "--junit", file.to_str().unwrap()];
    let run = mcp(&[&["test"], &flags[..], &["--", &program, "unnamed-argument"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("invalid input \\u{1b}[2J"), "{run:?}");
    assert!(run.out.contains("  sure:   likely"), "{run:?}");
    assert!(run.out.contains("0 errors, "), "{run:?}");
    let xml = fs::read_to_string(file).unwrap();
    assert!(
        xml.contains("<testsuite") && xml.contains("failures=\"0\""),
        "{xml}"
    );
}

#[test]
fn same_seed_makes_the_same_calls() {
    let findings = |seed: &str| tested("internal-error", &["--calls=9", "--seed", seed]).json();
    let first = findings("5")["findings"].clone();
    assert_eq!(first, findings("5")["findings"]);
    assert_ne!(first, findings("6")["findings"]);
}

#[test]
fn minimal_template_passes() {
    let run = mcp(&[
        "test",
        "--yes",
        "--json",
        "--quiet",
        "--",
        &example("minimal"),
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(rules(&run), [""; 0], "{run:?}");
}

/// A calculator.
#[derive(Debug)]
struct Calculator;

/// A calculator.
#[mcp::server(name = "calculator", version = "1.0.0")]
impl Calculator {
    /// Divides two numbers.
    #[tool(read_only)]
    fn divide(&self, a: f64, b: f64) -> Result<String, ToolError> {
        if b == 0.0 {
            return Err(ToolError::new("`b` must not be 0"));
        }
        Ok((a / b).to_string())
    }
}

#[test]
fn http_server_passes_in_both_eras() {
    let origin = on_thread(|listener| async { drop(mcp::serve_http(Calculator, listener).await) });
    let url = format!("{origin}/mcp");
    for protocol in ["legacy", "2026-07-28"] {
        let run = mcp(&["test", &url, "--json", "--quiet", "--protocol", protocol]);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(rules(&run), [""; 0], "{run:?}");
        assert_eq!(check(&run, "sessions")["state"], "ok", "{run:?}");
        assert_eq!(check(&run, "memory")["state"], "skipped", "{run:?}");
    }
}

#[test]
fn unreachable_server_is_not_a_finding() {
    let run = mcp(&["test", "--json", "http://127.0.0.1:9/mcp"]);
    assert_eq!(run.code, 4, "{run:?}");
    assert_eq!(run.json()["passed"], false, "{run:?}");
}

#[test]
fn tool_without_an_example_gets_no_warning_about_other_arguments() {
    let run = tested("no-example", &["--calls", "20"]);
    assert_eq!(rules(&run), ["no-example"], "{run:?}");
}
