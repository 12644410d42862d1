//! Rule: the error page of the guide explains every error message.

use syn::visit::{self, Visit};
use syn::{Attribute, LitStr};

use crate::finding::Finding;
use crate::sources::Sources;

const PAGE: &str = "mcp/src/docs/errors.md";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let page = sources.texts().iter().find(|text| text.path == PAGE);
    let page = plain(page.map_or("", |page| &page.content));
    let mut findings = Vec::new();
    for file in sources.library() {
        let mut messages = Messages::default();
        messages.visit_file(&file.ast);
        for (line, message) in messages.found {
            if !is_explained(&message, &page) {
                let text = format!("no page explains the error {message:?}; add a row to {PAGE}");
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Returns true if the page contains a constant part of the message. Parts of one word do not count.
fn is_explained(message: &str, page: &str) -> bool {
    let fixed = message.split(['{', '}']).step_by(2);
    let mut parts = fixed
        .flat_map(|part| part.split([';', ':', ',', '(']))
        .map(plain)
        .filter(|part| part.contains(' '))
        .peekable();
    parts.peek().is_none() || parts.any(|part| page.contains(&part))
}

/// Removes quotes and repeated blanks.
fn plain(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.collect::<Vec<_>>().join(" ");
    words.replace(['`', '"', '\\'], "")
}

/// Collects the messages of `#[error("…")]`.
#[derive(Default)]
struct Messages {
    found: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Messages {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error") {
            let text = attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
                let text = input.parse::<LitStr>()?;
                input.parse::<proc_macro2::TokenStream>()?;
                Ok(text)
            });
            if let Ok(text) = text {
                self.found.push((text.span().start().line, text.value()));
            }
        }
        visit::visit_attribute(self, attribute);
    }
}
