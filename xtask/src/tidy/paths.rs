//! The documents for those who change the house name only files and folders that are there.

use super::Finding;
use super::source::Sources;

const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// What a path within a package begins with.
const PREFIXES: [&str; 2] = ["mcp", "xtask/"];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let texts = sources.texts();
    for document in texts
        .iter()
        .filter(|it| DOCUMENTS.contains(&it.path.as_str()))
    {
        for (number, line) in document.content.lines().enumerate() {
            for path in paths(line).flat_map(expand) {
                let is_there = texts.iter().any(|text| holds(&path, &text.path));
                if !is_there {
                    let message = format!("there is no `{path}`");
                    findings.push(Finding::new(&document.path, number + 1, message));
                }
            }
        }
    }
    findings
}

/// What stands between backticks and is a path from the root of the repository.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let begins = PREFIXES.iter().any(|prefix| text.starts_with(prefix));
        begins && text.contains('/') && !text.contains([' ', '…', ':', '<'])
    })
}

/// `a/{b,c}.rs` is two paths.
fn expand(path: &str) -> Vec<String> {
    let parts = path.split_once('{').zip(path.split_once('}'));
    match parts {
        Some(((before, rest), (_, after))) => {
            let names = rest.split('}').next().unwrap_or_default().split(',');
            names.map(|name| format!("{before}{name}{after}")).collect()
        }
        None => vec![path.to_owned()],
    }
}

/// Whether a file is the one of the path, or in its folder.
fn holds(path: &str, file: &str) -> bool {
    let rest = file.strip_prefix(path.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
