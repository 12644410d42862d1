//! Doc comments.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::Method;

/// Returns the attributes of a doc comment.
pub(super) fn doc<'a>(lines: impl IntoIterator<Item = &'a String>) -> TokenStream {
    let attributes = lines.into_iter().map(|line| {
        let line = match line.is_empty() {
            true => String::new(),
            false => format!(" {line}"),
        };
        quote!(#[doc = #line])
    });
    attributes.collect()
}

/// Returns the documentation of a method. A schema without a type has its reason there.
pub(super) fn method_docs(method: &Method) -> Vec<String> {
    let mut lines = method.docs.clone();
    let mut reasons = Vec::new();
    if let Some(ty) = &method.arguments {
        ty.reasons(&mut reasons);
    }
    if let Some(ty) = &method.output {
        ty.reasons(&mut reasons);
    }
    add_reasons(&mut lines, &reasons);
    lines
}

/// Adds the reasons why a part is any JSON.
pub(super) fn add_reasons(lines: &mut Vec<String>, reasons: &[&str]) {
    for reason in reasons {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("Any JSON, because {reason}."));
    }
}
