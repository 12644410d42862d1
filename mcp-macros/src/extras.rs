//! What may be said of everything that is listed: icons, and what is nobody's but the author's.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprLit, Lit};

use crate::errors::Errors;

/// `.icon(…)` for each of one or several icons: the URI as text, or an `Icon`.
pub(crate) fn icons(given: &Expr, support: &TokenStream) -> TokenStream {
    let icon = |icon: &Expr| match icon {
        Expr::Lit(ExprLit {
            lit: Lit::Str(uri), ..
        }) => quote!(.icon(#support::Icon::new(#uri))),
        other => quote!(.icon(#other)),
    };
    match given {
        Expr::Array(several) => several.elems.iter().map(icon).collect(),
        one => icon(one),
    }
}

/// `.meta(…, …)` for each pair.
pub(crate) fn meta(given: &Expr, errors: &mut Errors) -> TokenStream {
    let message = "`meta` needs pairs: `meta = [(\"com.example/team\", \"search\")]`";
    let Expr::Array(pairs) = given else {
        errors.at(given, message);
        return TokenStream::new();
    };
    let mut setters = TokenStream::new();
    for pair in &pairs.elems {
        match pair {
            Expr::Tuple(pair) if pair.elems.len() == 2 => {
                let pair = &pair.elems;
                setters.extend(quote!(.meta(#pair)));
            }
            other => errors.at(other, message),
        }
    }
    setters
}
