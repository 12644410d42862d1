//! Remarks about long files and functions. Split them if they contain more than one concept; the
//! number alone is no reason.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Signature};

use crate::finding::Finding;
use crate::sources::Sources;

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 80;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut remarks = Vec::new();
    for file in sources.rust() {
        let mut lines = BTreeSet::new();
        code_lines(file.tokens(), &mut lines);
        if lines.len() > FILE_LINES {
            let message = format!(
                "{} code lines; split the file if it holds more than one concept",
                lines.len()
            );
            remarks.push(Finding::new(&file.path, 1, message));
        }
        let mut functions = Functions { long: Vec::new() };
        functions.visit_file(&file.ast);
        remarks.extend(functions.long.into_iter().map(|(line, name, length)| {
            let message =
                format!("fn {name} has {length} lines; split it if it has more than one job");
            Finding::new(&file.path, line, message)
        }));
    }
    remarks
}

/// The lines on which a token starts or ends.
fn code_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        lines.extend([token.span().start().line, token.span().end().line]);
        if let TokenTree::Group(group) = token {
            code_lines(group.stream(), lines);
        }
    }
}

struct Functions {
    long: Vec<(usize, String, usize)>,
}

impl Functions {
    fn measure(&mut self, signature: &Signature, body: &Block) {
        let start = signature.span().start().line;
        let length = body.span().end().line.saturating_sub(start) + 1;
        if length > FUNCTION_LINES {
            self.long.push((start, signature.ident.to_string(), length));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.measure(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.measure(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(body) = &node.default {
            self.measure(&node.sig, body);
        }
        visit::visit_trait_item_fn(self, node);
    }
}
