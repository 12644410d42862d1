//! Rules about files as text: every Rust file says at its top what it is for, every `// spec:` id
//! exists, and nothing of one machine or of unfinished work is left behind.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};

use super::Finding;
use super::source::{Sources, Text, is_compile_case, package};

/// The checklist that `// spec:` ids refer to.
const REQUIREMENTS: &str = "docs/spec/requirements.md";

/// Folders at the root of somebody's machine.
const MACHINE_FOLDERS: [&str; 2] = ["work", "root"];

/// Macros that stand for code which is not there.
const UNFINISHED: [&str; 2] = ["todo", "unimplemented"];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ids = requirement_ids(sources);
    if ids.is_empty() {
        let message = "no requirement ids found; expected table rows `| ID | …`";
        findings.push(Finding::new(REQUIREMENTS, 1, message));
    }
    for text in sources.texts() {
        findings.extend(machine_paths(text));
        findings.extend(fix_marks(text));
        if text.path.ends_with(".rs") && !is_compile_case(&text.path) {
            findings.extend(module_doc(text));
        }
        // This package holds the rule itself and samples of breaking it.
        if text.path.ends_with(".rs") && package(&text.path) != "xtask" {
            findings.extend(spec_ids(text, &ids));
        }
    }
    for file in sources.rust() {
        unfinished(&file.path, file.tokens(), &mut findings);
    }
    findings
}

fn module_doc(text: &Text) -> Option<Finding> {
    let first = text.content.lines().next().unwrap_or_default();
    // The second is how a long doc that stands in a file of its own begins.
    let is_doc = first.starts_with("//!") || first.starts_with("#![doc = include_str!(");
    let message = "the first line is not a `//!` doc; say in one sentence what the file is for";
    (!is_doc).then(|| Finding::new(&text.path, 1, message))
}

fn machine_paths(text: &Text) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.content.lines().enumerate() {
        for folder in MACHINE_FOLDERS {
            if mentions_folder(line, folder) {
                let message =
                    format!("a path below /{folder}, which only one machine has; take it out");
                findings.push(Finding::new(&text.path, number + 1, message));
            }
        }
    }
    findings
}

/// Whether `/folder/` stands in the line as the start of a path, not inside a longer one.
fn mentions_folder(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/}{".contains(c))
    })
}

fn fix_marks(text: &Text) -> Vec<Finding> {
    // Spelt in two parts so that this line is not a finding itself.
    let mark = ["FIX", "ME"].concat();
    let lines = text
        .content
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(&mark));
    let finding = |(number, _)| {
        Finding::new(
            &text.path,
            number + 1,
            format!("{mark} left in the text; mend it or open an issue"),
        )
    };
    lines.map(finding).collect()
}

fn unfinished(path: &str, tokens: TokenStream, findings: &mut Vec<Finding>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => unfinished(path, group.stream(), findings),
            TokenTree::Ident(name) if UNFINISHED.iter().any(|macro_name| name == macro_name) => {
                let called =
                    matches!(tokens.get(at + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                if called {
                    let line = name.span().start().line;
                    let message = format!("`{name}!` stands for code that is not there; write it");
                    findings.push(Finding::new(path, line, message));
                }
            }
            _ => {}
        }
    }
}

/// The ids in the first column of the checklist's tables.
fn requirement_ids(sources: &Sources) -> HashSet<&str> {
    let checklist = sources
        .texts()
        .iter()
        .find(|text| text.path == REQUIREMENTS);
    let lines = checklist
        .map(|text| text.content.lines())
        .into_iter()
        .flatten();
    lines
        .filter_map(|line| {
            line.strip_prefix("| ")?
                .split(" |")
                .next()
                .filter(|id| is_id(id))
        })
        .collect()
}

/// `HTTP-SM-15`: capital words, then a number, joined by hyphens.
fn is_id(text: &str) -> bool {
    let Some((words, number)) = text.rsplit_once('-') else {
        return false;
    };
    let capital = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    words.split('-').all(capital)
        && words.starts_with(|c: char| c.is_ascii_uppercase())
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}

fn spec_ids(text: &Text, known: &HashSet<&str>) -> Vec<Finding> {
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

/// What follows `spec:` in a line or doc comment.
fn spec_comment(line: &str) -> Option<&str> {
    let comment = &line[line.find("//")?..];
    comment
        .trim_start_matches(['/', '!'])
        .trim_start()
        .strip_prefix("spec:")
}

/// The ids at the start of the text, separated by commas. What follows the last one is prose, also
/// after a comma: a word without a number is not meant to be an id.
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
