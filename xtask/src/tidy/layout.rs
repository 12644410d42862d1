//! Rule: a module with children is `foo.rs` and a folder `foo/`, and unit tests are next to or in
//! the file that they test.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::sources::Sources;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let paths: Vec<&str> = sources.texts().iter().map(|it| it.path.as_str()).collect();
    let mut findings: Vec<Finding> = paths
        .iter()
        .filter(|path| path.ends_with("/mod.rs") && !is_integration_test(path))
        .map(|path| {
            let instead = path.replace("/mod.rs", ".rs");
            Finding::new(path, 1, format!("a `mod.rs`; move it to {instead}"))
        })
        .collect();
    for (folder, files) in folders(&paths) {
        if files == ["tests.rs"] && !paths.iter().any(|it| is_deeper(it, folder)) {
            let message = format!(
                "the only file of its folder; move the tests to the end of {folder}.rs, in \
                 `mod tests {{ … }}`"
            );
            findings.push(Finding::new(&format!("{folder}/tests.rs"), 1, message));
        }
    }
    findings
}

/// Returns true inside the folder `tests` of a package: files there would be programs of their own
/// without a `mod.rs`.
fn is_integration_test(path: &str) -> bool {
    let mut folders = path.split('/').skip(1);
    folders.any(|folder| folder == "tests") && !path.contains("/src/")
}

/// The files of each folder.
fn folders<'a>(paths: &[&'a str]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (folder, file) in paths.iter().filter_map(|path| path.rsplit_once('/')) {
        folders.entry(folder).or_default().push(file);
    }
    folders
}

/// Returns true if the path is in a folder below `folder`.
fn is_deeper(path: &str, folder: &str) -> bool {
    let rest = path
        .strip_prefix(folder)
        .and_then(|it| it.strip_prefix('/'));
    rest.is_some_and(|rest| rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn mod_files_and_lonely_tests_are_findings() {
        let sources = Sources::from_texts(&[
            ("mcp/src/a/mod.rs", ""),
            ("mcp/src/a/tests.rs", ""),
            ("mcp/src/b.rs", ""),
            ("mcp/src/b/tests.rs", ""),
            ("mcp/src/c/tests.rs", ""),
            ("mcp/src/c/d/e.rs", ""),
            ("mcp/src/f/tests/mod.rs", ""),
            ("mcp/tests/it/main.rs", ""),
            ("mcp/tests/it/values/mod.rs", ""),
        ]);
        let found: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "mcp/src/a/mod.rs:1: a `mod.rs`; move it to mcp/src/a.rs",
                "mcp/src/f/tests/mod.rs:1: a `mod.rs`; move it to mcp/src/f/tests.rs",
                "mcp/src/b/tests.rs:1: the only file of its folder; move the tests to the end of \
                 mcp/src/b.rs, in `mod tests { … }`",
            ]
        );
    }
}
