//! Rule: a file has at most 600 code lines, without its tests.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{RustFile, Sources};

const LIMIT: usize = 600;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    sources.rust().iter().filter_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Option<Finding> {
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
