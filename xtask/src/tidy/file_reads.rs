//! Rule: library crates and the command read files with a limit. A file of others can have any size, or be a link to a device
//! that never ends.
//!
//! A finding is `fs::read` and `fs::read_to_string`, of the standard library and of tokio.

use proc_macro2::{TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{Sources, is_path_separator};

const MESSAGE: &str = "a file is read without a limit; use `mcp_files::read`, or `Read::take`";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.library() {
        let mut report = |line| findings.push(Finding::new(&file.path, line, MESSAGE));
        check_tokens(file.tokens(), &mut report);
    }
    findings
}

fn check_tokens(tokens: TokenStream, report: &mut impl FnMut(usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_ident = |at: usize, names: &[&str]| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if names.iter().any(|name| ident == name));
    for (at, token) in tokens.iter().enumerate() {
        if is_ident(at, &["fs"])
            && is_path_separator(&tokens, at + 1)
            && is_ident(at + 3, &["read", "read_to_string"])
        {
            report(token.span().start().line);
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
/// `fs::read(path)`
fn f(path: &Path) {
    let a = std::fs::read(path); // BAD
    let b = fs::read_to_string(path).unwrap_or_default(); // BAD
    let c = [1].map(|_| tokio::fs::read(path)); // BAD
    let d = mcp_files::read(path, 1);
    let e = fs::read_dir(path);
    let f = File::open(path).take(1).read_to_string(&mut text);
}
#[cfg(test)]
mod tests {
    fn g() { std::fs::read("a"); }
}
"#;

    #[test]
    fn file_that_is_read_without_a_limit_is_a_finding() {
        assert_eq!(
            lines_of(check, "products/mcp-cli/src/log.rs", SAMPLE),
            marked(SAMPLE)
        );
        assert!(lines_of(check, "xtask/src/main.rs", SAMPLE).is_empty());
    }
}
