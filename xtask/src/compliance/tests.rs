//! The comments in small sources, and the repository itself.

use super::marks::{self, Place};
use super::report;
use super::table::Compliance;
use crate::sources::Sources;
use crate::workspace::Workspace;

const CHECKLIST: &str = "docs/spec/requirements.md";
const REASONS: &str = "docs/spec/exceptions.md";

const ROWS: &str = "\
| id | level | revs | side | requirement | source |
| --- | --- | --- | --- | --- | --- |
| BASE-01 | MUST | all | B | A `string \\| number`. | 26:basic |
| BASE-02 | SHOULD / MUST NOT | all | C | B. | 26:basic |
| BASE-03 | SHOULD | all | S | C. | 26:basic |
| BASE-04 | MAY | all | S | D. | 26:basic |
| id | what | recommendation |
| GAP-01 | MUST it? | Yes. |
";

const CODE: &str = "\
//! A.
// spec: BASE-01
fn a() {}
#[cfg(test)]
mod tests {
    // spec: BASE-02
    #[test]
    fn b_is_b() {
        if true {
            // spec: BASE-03, BASE-04 the rest
            let fn_like = 1;
        }
    }
    fn helper() {
        // spec: BASE-01
    }
    #[tokio::test(start_paused = true)]
    /// Reads it.
    // spec: BASE-01
    async fn c_is_c() {}
}
";

/// Returns the messages about a file `mcp-core/src/a.rs`, with the text of the reasons.
fn messages(code: &str, reasons: &str) -> Vec<String> {
    let files = [
        (CHECKLIST, ROWS),
        (REASONS, reasons),
        ("mcp-core/src/a.rs", code),
    ];
    let sources = Sources::from_texts(&files);
    let findings = Compliance::read(&sources).findings();
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn marks_belong_to_code_or_to_the_test_around_them() {
    let marks = marks::in_file("mcp-core/src/a.rs", CODE);
    let places: Vec<_> = marks
        .iter()
        .map(|mark| (mark.id, mark.line, mark.place))
        .collect();
    assert_eq!(
        places,
        [
            ("BASE-01", 2, Place::Code),
            ("BASE-02", 6, Place::Test("b_is_b")),
            ("BASE-03", 10, Place::Test("b_is_b")),
            ("BASE-04", 10, Place::Test("b_is_b")),
            ("BASE-01", 15, Place::Helper),
            ("BASE-01", 19, Place::Test("c_is_c")),
        ]
    );
    let in_tests = marks::in_file(
        "mcp-core/tests/it/a.rs",
        "//! A.\n// spec: BASE-01\nfn a() {}\n",
    );
    assert_eq!(in_tests[0].place, Place::Helper);
}

#[test]
fn must_without_code_or_test_is_a_finding() {
    let found = messages("//! A.\n// spec: BASE-01\nfn a() {}\n", "");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("docs/spec/requirements.md:3: `BASE-01` (MUST) has no test"));
    assert!(
        found[1]
            .starts_with("docs/spec/requirements.md:4: `BASE-02` (SHOULD / MUST NOT) has no code")
    );
    assert!(found[2].starts_with("docs/spec/requirements.md:5: `BASE-03` (SHOULD) has no code"));
}

#[test]
fn test_in_a_package_below_the_code_proves_nothing() {
    let test = "#[test]\n// spec: BASE-01\nfn b() {}\n";
    let found = |path| {
        let files = [
            (CHECKLIST, ROWS),
            (REASONS, "| BASE-02 | No. |\n| BASE-03 | No. |\n"),
            (
                "mcp-client/src/a.rs",
                "//! A.\n// spec: BASE-01\nfn a() {}\n",
            ),
            (path, test),
        ];
        let findings = Compliance::read(&Sources::from_texts(&files)).findings();
        findings.len()
    };
    for (path, count) in [
        ("mcp-core/src/b/tests.rs", 1),
        ("mcp-client/src/b/tests.rs", 0),
        ("products/mcp-gateway/src/b/tests.rs", 0),
        ("mcp-core/tests/it/b.rs", 0),
    ] {
        assert_eq!(found(path), count, "{path}");
    }
}

#[test]
fn reason_replaces_code_and_test_but_does_not_stand_beside_code() {
    let reasons = "| id | reason |\n| BASE-02 | The host does it. |\n| BASE-03 | Costs too much. |\n\
                   | BASE-01 | No. |\n| BASE-09 | Unknown. |\n";
    let code = "//! A.\n// spec: BASE-01\nfn a() {}\n#[test]\n// spec: BASE-01\nfn b() {}\n";
    let found = messages(code, reasons);
    let expected = [
        "docs/spec/exceptions.md:4: `BASE-01` has code; remove the reason or the mark",
        "docs/spec/exceptions.md:5: `BASE-09` is not an id of the checklist",
    ];
    assert_eq!(found, expected);
}

const SPEC_IDS: &str = "//! Sample.
//! spec: BASE-02
// spec: BASE-01, BASE-02
// spec: BASE-01 (the body decides), as BASE-99 does not
// spec: BASE-01, and each rung by its own id
// spec: BASE-01, base-02 // BAD
let url = \"https://spec.example\"; // spec: BASE-02
// spec: BASE-99 // BAD
// spec: BASE-02, BASE-99 // BAD
// spec: 2026-07-28/basic // BAD
// spec: // BAD
// a spec: none
";

#[test]
fn unknown_spec_id_is_a_finding() {
    // The sample is not valid Rust, so it has the path of a compile-fail case.
    let path = "mcp-macros/src/tests/ui/sample.rs";
    let sources = Sources::from_texts(&[(CHECKLIST, ROWS), (path, SPEC_IDS)]);
    let findings = Compliance::read(&sources).findings();
    let unknown = findings
        .iter()
        .filter(|finding| finding.message.contains("has no requirement"));
    let lines: Vec<_> = unknown.map(|finding| finding.line).collect();
    let bad = (1..)
        .zip(SPEC_IDS.lines())
        .filter(|(_, line)| line.contains("// BAD"));
    assert_eq!(lines, bad.map(|(number, _)| number).collect::<Vec<_>>());
}

#[test]
fn checklist_without_ids_is_a_finding() {
    let sources = Sources::from_texts(&[(CHECKLIST, "# Requirements\n")]);
    assert_eq!(Compliance::read(&sources).findings().len(), 1);
}

#[test]
fn mark_outside_tests_is_a_finding() {
    let found = messages(CODE, "");
    assert_eq!(
        found
            .iter()
            .filter(|text| text.contains("not in a test"))
            .count(),
        1
    );
}

#[test]
fn page_names_code_tests_reasons_and_totals() {
    let code = CODE.replace("    fn helper() {\n        // spec: BASE-01\n    }\n", "");
    let files = [
        (CHECKLIST, ROWS),
        (REASONS, "| BASE-02 | The host does it. |\n"),
        ("mcp-core/src/a.rs", code.as_str()),
    ];
    let sources = Sources::from_texts(&files);
    let page = report::page(&Compliance::read(&sources));
    assert!(page.contains("5 requirements, 2 of them a MUST or MUST NOT: **1 with code and test, 1 with the reason why they do not apply, 0 open**."), "{page}");
    let row = "| BASE-01 | MUST | B | [mcp-core/src/a.rs](../../mcp-core/src/a.rs) | \
               [mcp-core/src/a.rs](../../mcp-core/src/a.rs) `c_is_c` |\n";
    assert!(page.contains(row), "{page}");
    assert!(
        page.contains("| BASE-02 | SHOULD / MUST NOT | C |  | The host does it. |\n"),
        "{page}"
    );
}
#[test]
fn repository_accounts_for_each_requirement() {
    let workspace = Workspace::find().unwrap();
    let sources = Sources::read(workspace.root()).unwrap();
    let findings = Compliance::read(&sources).findings();
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
