//! Checks and their findings, as text, JSON and JUnit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use mcp::types::escape_line;
use serde_json::{Value, json};

use crate::failure::{Failure, FailureKind};
use crate::output::Output;

/// Findings of one rule that the text shows.
const SHOWN: usize = 3;
/// Characters of a finding's description.
const MAX_TEXT: usize = 400;

/// The certainty of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confidence {
    /// The check has seen it.
    Certain,
    /// Another cause is improbable.
    Likely,
    /// The author must decide.
    Possible,
}

impl Confidence {
    fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

/// A defect: an error, which decides the exit code, or a warning.
#[derive(Debug)]
pub(super) struct Finding {
    is_error: bool,
    confidence: Confidence,
    /// The kind of defect.
    rule: &'static str,
    place: String,
    what: String,
    repair: String,
}

impl Finding {
    /// An error.
    pub(super) fn new(
        confidence: Confidence,
        rule: &'static str,
        place: impl Into<String>,
        what: impl Into<String>,
        repair: impl Into<String>,
    ) -> Self {
        Self {
            is_error: true,
            confidence,
            rule,
            place: shorten(&place.into()),
            what: shorten(&what.into()),
            repair: repair.into(),
        }
    }

    /// Makes it a warning.
    pub(super) fn warning(mut self) -> Self {
        self.is_error = false;
        self
    }

    fn level(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }

    fn document(&self, check: &str) -> Value {
        json!({
            "check": check,
            "rule": self.rule,
            "level": self.level(),
            "where": self.place,
            "what": self.what,
            "repair": self.repair,
            "confidence": self.confidence.name(),
        })
    }
}

/// Cuts a text of a server, which can have any length.
pub(super) fn shorten(text: &str) -> String {
    mcp::types::shorten(text, MAX_TEXT).into_owned()
}

/// One check.
#[derive(Debug, Default)]
pub(super) struct Check {
    name: &'static str,
    pub(super) detail: String,
    pub(super) took: Duration,
    /// Parts that were not tested, with the reason.
    skipped: Vec<String>,
    findings: Vec<Finding>,
}

impl Check {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Says what is not tested.
    pub(super) fn skip(&mut self, reason: impl Into<String>) {
        self.skipped.push(reason.into());
    }

    fn errors(&self) -> usize {
        self.findings.iter().filter(|found| found.is_error).count()
    }

    fn state(&self) -> &'static str {
        if self.errors() > 0 {
            "failed"
        } else if !self.findings.is_empty() {
            "warning"
        } else if self.detail.is_empty() {
            "skipped"
        } else {
            "ok"
        }
    }

    fn print(&self, output: &Output) {
        let seconds = self.took.as_secs_f64();
        let (state, name, detail) = (self.state(), self.name, &self.detail);
        output.line(format!("{state:<8} {name:<13} {seconds:>5.1} s  {detail}").trim_end());
        for reason in &self.skipped {
            output.line(&format!("{:32}{reason}", ""));
        }
    }

    /// Prints the first findings of each rule.
    fn print_findings(&self, output: &Output) {
        let mut counts = BTreeMap::new();
        for found in &self.findings {
            let count = counts.entry(found.rule).or_insert(0);
            *count += 1;
            if *count > SHOWN {
                continue;
            }
            let (level, check, place) = (found.level(), self.name, &found.place);
            output.line("");
            output.line(&format!("{level}: {check}, {place}"));
            let what = found.what.lines().collect::<Vec<_>>().join(" ");
            output.line(&format!("  what:   {what}"));
            output.line(&format!("  repair: {}", found.repair));
            output.line(&format!("  sure:   {}", found.confidence.name()));
        }
        for (rule, count) in counts {
            if count > SHOWN {
                let more = count - SHOWN;
                output.line(&format!(
                    "and {more} more of {}, {rule}; --json has all",
                    self.name
                ));
            }
        }
    }
}

/// The checks of a run, in their order.
#[derive(Debug)]
pub(super) struct TestReport {
    target: String,
    seed: u64,
    checks: Vec<Check>,
}

impl TestReport {
    pub(super) fn new(target: String, seed: u64) -> Self {
        Self {
            target,
            seed,
            checks: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    fn counts(&self) -> (usize, usize) {
        let errors = self.checks.iter().map(Check::errors).sum();
        let all: usize = self.checks.iter().map(|check| check.findings.len()).sum();
        (errors, all - errors)
    }

    pub(super) fn print(&self, output: &Output) {
        let (errors, warnings) = self.counts();
        if output.json {
            let checks: Vec<_> = self.checks.iter().map(check_document).collect();
            let findings = self.checks.iter().flat_map(|check| {
                let documents = check.findings.iter();
                documents.map(|found| found.document(check.name))
            });
            output.document(&json!({
                "target": self.target,
                "seed": self.seed,
                "passed": errors == 0,
                "checks": checks,
                "findings": findings.collect::<Vec<_>>(),
            }));
            return;
        }
        output.heading(&self.target);
        for check in &self.checks {
            check.print(output);
        }
        for check in &self.checks {
            check.print_findings(output);
        }
        output.line("");
        output.line(&format!("{errors} errors, {warnings} warnings"));
    }

    /// The report in the XML format of JUnit: one test case for each check.
    pub(super) fn junit(&self) -> String {
        let failed = self
            .checks
            .iter()
            .filter(|check| check.errors() > 0)
            .count();
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mcp test {}\" tests=\"{}\" failures=\"{failed}\">\n",
            xml_text(&self.target),
            self.checks.len()
        );
        for check in &self.checks {
            // Writing to a string does not fail.
            let _ = writeln!(
                xml,
                "<testcase classname=\"mcp\" name=\"{}\" time=\"{:.3}\">",
                check.name,
                check.took.as_secs_f64()
            );
            for found in check.findings.iter().filter(|found| found.is_error) {
                let Finding {
                    rule,
                    place,
                    what,
                    repair,
                    ..
                } = found;
                let (place, what, repair) = (xml_text(place), xml_text(what), xml_text(repair));
                let _ = writeln!(
                    xml,
                    "<failure type=\"{rule}\" message=\"{place}: {what}\">{repair}</failure>"
                );
            }
            if check.state() == "skipped" {
                let reason = xml_text(&check.skipped.join("; "));
                let _ = writeln!(xml, "<skipped message=\"{reason}\"/>");
            }
            xml.push_str("</testcase>\n");
        }
        xml.push_str("</testsuite>\n");
        xml
    }

    /// The outcome of the command: an error fails it.
    pub(super) fn into_result(self) -> Result<(), Failure> {
        match self.counts() {
            (0, _) => Ok(()),
            (errors, _) => Err(Failure::new(
                FailureKind::Findings,
                format!("the server has {errors} errors"),
            )),
        }
    }
}

fn check_document(check: &Check) -> Value {
    json!({
        "check": check.name,
        "state": check.state(),
        "detail": check.detail,
        "skipped": check.skipped,
        "seconds": check.took.as_secs_f64(),
    })
}

/// Escapes a text for XML. Control characters and noncharacters have no place in it and are shown as escapes.
fn xml_text(text: &str) -> String {
    let text = escape_line(text).replace('\u{fffe}', "\\u{fffe}");
    let text = text.replace('\u{ffff}', "\\u{ffff}");
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{Check, Confidence, Finding, TestReport};

    #[test]
    fn junit_escapes_text_from_a_server() {
        let mut check = Check::new("examples");
        let what = "\u{1b}[2J<b> & \"c\"";
        check.add(Finding::new(
            Confidence::Likely,
            "crash",
            "tool `a`",
            what,
            "x",
        ));
        let mut report = TestReport::new("shop".to_owned(), 0);
        report.add(check);
        let xml = report.junit();
        let expected = "message=\"tool `a`: \\u{1b}[2J&lt;b&gt; &amp; &quot;c&quot;\"";
        assert!(xml.contains(expected), "{xml}");
        assert!(xml.contains("tests=\"1\" failures=\"1\""), "{xml}");
    }

    #[test]
    fn junit_has_only_valid_xml_characters() {
        let all: String = ('\0'..=char::MAX).collect();
        let mut check = Check::new("examples");
        check.add(Finding::new(
            Confidence::Likely,
            "crash",
            &*all,
            &*all,
            &*all,
        ));
        check.skipped.push(all.clone());
        let mut report = TestReport::new(all, 0);
        report.add(check);
        let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        let xml = report.junit();
        let other = xml.chars().find(|c| !is_allowed(*c));
        assert_eq!(other, None);
    }
}
