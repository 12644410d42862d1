//! Rule: the ids in `// spec:` comments are those of requirements in the checklist.

use std::collections::HashSet;

use crate::finding::Finding;
use crate::sources::{Sources, TextFile, package};

/// The checklist of requirements.
const REQUIREMENTS: &str = "docs/spec/requirements.md";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let ids = requirement_ids(sources);
    let mut findings = Vec::new();
    if ids.is_empty() {
        let message = "no requirement ids found; expected table rows `| ID | …`";
        findings.push(Finding::new(REQUIREMENTS, 1, message));
    }
    for text in sources.texts() {
        // This package contains the rule and its samples.
        if text.path.ends_with(".rs") && package(&text.path) != "xtask" {
            findings.extend(check_file(text, &ids));
        }
    }
    findings
}

/// The ids in the first column of the checklist's tables.
fn requirement_ids(sources: &Sources) -> HashSet<&str> {
    let mut texts = sources.texts().iter();
    let checklist = texts.find(|text| text.path == REQUIREMENTS);
    let lines = checklist.map(|text| text.content.lines());
    lines
        .into_iter()
        .flatten()
        .filter_map(|line| {
            line.strip_prefix("| ")?
                .split(" |")
                .next()
                .filter(|id| is_id(id))
        })
        .collect()
}

/// Returns true for upper-case words and a number, joined by hyphens: `HTTP-SM-15`.
fn is_id(text: &str) -> bool {
    let Some((words, number)) = text.rsplit_once('-') else {
        return false;
    };
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    words.split('-').all(is_word)
        && words.starts_with(|c: char| c.is_ascii_uppercase())
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}

fn check_file(text: &TextFile, known: &HashSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.content.lines().enumerate() {
        let Some(list) = spec_comment(line) else {
            continue;
        };
        for id in listed_ids(list) {
            let message = if !is_id(id) {
                format!("`{id}` is not a requirement id; write `// spec: ID` or `// spec: ID, ID`")
            } else if !known.contains(id) {
                format!("{REQUIREMENTS} has no requirement {id}; name one that it has")
            } else {
                continue;
            };
            findings.push(Finding::new(&text.path, number + 1, message));
        }
    }
    findings
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
