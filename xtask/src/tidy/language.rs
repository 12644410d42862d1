//! Rule: comments and messages are plain English, and closure arguments have names.
//!
//! A finding is "is no" instead of "is not a", three "of" in one sentence of a comment, and a closure with `it`.

use crate::finding::Finding;
use crate::sources::{Sources, TextFile, is_compile_case};

/// Two words, so that this line is not a finding itself.
const IS_NO: [&str; 2] = ["is", "no"];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let files = sources
        .texts()
        .iter()
        .filter(|text| text.path.ends_with(".rs") && !is_compile_case(&text.path));
    files.flat_map(check_file).collect()
}

fn check_file(text: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line: usize, message: &str| {
        findings.push(Finding::new(&text.path, line, message));
    };
    // A comment's paragraph, and its first line.
    let (mut paragraph, mut start) = (String::new(), 1);
    let mut is_code = false;
    for (number, line) in (1..).zip(text.content.lines()) {
        if has_is_no(line) {
            report(number, "negation with \"no\"; write \"is not a\"");
        }
        if has_unnamed_argument(line) {
            report(number, "closure argument without a name; name it");
        }
        let comment = line.trim_start().strip_prefix("//");
        let comment = comment.map(|comment| comment.trim_start_matches(['/', '!']).trim());
        is_code ^= comment.is_some_and(|comment| comment.starts_with("```"));
        match comment {
            Some(comment) if !is_code && !comment.is_empty() && !comment.starts_with("```") => {
                if paragraph.is_empty() {
                    start = number;
                }
                paragraph.push_str(comment);
                paragraph.push(' ');
            }
            _ => {
                if has_chain(&paragraph) {
                    report(
                        start,
                        "three \"of\" in a sentence; use compounds, verbs or two sentences",
                    );
                }
                paragraph.clear();
            }
        }
    }
    findings
}

/// Finds `it` between two bars. The text has no space before it, unlike that of a pattern.
fn has_unnamed_argument(line: &str) -> bool {
    let parts: Vec<_> = line.split('|').collect();
    let between = parts.iter().skip(1).take(parts.len().saturating_sub(2));
    between
        .into_iter()
        .any(|part| part.split(", ").any(is_unnamed))
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
    let prose = paragraph
        .split('`')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("X");
    let sentences = prose.split_inclusive(['.', ':', ';', '?', '!', '|']);
    sentences.into_iter().any(|sentence| {
        sentence
            .split_whitespace()
            .filter(|word| *word == "of")
            .count()
            > 2
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::samples::{lines_of, marked};

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
}
