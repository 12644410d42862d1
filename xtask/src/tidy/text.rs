//! Rules about the text of a file.
//!
//! A finding is: a mark of unfinished work; in Rust files also a missing module doc, a doc comment that does not
//! begin with a noun phrase or a third-person verb, "is no" instead of "is not a", three "of" in one
//! sentence of a comment, a closure with `it`, and more than 600 code lines without the tests.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{RustFile, Sources, TextFile, is_compile_case};

/// Forbidden first words of a doc comment. A sentence that begins with one of them does not name its subject.
const OPENERS: &str = "what, who, whom, whose, whether, how, where, which, when, of, it, the same, \
    so many, that, nothing, nobody, they, why, whoever, there is none";

/// The starts of doc comments.
const DOCS: [&str; 4] = ["///", "//!", "/**", "#[doc = \""];

/// Two words, so that this line is not a finding itself.
const IS_NO: [&str; 2] = ["is", "no"];

/// Maximum number of code lines.
const LIMIT: usize = 600;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings: Vec<_> = sources.texts().iter().flat_map(unfinished).collect();
    let rust = sources
        .texts()
        .iter()
        .filter(|text| text.path.ends_with(".rs"));
    findings.extend(
        rust.filter(|text| !is_compile_case(&text.path))
            .flat_map(language),
    );
    findings.extend(sources.rust().iter().filter_map(size));
    findings
}

fn unfinished(text: &TextFile) -> Vec<Finding> {
    // Spelled in two parts, so that this line is not a finding itself.
    let mark = ["FIX", "ME"].concat();
    let marked = (1..)
        .zip(text.content.lines())
        .filter(|(_, line)| line.contains(&mark));
    let message = format!("a {mark} mark; correct the code or open an issue");
    marked
        .map(|(number, _)| Finding::new(&text.path, number, &*message))
        .collect()
}

/// Checks the comments and closures of a Rust file.
fn language(text: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line: usize, message: &str| {
        findings.push(Finding::new(&text.path, line, message));
    };
    // The second form includes a long doc from a file of its own.
    if !text.content.starts_with("//!") && !text.content.starts_with("#![doc = include_str!(") {
        report(
            1,
            "the first line is not a `//!` doc; say in one sentence what the file contains",
        );
    }
    // The kind of the preceding comment line, and whether its block has text or is in an example.
    let (mut kind, mut has_text, mut is_code) = ("", false, false);
    // A comment's paragraph, and its first line.
    let (mut paragraph, mut start) = (String::new(), 1);
    for (number, line) in (1..).zip(text.content.lines().chain([""])) {
        if has_is_no(line) {
            report(number, "negation with \"no\"; write \"is not a\"");
        }
        if has_unnamed_argument(line) {
            report(number, "closure argument without a name; name it");
        }
        let (line_kind, comment) = comment(line);
        if line_kind != kind {
            (kind, has_text, is_code) = (line_kind, false, false);
        }
        if DOCS.contains(&kind)
            && !has_text
            && let Some(opener) = opener(comment)
        {
            report(
                number,
                &format!(
                    "the doc comment begins with {opener:?}; begin with a noun phrase (\"A session of …\") \
                 or a third-person verb (\"Returns …\")"
                ),
            );
        }
        has_text |= !comment.is_empty();
        let is_fence = comment.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || comment.is_empty() {
            if has_chain(&paragraph) {
                report(
                    start,
                    "three \"of\" in a sentence; use compounds, verbs or two sentences",
                );
            }
            paragraph.clear();
        } else {
            if paragraph.is_empty() {
                start = number;
            }
            paragraph.push_str(comment);
            paragraph.push(' ');
        }
    }
    findings
}

/// Splits a comment line into its start and its text. Both are empty for code.
fn comment(line: &str) -> (&'static str, &str) {
    let line = line.trim_start();
    let mut starts = DOCS.into_iter().chain(["//"]);
    let found = starts.find_map(|start| Some((start, line.strip_prefix(start)?.trim())));
    found.unwrap_or_default()
}

/// Returns the forbidden words with which the text begins.
fn opener(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    OPENERS.split(", ").find(|opener| {
        let rest = lower.strip_prefix(opener);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Finds `it` between two bars. The text has no space before it, unlike that of a pattern.
fn has_unnamed_argument(line: &str) -> bool {
    let parts: Vec<_> = line.split('|').collect();
    let mut between = parts.iter().skip(1).take(parts.len().saturating_sub(2));
    between.any(|part| part.split(", ").any(is_unnamed))
}

fn is_unnamed(argument: &str) -> bool {
    let argument = argument.trim_start_matches('&').trim_start_matches("mut ");
    argument == "it" || argument.starts_with("it: ")
}

/// Finds the two words, except in "there is no …" and "is no longer".
fn has_is_no(line: &str) -> bool {
    let words: Vec<_> = line.split_whitespace().collect();
    let last = |at: usize| words[..at].last().copied().unwrap_or_default();
    let next = |at: usize| words.get(at + 2).copied().unwrap_or_default();
    let mut pairs = words.windows(2).enumerate();
    pairs.any(|(at, pair)| {
        pair == IS_NO
            && !last(at).to_lowercase().ends_with("there")
            && !next(at).starts_with("longer")
    })
}

/// Finds a sentence with three "of" outside code.
fn has_chain(paragraph: &str) -> bool {
    let prose: Vec<_> = paragraph.split('`').step_by(2).collect();
    let prose = prose.join("X");
    let mut sentences = prose.split(['.', ':', ';', '?', '!', '|']);
    sentences.any(|sentence| {
        sentence
            .split_whitespace()
            .filter(|word| *word == "of")
            .count()
            > 2
    })
}

fn size(file: &RustFile) -> Option<Finding> {
    let mut lines = BTreeSet::new();
    code_lines(file.tokens(), &mut lines);
    let count = lines.len();
    let message = format!("{count} code lines, the limit is {LIMIT}; split the file by concepts");
    (count > LIMIT).then(|| Finding::new(&file.path, 1, message))
}

/// Adds the lines on which a token starts or ends.
fn code_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        lines.extend([token.span().start().line, token.span().end().line]);
        if let TokenTree::Group(group) = token {
            code_lines(group.stream(), lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;
    use crate::tidy::tests::{lines_of, marked};

    /// Each line has a bar, so that it is not a comment of this file.
    const DOCS: &str = r##"
|//! What it is for. // BAD
|//!
|//! When a paragraph begins so, it is fine.
|
|/// Which of them. // BAD
|#[derive(Debug)]
|/// A second block.
|struct A {
|    /// Whether it is there. // BAD
|    a: bool,
|    /// Whatever the name is: a longer word.
|    b: bool,
|    ///
|    /// how many // BAD
|    c: u8,
|}
|// What a plain comment says is free.
|/// Of the parts. // BAD
|fn f() -> &'static str {
|    /// The same for a nested item. // BAD
|    const A: u8 = 1;
|    "/// What a string says is free."
|}
|bitflags! {
|    /// It's a flag. // BAD
|    struct Flags;
|}
|/// Offset of the item, of which there are two.
|/// That is a second line.
|fn g() {}
|#[doc = "There is none."] // BAD
|#[doc = include_str!("page.md")]
|/** Nobody calls it. // BAD
| */
|fn h() {}
"##;

    #[test]
    fn openers_without_a_subject_are_findings() {
        let sample = DOCS.trim_start().replace("\n|", "\n").replacen('|', "", 1);
        for path in ["mcp/src/a.rs", "mcp/tests/it/main.rs", "fuzz/x.rs"] {
            assert_eq!(lines_of(check, path, &sample), marked(&sample), "{path}");
        }
    }

    #[test]
    fn message_names_the_opener_and_the_remedy() {
        let sources = Sources::from_texts(&[("mcp/src/a.rs", "//! So many of them.\n")]);
        let found = check(&sources)[0].to_string();
        assert!(
            found.starts_with("mcp/src/a.rs:1: the doc comment begins with \"so many\""),
            "{found}"
        );
    }

    #[test]
    fn words_that_hide_who_acts_are_findings() {
        let no = ["is", "no"].join(" ");
        let it = ["|", "it|"].concat();
        let sample = [
            "//! Sample.",
            "const A: u8 = 1;",
            "/// The end of the list of the names of a server. // BAD",
            "/// It goes on.",
            "fn f() {}",
            "/// The end of a list. The names of a server: the time of it, `a of b of c of d`.",
            &format!("// A pipe {no} file. // BAD"),
            &format!("// There {no} file, and it {no} longer open."),
            &format!("fn g() {{ h({it} 1) }} // BAD"),
            "fn k() { m(a || b, it, c) }",
            "// A comment that ends with another word, it",
            &format!("const M: &str = \"this {no} number\"; // BAD"),
        ];
        let sample = sample.join("\n") + "\n";
        assert_eq!(lines_of(check, "xtask/src/a.rs", &sample), marked(&sample));
    }

    #[test]
    fn rust_file_without_module_doc_is_a_finding() {
        for (path, content, expected) in [
            (
                "mcp/src/a.rs",
                "#![doc = include_str!(\"docs/crate.md\")]\n",
                0,
            ),
            ("mcp/src/a.rs", "//! A sample.\nfn f() {}\n", 0),
            ("mcp/src/a.rs", "\n//! Late.\n", 1),
            ("mcp/src/a.rs", "// Not a doc.\nfn f() {}\n", 1),
            ("mcp-macros/tests/ui/bad.rs", "fn f() {\n", 0),
        ] {
            assert_eq!(lines_of(check, path, content).len(), expected, "{content}");
        }
    }

    #[test]
    fn unfinished_work_is_a_finding() {
        let mark = ["FIX", "ME"].concat();
        let text = format!("one\n{mark}: two\n");
        assert_eq!(lines_of(check, "README.md", &text), [2]);
    }

    #[test]
    fn long_file_is_a_finding() {
        let long = format!("//! Doc.\n{}", "/// One.\nconst A: u8 = 1;\n\n".repeat(601));
        assert_eq!(lines_of(check, "mcp/src/a.rs", &long), [1]);
        let mostly_tests = format!(
            "//! Doc.\n{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "// Why.\nconst A: u8 = 1;\n".repeat(300),
            "const B: u8 = 1;\n".repeat(600)
        );
        assert_eq!(lines_of(check, "mcp/src/a.rs", &mostly_tests), [0; 0]);
    }
}
