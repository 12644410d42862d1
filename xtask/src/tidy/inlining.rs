//! Rule: `#[inline]` is for one-line accessors in a hot path. rustc inlines small functions across
//! crates by itself; more attributes mean more code to compile and to read.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{Sources, package};

/// The number of attributes that the library crates may have together, exclusive.
const LIMIT: usize = 90;

const REPORTED_AT: &str = "Cargo.toml";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in sources.library() {
        *counts.entry(package(&file.path)).or_default() += count(file.tokens());
    }
    let total: usize = counts.values().sum();
    if total < LIMIT {
        return Vec::new();
    }
    let list: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(package, count)| format!("{package} {count}"))
        .collect();
    let message = format!(
        "the library crates have {total} `#[inline]` attributes ({}), the limit is {}; remove those \
         that no figure justifies",
        list.join(", "),
        LIMIT - 1
    );
    vec![Finding::new(REPORTED_AT, 1, message)]
}

/// Counts `#[inline]`, `#[inline(…)]` and `#[cfg_attr(…, inline)]`.
fn count(tokens: TokenStream) -> usize {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut count = 0;
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_attribute = group.delimiter() == Delimiter::Bracket
            && at > 0
            && matches!(&tokens[at - 1], TokenTree::Punct(punct) if punct.as_char() == '#');
        if is_attribute && is_inline(group.stream()) {
            count += 1;
        } else {
            count += self::count(group.stream());
        }
    }
    count
}

fn is_inline(attribute: TokenStream) -> bool {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), _) if name == "inline" => true,
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(list))) if name == "cfg_attr" => {
            let mut list = list.stream().into_iter();
            list.any(|token| matches!(token, TokenTree::Ident(name) if name == "inline"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    /// Three attributes.
    const CODE: &str = "#[inline] fn a() {} #[cfg_attr(not(x), inline)] fn b() {}
        m! { #[inline(always)] fn c() {} } // #[inline]
        fn inline() { [inline]; } #[cfg(test)] mod t { #[inline] fn d() {} }";

    #[test]
    fn ninety_attributes_are_too_many() {
        let many = CODE.repeat(29);
        let (core, types) = ("mcp-core/src/lib.rs", "mcp-types/src/lib.rs");
        let few = "#[inline] fn a() {} #[inline] fn b() {}";
        let sources =
            Sources::from_texts(&[(core, &many), (types, few), ("bench/src/lib.rs", CODE)]);
        assert_eq!(check(&sources), []);
        let sources = Sources::from_texts(&[(core, &many), (types, CODE)]);
        let message = check(&sources)[0].to_string();
        assert!(
            message.contains("have 90 `#[inline]` attributes (mcp-core 87, mcp-types 3)"),
            "{message}"
        );
    }
}
