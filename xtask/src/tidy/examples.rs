//! Rule: the examples of the documentation compile as users paste them. They import from the facade
//! `mcp`, because a program does not depend on the other crates, and they are not ignored.
//!
//! So every crate has the facade as a development dependency, by path and without a version, and `cargo test -p
//! omnimcp-types` also builds the crates above it. Cargo removes such dependencies from archives. The
//! alternative is a second copy of each example in the facade, which re-exports the items.

use crate::finding::Finding;
use crate::sources::{Sources, TextFile, is_library};

/// Folder with the guide's pages.
const GUIDE: &str = "mcp/src/docs/";

/// Libraries whose items programs use through the facade.
const INNER: [&str; 7] = [
    "mcp_types",
    "mcp_core",
    "mcp_server",
    "mcp_client",
    "mcp_macros",
    "mcp_transport_http",
    "mcp_transport_stdio",
];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let documented = sources.texts().iter().filter(|text| {
        (text.path.ends_with(".rs") && is_library(&text.path) && text.path.contains("/src/"))
            || (text.path.ends_with(".md") && text.path.starts_with(GUIDE))
    });
    documented.flat_map(check_file).collect()
}

fn check_file(text: &TextFile) -> Vec<Finding> {
    let is_page = text.path.ends_with(".md");
    let mut findings = Vec::new();
    let mut is_code = false;
    for (number, line) in text.content.lines().enumerate() {
        let Some(line) = documentation(line, is_page) else {
            is_code = false;
            continue;
        };
        let message = match line.strip_prefix("```") {
            Some(language) => {
                is_code = !is_code;
                (is_code && language.split(',').any(|word| word.trim() == "ignore")).then(|| {
                    "the example is ignored; let it compile, with hidden lines if needed".to_owned()
                })
            }
            None if is_code => inner_path(line).map(|library| {
                format!("the example names `{library}`, which users do not have; name `mcp`")
            }),
            None => None,
        };
        findings.extend(message.map(|message| Finding::new(&text.path, number + 1, message)));
    }
    findings
}

/// Returns the text of a documentation line.
fn documentation(line: &str, is_page: bool) -> Option<&str> {
    if is_page {
        return Some(line);
    }
    let line = line.trim_start();
    let text = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
    Some(text.trim_start())
}

/// Returns the inner library that a line of code names in a path.
fn inner_path(line: &str) -> Option<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    INNER.into_iter().find(|library| {
        line.match_indices(library).any(|(at, _)| {
            let (before, rest) = (&line[..at], &line[at + library.len()..]);
            !before.ends_with(is_word) && rest.starts_with("::")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::{lines_of, marked};

    const SAMPLE: &str = r"//! Sample: [`Tool`](mcp_types::Tool).
//!
//! ```
//! use mcp_server::Server; // BAD
//! # fn f(tool: mcp_types::Tool) {} // BAD
//! use mcp::{Server, types}; let mcp_core = my_mcp_types::f();
//! ```

/// Text about mcp_core::Service.
///
/// ```ignore // BAD
/// ```
/// ```text
/// mcp::Server
/// ```
fn f() { mcp_core::f() }
";

    #[test]
    fn inner_libraries_and_ignored_examples_are_findings() {
        let sample = SAMPLE.replace("ignore // BAD", "no_run,ignore");
        let mut expected = marked(SAMPLE);
        assert_eq!(lines_of(check, "mcp-core/src/lib.rs", &sample), expected);
        expected.clear();
        for path in ["xtask/src/a.rs", "mcp-core/tests/it/main.rs"] {
            assert_eq!(lines_of(check, path, &sample), expected, "{path}");
        }
        let page = "Text.\n```\nmcp_core::f();\n```\nmcp_core::f()\n";
        assert_eq!(lines_of(check, "mcp/src/docs/a.md", page), [3]);
    }
}
