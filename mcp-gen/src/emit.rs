//! The generated code.

mod client;
mod server;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::Method;

pub(crate) use client::client;
pub(crate) use server::server;

/// Lints that do not apply to generated code: it is not documented everywhere, and not all of it is used.
pub(crate) fn allow() -> TokenStream {
    quote! {
        allow(
            clippy::all,
            clippy::nursery,
            clippy::pedantic,
            clippy::restriction,
            dead_code,
            missing_docs,
            rustdoc::all,
            unnameable_types,
            unreachable_pub,
            unused_qualifications
        )
    }
}

/// Returns the attributes of a doc comment.
fn doc<'a>(lines: impl IntoIterator<Item = &'a String>) -> TokenStream {
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
fn method_docs(method: &Method) -> Vec<String> {
    let mut lines = method.docs.clone();
    let mut reasons = Vec::new();
    if let Some(ty) = &method.arguments {
        ty.reasons(&mut reasons);
    }
    if let Some(ty) = &method.output {
        ty.reasons(&mut reasons);
    }
    types::add_reasons(&mut lines, &reasons);
    lines
}
