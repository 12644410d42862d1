//! The rules on small good and bad sources, and on the repository itself.

use super::{Rule, check, check_sources, links, literals, versions};
use crate::sources::Sources;
use crate::workspace::Workspace;

/// A method table, for the rules that read it.
const METHOD_TABLE: (&str, &str) = (
    "mcp-types/src/method/table.rs",
    "//! Methods.\npub const CALL: &str = \"tools/call\";\npub const INIT: &str = \"initialize\";\n",
);

const NONE: [usize; 0] = [];

/// Returns the lines of `path` that the rule reports, sorted.
pub(super) fn lines_of(rule: Rule, path: &str, content: &str) -> Vec<usize> {
    let sources = Sources::from_texts(&[METHOD_TABLE, (path, content)]);
    assert!(sources.unreadable().is_empty(), "the sample does not parse");
    let findings = rule(&sources);
    let elsewhere: Vec<_> = findings.iter().filter(|f| f.path != path).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    let mut lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
    lines.sort_unstable();
    lines
}

/// Returns the lines with the mark `// BAD`.
pub(super) fn marked(content: &str) -> Vec<usize> {
    let lines = (1..).zip(content.lines());
    let marked = lines.filter(|(_, line)| line.contains("// BAD"));
    marked.map(|(number, _)| number).collect()
}

#[test]
fn repository_has_no_findings() {
    let findings = check(&Workspace::find().unwrap()).unwrap();
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn every_rule_applies_to_xtask() {
    let bad = "//! What it is.\n/// It does.\nstruct A;\n";
    let sources = Sources::from_texts(&[METHOD_TABLE, ("xtask/src/main.rs", bad)]);
    let findings = check_sources(&sources);
    let lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [1, 2], "{findings:?}");
}

const COMPARISONS: &str = r"//! Sample.
use mcp_types::ProtocolVersion::*; // BAD
use mcp_types::{ProtocolVersion, ProtocolVersion::V2024_11_05 as R1};
const SINCE: ProtocolVersion = R1;
const NEWEST: ProtocolVersion = ProtocolVersion::V2026_07_28;
fn f(v: ProtocolVersion, era: ProtocolVersion, seen: Option<ProtocolVersion>) -> bool {
    let a = v >= ProtocolVersion::V2025_06_18; // BAD
    let b = Some(ProtocolVersion::LATEST) == seen; // BAD
    let c = matches!(era, ProtocolVersion::LATEST_LEGACY); // BAD
    let d = match (era, 1) {
        (ProtocolVersion::LATEST_LEGACY, 1) => 1, // BAD
        _ if v != mcp_types::ProtocolVersion::V2025_03_26 => 2, // BAD
        _ => 3,
    };
    if let ProtocolVersion::LATEST = era {} // BAD
    let ProtocolVersion::LATEST = era else { return false }; // BAD
    while v.lt(&ProtocolVersion::LATEST) {} // BAD
    let e = (ProtocolVersion::V2025_03_26..).contains(&v); // BAD
    let f = matches!(v, R1); // BAD
    let g = match v { R1 => 1, _ => 2 }; // BAD
    let h = v == R1; // BAD
    tracing::debug!(same = 1, era = ?era);
    assert!(v == ProtocolVersion::V2025_03_26); // BAD
    a
}
#[cfg(test)]
mod tests {
    fn g(v: ProtocolVersion) -> bool { v == ProtocolVersion::V2025_03_26 }
}
";

const NO_COMPARISONS: &str = r"//! Sample: values and predicates, but no comparisons (ProtocolVersion::V1 == x).
use mcp_types::ProtocolVersion;
// if era == ProtocolVersion::LATEST
fn f(v: ProtocolVersion, wires: &Wires) -> Vec<ProtocolVersion> {
    let wire = if v.is_modern() { wires.of(ProtocolVersion::LATEST) } else { wires.of(ProtocolVersion::LATEST_LEGACY) };
    let found = wires.all().find(|w| w.name() == wire.name());
    let ok = match wire.kind() { Kind::A => ProtocolVersion::LATEST, Kind::B => ProtocolVersion::LATEST_LEGACY };
    let text: &'static str = Kind::of(ProtocolVersion::LATEST_LEGACY).text() == 1;
    vec![ProtocolVersion::V2026_07_28, v]
}
";

#[test]
fn version_comparisons_outside_their_files_are_findings() {
    assert_eq!(
        lines_of(versions::check, "mcp-server/src/server.rs", COMPARISONS),
        marked(COMPARISONS)
    );
    assert_eq!(
        lines_of(versions::check, "mcp-server/src/server.rs", NO_COMPARISONS),
        NONE
    );
    for place in [
        "mcp-types/src/version.rs",
        "mcp-core/src/versioning/classify.rs",
        "mcp-core/src/wire/legacy/narrow.rs",
        "mcp-server/tests/it/main.rs",
        "mcp-server/src/server/tests.rs",
        "checks/conformance/src/lib.rs",
    ] {
        assert_eq!(
            lines_of(versions::check, place, COMPARISONS),
            NONE,
            "{place}"
        );
    }
}

const LITERALS: &str = r##"//! Sample, and "tools/call" in a doc.
//! ```
//! let x = "tools/call";
//! ```
/// Sends "Mcp-Method" and -32601.
#[doc = "mcp-method"]
fn f(out: &mut Out) {
    out.method("tools/call"); // BAD
    out.method(r#"initialize"#); // BAD
    out.header(b"MCP-Protocol-Version"); // BAD
    out.header(&format!("Mcp-Param-{name}")); // BAD
    out.code(-32_601); // BAD
    out.code(-32020); // BAD
    out.json(json!({"_meta": {"io.modelcontextprotocol/logLevel": 1}})); // BAD
    out.text("the tools/call failed, see the Mcp-Method header");
    out.numbers([32_601, -32_768, -1, -33_000]);
    out.code(codes::METHOD_NOT_FOUND); // was -32601
}
#[serde(rename = "io.modelcontextprotocol/clientInfo")] // BAD
struct S;
#[cfg(test)]
mod cases {
    const M: &str = "tools/call";
}
#[cfg(not(test))]
const N: &str = "tools/call"; // BAD
"##;

#[test]
fn protocol_literals_outside_their_files_are_findings() {
    assert_eq!(
        lines_of(literals::check, "mcp-server/src/a.rs", LITERALS),
        marked(LITERALS)
    );
    assert_eq!(
        lines_of(literals::check, "checks/bench/src/lib.rs", LITERALS),
        NONE
    );
    assert_eq!(
        lines_of(literals::check, "mcp-core/src/wire/tests.rs", LITERALS),
        NONE
    );
    let codes =
        "//! Codes.\npub const A: i64 = -32601;\npub const B: &str = \"tools/call\"; // BAD\n";
    assert_eq!(
        lines_of(literals::check, "mcp-types/src/codes.rs", codes),
        marked(codes)
    );
}

const REFERENCES: &str = r##"//! Sample, and "$ref" in a doc.
fn f(schema: &JsonObject) {
    let reference = schema.get("$ref");
    let name = reference.strip_prefix("#/$defs/");
    let next = json!({"$ref": format!("#/$defs/{name}")});
    let text = "the $ref of #/$defs/a";
}
#[cfg(test)]
mod cases {
    const R: &str = "$ref";
}
"##;

#[test]
fn reference_outside_the_resolver_and_the_table_is_a_finding() {
    let twice = [3, 4, 5, 5];
    let found = |path| lines_of(literals::check, path, REFERENCES);
    assert_eq!(found("mcp-server/src/a.rs"), twice);
    for place in [
        "integrations/mcp-schema/src/read.rs",
        "mcp-core/src/wire/narrow/structure.rs",
        "checks/fuzz/src/schema/attacks.rs",
    ] {
        assert_eq!(found(place), NONE, "{place}");
    }
}

#[test]
fn method_table_without_names_is_a_finding() {
    let empty =
        Sources::from_texts(&[("mcp-types/src/method/table.rs", "//! Methods, but none.\n")]);
    assert_eq!(literals::check(&empty).len(), 1);
}

#[test]
fn test_modules_in_separate_files_are_skipped() {
    let owner = (
        "mcp-core/src/wire.rs",
        "//! Wire.\n#[cfg(test)]\nmod samples;\n",
    );
    let sample = (
        "mcp-core/src/wire/samples.rs",
        "//! S.\nconst M: &str = \"tools/call\";\n",
    );
    let code = ("mcp-core/src/wire/samples2.rs", sample.1);
    let findings = literals::check(&Sources::from_texts(&[METHOD_TABLE, owner, sample, code]));
    assert_eq!(
        findings.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(),
        [code.0]
    );
}

#[test]
fn documents_that_name_missing_files_are_findings() {
    let content = "`mcp-core/src/{a,b}.rs`, `mcp-core/src/`, `mcp::core`, `Server/x`, `mcp-core/src/…`\n\
                   `src/{a,b}.rs`, `foo/tests.rs`, `server/discover`, `target/x`\n\
                   [a](mcp-core/src/a.rs), [b](https://example.com/b.rs), [c](#c)\n\
                   `mcp-core/src/{a,c}.rs` <!-- // BAD -->\n\
                   `mcp-core/gone/` <!-- // BAD -->\n\
                   `gone/a.rs` <!-- // BAD -->\n\
                   `gone.rs` <!-- // BAD -->\n\
                   [gone](mcp-core/src/gone.rs) <!-- // BAD -->\n";
    let sources = Sources::from_texts(&[
        ("ARCHITECTURE.md", content),
        ("docs/other.md", "`mcp-core/src/gone.rs`"),
        (
            "docs/decisions/README.md",
            "[one](0001-one.md), [a](../../mcp-core/src/a.rs)",
        ),
        ("docs/decisions/0001-one.md", "# 0001: One"),
        (
            "mcp-core/src/a.rs",
            "//! A (`docs/decisions/0001-one.md`), `docs/decisions/`.",
        ),
        ("mcp-core/src/b.rs", "//! B."),
    ]);
    let found: Vec<_> = links::check(&sources)
        .iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(found, marked(content));
}

#[test]
fn references_to_missing_records_are_findings() {
    let sources = Sources::from_texts(&[
        ("docs/decisions/README.md", "[two](0002-two.md)\n"),
        ("docs/decisions/0001-one.md", "`mcp-core/src/gone.rs`\n"),
        (
            "mcp-core/src/a.rs",
            "//! A.\n\n// docs/decisions/0001-one.md.\n// docs/decisions/0002-two.md\n",
        ),
    ]);
    let found: Vec<_> = links::check(&sources)
        .into_iter()
        .map(|finding| (finding.path, finding.line))
        .collect();
    let at = |path: &str, line| (path.to_owned(), line);
    let expected = [
        at("docs/decisions/0001-one.md", 1),
        at("docs/decisions/README.md", 1),
        at("mcp-core/src/a.rs", 4),
    ];
    assert_eq!(found, expected);
}

#[test]
fn pages_that_name_missing_functions_are_findings() {
    let content = "`mcp-core/src/a.rs::walk`, `mcp-core/src/a.rs::of_any`, `mcp::core`\n\
                   `mcp-core/src/a.rs::wal` <!-- // BAD -->\n\
                   `mcp-core/src/a.rs::gone` <!-- // BAD -->\n\
                   `mcp-core/src/gone.rs::walk` <!-- // BAD -->\n\
                   `a.rs::walk` <!-- // BAD -->\n";
    let sources = Sources::from_texts(&[
        ("docs/hostile.md", content),
        (
            "mcp-core/src/a.rs",
            "//! A.\nfn walk() {}\nfn of_any<T>() {}\n",
        ),
    ]);
    let found: Vec<_> = links::check(&sources)
        .iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(found, marked(content));
}

#[test]
fn files_with_syntax_errors_are_findings() {
    let sources = Sources::from_texts(&[("mcp/src/a.rs", "//! Doc.\nfn f( {\n")]);
    assert_eq!(sources.unreadable().len(), 1);
}
