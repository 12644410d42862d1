//! Doc comments, on items and on parameters.

use syn::{Attribute, Expr, Meta};

/// The pieces of a doc comment: literals as a rule, `include_str!(…)` at times.
pub(crate) fn of(attributes: &[Attribute]) -> Vec<Expr> {
    let docs = attributes
        .iter()
        .filter_map(|attribute| piece(attribute).cloned());
    docs.collect()
}

/// As [`of`], and takes them away: the compiler refuses them on parameters.
pub(crate) fn take(attributes: &mut Vec<Attribute>) -> Vec<Expr> {
    let docs = of(attributes);
    attributes.retain(|attribute| piece(attribute).is_none());
    docs
}

fn piece(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}
