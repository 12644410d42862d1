//! The paths in a token stream. Tokens, unlike the syntax tree, include the arguments of macros.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::sources::is_path_separator;

/// A path with at least two segments, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathUse {
    pub(crate) segments: Vec<String>,
    /// The path ends with `::*`.
    pub(crate) is_glob: bool,
    pub(crate) line: usize,
}

/// Returns every path of at least two segments, also those inside macro calls and functions.
pub(crate) fn path_uses(tokens: TokenStream) -> Vec<PathUse> {
    let mut found = Vec::new();
    scan(&tokens.into_iter().collect::<Vec<_>>(), &[], &mut found);
    found
}

/// Returns every identifier among the tokens.
pub(crate) fn identifiers(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) => identifiers(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// `prefix` is the path in front of a `use` group's braces; elsewhere it is empty.
fn scan(tokens: &[TokenTree], prefix: &[String], found: &mut Vec<PathUse>) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                scan(&inner, &[], found);
                at += 1;
            }
            // `pub(crate)` and `pub(in crate::a)` name no dependency.
            TokenTree::Ident(ident) if ident == "pub" => {
                at += 1;
                if matches!(tokens.get(at), Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Parenthesis)
                {
                    at += 1;
                }
            }
            // The new name in a group: `{name as other}`.
            TokenTree::Ident(ident) if ident == "as" && !prefix.is_empty() => at += 2,
            TokenTree::Ident(_) if !follows_separator(tokens, at) => {
                at = path(tokens, at, prefix, found);
            }
            TokenTree::Punct(punct) if punct.as_char() == '*' && !prefix.is_empty() => {
                found.push(PathUse {
                    segments: prefix.to_vec(),
                    is_glob: true,
                    line: punct.span().start().line,
                });
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Returns true if the token at `at` comes after `::`, so that no path starts there.
fn follows_separator(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_path_separator(tokens, at - 2)
}

/// Reads the path that starts at `at`; returns the index after it.
fn path(tokens: &[TokenTree], mut at: usize, prefix: &[String], found: &mut Vec<PathUse>) -> usize {
    let line = tokens[at].span().start().line;
    let mut segments = prefix.to_vec();
    let mut is_glob = false;
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        // `{self}` in a group is the prefix itself.
        if segments.is_empty() || ident != "self" {
            segments.push(ident.to_string());
        }
        at += 1;
        if !is_path_separator(tokens, at) {
            break;
        }
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(_)) => at += 2,
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                scan(&inner, &segments, found);
                return at + 3;
            }
            Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => {
                is_glob = true;
                at += 3;
                break;
            }
            // Generic arguments: `Vec::<T>::new`.
            _ => {
                at += 2;
                break;
            }
        }
    }
    if segments.len() > 1 || is_glob {
        found.push(PathUse {
            segments,
            is_glob,
            line,
        });
    }
    at
}

#[cfg(test)]
mod tests {
    use super::path_uses;

    fn paths(code: &str) -> Vec<String> {
        let found = path_uses(code.parse().unwrap()).into_iter();
        found
            .map(|import| import.segments.join("::") + if import.is_glob { "::*" } else { "" })
            .collect()
    }

    #[test]
    fn macro_arguments_and_local_uses_are_scanned() {
        let code = "pub(in crate::skipped) fn f(a: super::A) -> crate::b::B<c::C> {
            use crate::d::{self, e::E, f::*, g as h};
            write!(f, \"{}\", self::i::J::new())?;
            ::external::k(a.field, Vec::<l::M>::new, $crate::n::o!())
        }";
        assert_eq!(
            paths(code),
            [
                "super::A",
                "crate::b::B",
                "c::C",
                "crate::d",
                "crate::d::e::E",
                "crate::d::f::*",
                "crate::d::g",
                "self::i::J::new",
                "l::M",
                "crate::n::o",
            ]
        );
    }

    #[test]
    fn single_names_are_no_paths() {
        assert!(paths("let x = Foo { a: b, c } == D; self.e(f::<G>)").is_empty());
    }
}
