//! Doc comments of items and parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, Meta};

/// Returns the parts of a doc comment: usually literals, sometimes `include_str!(…)`.
pub(crate) fn read(attributes: &[Attribute]) -> Vec<Expr> {
    attributes.iter().filter_map(doc_value).cloned().collect()
}

/// Returns the setter that makes the doc comment the description of an item.
pub(crate) fn description(attributes: &[Attribute], private: &TokenStream) -> Option<TokenStream> {
    let docs = read(attributes);
    (!docs.is_empty()).then(|| quote!(.description(#private::doc(&[#(#docs),*]))))
}

/// Returns the parts of a doc comment and removes them: the compiler rejects them on parameters.
pub(crate) fn remove(attributes: &mut Vec<Attribute>) -> Vec<Expr> {
    let docs = read(attributes);
    attributes.retain(|attribute| doc_value(attribute).is_none());
    docs
}

fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}
