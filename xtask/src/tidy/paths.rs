//! The documents for those who come to the house name only files and folders that are there.

use super::Finding;
use super::source::Sources;

const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];

/// How ARCHITECTURE.md begins the paths of a call on its way, and what that stands for.
const SHORT: [(&str, &str); 5] = [
    ("http/", "mcp-transport-http/src/"),
    ("stdio/", "mcp-transport-stdio/src/"),
    ("core/", "mcp-core/src/"),
    ("server/", "mcp-server/src/"),
    ("client/", "mcp-client/src/"),
];

/// What stands for any file.
const EXAMPLE: &str = "foo";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files: Vec<_> = sources.texts().iter().map(|it| it.path.as_str()).collect();
    let texts = sources.texts().iter();
    for document in texts.filter(|it| DOCUMENTS.contains(&it.path.as_str())) {
        for (number, line) in document.content.lines().enumerate() {
            let quoted = quoted(line).flat_map(expand);
            let missing = quoted.filter(|path| !is_there(path, &files));
            let broken = links(line).filter(|path| !files.iter().any(|file| holds(path, file)));
            for path in missing.chain(broken.map(str::to_owned)) {
                let message = format!("there is no `{path}`");
                findings.push(Finding::new(&document.path, number + 1, message));
            }
        }
    }
    findings
}

/// What stands between backticks, without what cannot be a path.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| !text.contains([' ', '…', ':', '<']))
}

/// Where a line links to, within the repository.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1);
    let targets = links.filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
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

/// Whether a file is where a text says, if it names one. Which file `calls.rs` is, the text around
/// it tells; one of that name there must be.
fn is_there(path: &str, files: &[&str]) -> bool {
    let exists = |path: &str| files.iter().any(|file| holds(path, file));
    let mut folders = files.iter().filter_map(|file| file.split_once('/'));
    if folders.any(|(folder, _)| path.starts_with(&format!("{folder}/"))) {
        return exists(path);
    }
    let mut short = SHORT.iter();
    match short.find_map(|(short, long)| Some((long, path.strip_prefix(short)?))) {
        // A method of the protocol, such as `server/discover`.
        Some((_, rest)) if !rest.contains(['/', '.']) => true,
        Some((long, rest)) => exists(&format!("{long}{rest}")),
        None if !path.ends_with(".rs") || path.starts_with(EXAMPLE) => true,
        None => {
            let end = format!("/{path}");
            files.iter().any(|file| format!("/{file}").ends_with(&end))
        }
    }
}

/// Whether a file is the one of the path, or in its folder.
fn holds(path: &str, file: &str) -> bool {
    let rest = file.strip_prefix(path.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
