//! Rule: the documents for contributors name only files, folders and functions that exist, and comments only records
//! that exist.

use crate::finding::Finding;
use crate::sources::{Sources, is_library};

const DOCUMENTS: [&str; 7] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/governance.md",
    "README.md",
    "docs/releasing.md",
    "ROADMAP.md",
    "docs/hostile.md",
];

/// The folder of the decision records, which are documents for contributors, too.
const RECORDS: &str = "docs/decisions/";

/// A file name that stands for any file.
const PLACEHOLDER: &str = "foo";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files: Vec<_> = sources
        .texts()
        .iter()
        .map(|text| text.path.as_str())
        .collect();
    let texts = sources.texts().iter();
    for document in texts.filter(|text| is_document(&text.path)) {
        for (number, line) in document.content.lines().enumerate() {
            let quoted = quoted(line).flat_map(expand);
            let missing = quoted.filter(|path| !exists(path, &files));
            let targets = links(line).map(|target| resolve(&document.path, target));
            let broken = targets.filter(|path| !files.iter().any(|file| contains(path, file)));
            for path in missing.chain(broken) {
                let message = format!("no file or folder `{path}` exists; correct the path");
                findings.push(Finding::new(&document.path, number + 1, message));
            }
            for function in functions(line).filter(|function| !is_defined(function, sources)) {
                let message = format!("no function `{function}` exists; correct file and name");
                findings.push(Finding::new(&document.path, number + 1, message));
            }
        }
    }
    let is_source = |path: &str| path.ends_with(".rs") && is_library(path);
    for source in sources.texts().iter().filter(|text| is_source(&text.path)) {
        for (number, line) in source.content.lines().enumerate() {
            for path in records(line).filter(|path| !files.contains(path)) {
                let message = format!("no record `{path}` exists; correct or delete the reference");
                findings.push(Finding::new(&source.path, number + 1, message));
            }
        }
    }
    findings
}

fn is_document(path: &str) -> bool {
    DOCUMENTS.contains(&path) || (path.starts_with(RECORDS) && path.ends_with(".md"))
}

/// The records that a comment names.
fn records(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let starts = line.match_indices(RECORDS).map(|(at, _)| &line[at..]);
    let paths = starts.map(move |rest| rest.split(|c| !is_path(c)).next().unwrap_or(rest));
    // A name without digits is the folder, or a pattern.
    let paths =
        paths.filter(|path| path[RECORDS.len()..].starts_with(|c: char| c.is_ascii_digit()));
    paths.map(|path| path.trim_end_matches('.'))
}

/// Returns a link's target as a path from the repository's root.
fn resolve(document: &str, target: &str) -> String {
    let mut folders: Vec<&str> = document.split('/').collect();
    folders.pop();
    for part in target.split('/') {
        match part {
            ".." => {
                folders.pop();
            }
            "." => {}
            part => folders.push(part),
        }
    }
    folders.join("/")
}

/// The texts between backticks that may be paths.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| !text.contains([' ', '…', ':', '<']))
}

/// The texts between backticks that name a function and its file: `a/b.rs::name`.
fn functions(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains(".rs::"))
}

/// Returns true if the file exists and defines a function, or a test, of that name.
fn is_defined(function: &str, sources: &Sources) -> bool {
    let parts = function.split_once("::");
    let file = parts.and_then(|(path, name)| Some((sources.text(path)?, name)));
    file.is_some_and(|(file, name)| {
        let mut definitions = file.content.split("fn ").skip(1);
        definitions.any(|rest| {
            let rest = rest.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(['(', '<']))
        })
    })
}

/// The targets of links within the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1);
    let targets = links.filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
}

/// Expands `a/{b,c}.rs` to two paths.
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

/// Returns false if the text is the path of a file that does not exist. A file name without a folder
/// may be that of any file in the repository.
fn exists(path: &str, files: &[&str]) -> bool {
    let is_file = |path: &str| files.iter().any(|file| contains(path, file));
    let mut folders = files.iter().filter_map(|file| file.split_once('/'));
    if folders.any(|(folder, _)| path.starts_with(&format!("{folder}/"))) {
        return is_file(path);
    }
    // Other texts with a slash are methods of the protocol, such as `server/discover`.
    if !path.ends_with(".rs") || path.starts_with(PLACEHOLDER) {
        return true;
    }
    let end = format!("/{path}");
    files.iter().any(|file| format!("/{file}").ends_with(&end))
}

/// Returns true if the path is that of the file, or of a folder around it.
fn contains(path: &str, file: &str) -> bool {
    let rest = file.strip_prefix(path.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
