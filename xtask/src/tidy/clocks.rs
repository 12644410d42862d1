//! Rule: the rules of the protocol read no clock. Times are arguments, so that tests choose them.
//!
//! A finding is `Instant::now` and `SystemTime::now` in `mcp-types` and `mcp-core`, outside of the stores in memory, which
//! take a clock as a function, and this one by default.

use proc_macro2::{TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{Sources, is_path_separator, package};

const PACKAGES: [&str; 2] = ["mcp-types", "mcp-core"];

/// Stores with a clock that is set, and reads the system's time by default: users create them, and no transport.
const DEFAULT_CLOCKS: [&str; 3] = [
    "mcp-core/src/store/memory_events.rs",
    "mcp-core/src/store/memory_tasks.rs",
    "mcp-core/src/store/sessions.rs",
];

const MESSAGE: &str = "the core reads no clock; take the time as an argument";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = sources.library();
    for file in files.filter(|file| PACKAGES.contains(&package(&file.path))) {
        let is_default = DEFAULT_CLOCKS.contains(&file.path.as_str());
        let mut report = |line, is_call| {
            if is_call || !is_default {
                findings.push(Finding::new(&file.path, line, MESSAGE));
            }
        };
        check_tokens(file.tokens(), &mut report);
    }
    findings
}

/// Reports the line of each clock, and whether it is read there.
fn check_tokens(tokens: TokenStream, report: &mut impl FnMut(usize, bool)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_ident = |at: usize, names: &[&str]| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if names.iter().any(|name| ident == name));
    for (at, token) in tokens.iter().enumerate() {
        if is_ident(at, &["Instant", "SystemTime"])
            && is_path_separator(&tokens, at + 1)
            && is_ident(at + 3, &["now"])
        {
            let is_call = matches!(tokens.get(at + 4), Some(TokenTree::Group(_)));
            report(token.span().start().line, is_call);
        }
        if let TokenTree::Group(group) = token {
            check_tokens(group.stream(), report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::{lines_of, marked};

    const SAMPLE: &str = r#"//! Sample.
/// `Instant::now()`
fn f(now: Instant) {
    let a = std::time::Instant::now(); // BAD
    let b = g(SystemTime::now()); // BAD
    let c = now.elapsed();
}
#[cfg(test)]
mod tests {
    fn g() { Instant::now(); }
}
"#;
    const DEFAULT: &str = "//! Sample.\nfn f() { g(Instant::now) }\n";

    #[test]
    fn clock_in_the_core_is_a_finding() {
        for path in ["mcp-core/src/a.rs", "mcp-core/src/store/sessions.rs"] {
            assert_eq!(lines_of(check, path, SAMPLE), marked(SAMPLE), "{path}");
        }
        assert!(lines_of(check, "mcp-tasks/src/a.rs", SAMPLE).is_empty());
        assert_eq!(lines_of(check, "mcp-core/src/a.rs", DEFAULT), [2]);
        assert!(lines_of(check, "mcp-core/src/store/sessions.rs", DEFAULT).is_empty());
    }
}
