//! Doc comments.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::Method;
use crate::types::Type;

/// Returns the attributes of a doc comment.
pub(super) fn doc<'a>(lines: impl IntoIterator<Item = &'a String>) -> TokenStream {
    let attributes = lines.into_iter().map(|line| {
        let line = if line.is_empty() {
            String::new()
        } else {
            format!(" {line}")
        };
        quote!(#[doc = #line])
    });
    attributes.collect()
}

/// Returns the documentation of a method. A schema without a type has its reason there.
pub(super) fn method_docs(method: &Method) -> Vec<String> {
    let types = method.arguments.iter().chain(&method.output);
    types.fold(method.docs.clone(), |lines, ty| with_reasons(&lines, ty))
}

/// Returns the documentation with the reasons why a part of the type is any JSON.
pub(super) fn with_reasons(lines: &[String], ty: &Type) -> Vec<String> {
    let mut reasons = Vec::new();
    ty.reasons(&mut reasons);
    let mut lines = lines.to_vec();
    for reason in reasons {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("Any JSON, because {reason}."));
    }
    lines
}
