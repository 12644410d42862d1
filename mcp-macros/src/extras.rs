//! The options `icon = …` and `meta = …`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Expr;

use crate::errors::Errors;
use crate::options::string_literal;

/// Returns `.icon(…)` for one icon or each of an array: a URI as a string literal, or an `Icon`.
pub(crate) fn icons(value: &Expr, private: &TokenStream) -> TokenStream {
    let icon = |icon: &Expr| match string_literal(icon) {
        Some(uri) => quote!(.icon(#private::Icon::new(#uri))),
        None => quote!(.icon(#icon)),
    };
    match value {
        Expr::Array(array) => array.elems.iter().map(icon).collect(),
        single => icon(single),
    }
}

/// Returns `.meta(…, …)` for each pair of an array.
pub(crate) fn meta(value: &Expr, errors: &mut Errors) -> TokenStream {
    let message = "`meta` needs pairs: `meta = [(\"com.example/team\", \"search\")]`";
    let Expr::Array(pairs) = value else {
        errors.add_at(value, message);
        return TokenStream::new();
    };
    let mut setters = TokenStream::new();
    for pair in &pairs.elems {
        match pair {
            Expr::Tuple(pair) if pair.elems.len() == 2 => {
                let pair = &pair.elems;
                setters.extend(quote!(.meta(#pair)));
            }
            other => errors.add_at(other, message),
        }
    }
    setters
}
