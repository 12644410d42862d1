//! The page of the guide that explains errors knows all of them.

use syn::visit::{self, Visit};
use syn::{Attribute, LitStr};

use super::Finding;
use super::source::Sources;

const PAGE: &str = "mcp/src/docs/errors.md";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let page = sources.texts().iter().find(|text| text.path == PAGE);
    let page = plain(page.map_or("", |page| &page.content));
    let mut findings = Vec::new();
    for file in sources.library() {
        let mut messages = Messages::default();
        messages.visit_file(&file.ast);
        for (line, message) in messages.found {
            if !is_told(&message, &page) {
                let text = format!("{message:?} is explained nowhere; give it a row in {PAGE}");
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Whether a part of the message that does not change stands on the page. Parts of one word say
/// nothing.
fn is_told(message: &str, page: &str) -> bool {
    let fixed = message.split(['{', '}']).step_by(2);
    let mut parts = fixed
        .flat_map(|part| part.split([';', ':', ',', '(']))
        .map(plain)
        .filter(|part| part.contains(' '))
        .peekable();
    parts.peek().is_none() || parts.any(|part| page.contains(&part))
}

/// Text without quotes, and with single blanks.
fn plain(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.collect::<Vec<_>>().join(" ");
    words.replace(['`', '"', '\\'], "")
}

/// The texts of `#[error("…")]`.
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
