//! Rule: the ids in `// spec:` comments are those of requirements in the checklist.

use std::collections::HashSet;

use crate::finding::Finding;
use crate::sources::{Sources, package};

/// The checklist of requirements.
const REQUIREMENTS: &str = "docs/spec/requirements.md";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let checklist = sources.text(REQUIREMENTS).map_or("", |text| &text.content);
    let rows = checklist.lines().filter_map(|line| line.strip_prefix("| "));
    let first_columns = rows.filter_map(|row| row.split(" |").next());
    let known: HashSet<&str> = first_columns.filter(|column| is_id(column)).collect();
    let mut findings = Vec::new();
    if known.is_empty() {
        let message = "no requirement ids found; expected table rows `| ID | …`";
        findings.push(Finding::new(REQUIREMENTS, 1, message));
    }
    // This package contains the rule and its samples.
    let is_checked = |path: &str| path.ends_with(".rs") && package(path) != "xtask";
    for text in sources.texts().iter().filter(|text| is_checked(&text.path)) {
        for (number, line) in (1..).zip(text.content.lines()) {
            let listed = spec_comment(line).map(listed_ids).unwrap_or_default();
            for id in listed.into_iter().filter(|id| !known.contains(id)) {
                let message = format!(
                    "{REQUIREMENTS} has no requirement `{id}`; write `// spec: ID` or `// spec: ID, ID` \
                     with ids that it has"
                );
                findings.push(Finding::new(&text.path, number, message));
            }
        }
    }
    findings
}

/// Returns true for words and a number, joined by hyphens: `HTTP-SM-15`.
fn is_id(text: &str) -> bool {
    let number = text.rsplit_once('-').map_or("", |(_, number)| number);
    number.parse::<u32>().is_ok()
}

/// Returns the text after `spec:` in a line comment or doc comment.
fn spec_comment(line: &str) -> Option<&str> {
    let comment = &line[line.find("//")?..];
    comment
        .trim_start_matches(['/', '!'])
        .trim_start()
        .strip_prefix("spec:")
}

/// Returns the ids at the start of the text, separated by commas. The prose after them begins with a
/// word that has no digit, also after a comma.
fn listed_ids(mut text: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    loop {
        text = text.trim_start();
        let end = text.find(|c: char| c.is_whitespace() || ",;:.()".contains(c));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        if !ids.is_empty() && !word.contains(|c: char| c.is_ascii_digit()) {
            return ids;
        }
        ids.push(word);
        match rest.trim_start().strip_prefix(',') {
            Some(rest) => text = rest,
            None => return ids,
        }
    }
}
