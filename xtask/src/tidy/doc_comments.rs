//! Rule: a doc comment begins with a noun phrase that says what the item is, or with a third-person
//! verb that says what the function does.

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::Lit;

use crate::finding::Finding;
use crate::sources::{Sources, TextFile, is_doc};

/// Forbidden first words. A sentence that begins with one of them does not name its subject.
const OPENERS: [&str; 20] = [
    "what",
    "who",
    "whom",
    "whose",
    "whether",
    "how",
    "where",
    "which",
    "when",
    "of",
    "it",
    "the same",
    "so many",
    "that",
    "nothing",
    "nobody",
    "they",
    "why",
    "whoever",
    "there is none",
];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let files = sources.texts().iter();
    files
        .filter(|text| text.path.ends_with(".rs"))
        .flat_map(check_file)
        .collect()
}

fn check_file(text: &TextFile) -> Vec<Finding> {
    // The source of a compile-fail test may not even be valid tokens.
    let Ok(tokens) = text.content.parse::<TokenStream>() else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    collect(tokens, &mut blocks);
    let bad = blocks
        .iter()
        .filter_map(|block| Some((block.line, opener(&block.first)?)));
    bad.map(|(line, opener)| {
        let message = format!(
            "the doc comment begins with {opener:?}; begin with a noun phrase (\"A session of …\") \
             or a third-person verb (\"Returns …\")"
        );
        Finding::new(&text.path, line, message)
    })
    .collect()
}

/// Returns the forbidden word with which the text begins.
fn opener(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    OPENERS.into_iter().find(|opener| {
        let rest = lower.strip_prefix(opener);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The first line with text in a doc comment, and its position.
struct Block {
    line: usize,
    first: String,
}

/// Collects doc comments from tokens, also inside macro calls. The lexer turns `/// text` into
/// `#[doc = "text"]`, and `//! text` into `#![doc = "text"]`: consecutive attributes are one block.
fn collect(tokens: TokenStream, blocks: &mut Vec<Block>) {
    // The preceding doc attribute's block: whether it is inner (`#!`), and whether it has text yet.
    let mut open: Option<(bool, bool)> = None;
    let mut is_inner = false;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => is_inner = false,
            TokenTree::Punct(punct) if punct.as_char() == '!' => is_inner = true,
            TokenTree::Group(group) if is_doc(&group) => {
                let Some((line, text)) = doc_text(&group) else {
                    open = None;
                    continue;
                };
                let has_text = open.is_some_and(|(inner, text)| inner == is_inner && text);
                open = Some((is_inner, has_text || !text.is_empty()));
                if !has_text && !text.is_empty() {
                    blocks.push(Block { line, first: text });
                }
            }
            TokenTree::Group(group) => {
                open = None;
                collect(group.stream(), blocks);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => open = None,
        }
    }
}

/// Returns the attribute's line number and the first line of its text that is not blank. Returns `None`
/// if the attribute has no string literal.
fn doc_text(group: &Group) -> Option<(usize, String)> {
    let literal = group.stream().into_iter().find_map(|token| match token {
        TokenTree::Literal(literal) => Some(Lit::new(literal)),
        _ => None,
    })?;
    let Lit::Str(text) = literal else {
        return None;
    };
    let value = text.value();
    let mut lines = value.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty());
    Some((
        group.span().start().line,
        first.unwrap_or_default().to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;
    use crate::tidy::samples::{lines_of, marked};

    const SAMPLE: &str = r##"//! What it is for. // BAD
//!
//! When a paragraph begins so, it is fine.

/// Which of them. // BAD
#[derive(Debug)]
/// A second block.
struct A {
    /// Whether it is there. // BAD
    a: bool,
    /// Whatever the name is: a longer word.
    b: bool,
    ///
    /// how many // BAD
    c: u8,
}
// What a plain comment says is free.
/// Of the parts. // BAD
fn f() -> &'static str {
    /// The same for a nested item. // BAD
    const A: u8 = 1;
    "/// What a string says is free."
}
bitflags! {
    /// It's a flag. // BAD
    struct Flags;
}
/// Offset of the item, of which there are two.
/// That is a second line.
fn g() {}
#[doc = "There is none."] // BAD
#[doc = include_str!("page.md")]
/** Nobody calls it. // BAD
 */
fn h() {}
"##;

    #[test]
    fn openers_without_a_subject_are_findings() {
        for path in ["mcp/src/a.rs", "mcp/tests/it/main.rs", "fuzz/x.rs"] {
            assert_eq!(lines_of(check, path, SAMPLE), marked(SAMPLE), "{path}");
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
}
