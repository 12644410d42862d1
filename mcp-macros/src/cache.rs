//! `cache = "5m public"`: how long clients may keep what they read.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit};

const EXPECTED: &str = "`cache` needs a time and for whom: `\"5m public\"`, `\"30s private\"` \
                        (`s`, `m`, `h` or `d`), or an expression of type `CacheHint`";

/// The hint as an expression.
///
/// # Errors
///
/// The text says no time.
pub(crate) fn hint(given: &Expr, support: &TokenStream) -> syn::Result<TokenStream> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = given
    else {
        return Ok(given.to_token_stream());
    };
    let (seconds, scope) =
        parse(&text.value()).ok_or_else(|| syn::Error::new_spanned(text, EXPECTED))?;
    let scope = match scope {
        Scope::Public => quote!(public),
        Scope::Private => quote!(private),
    };
    Ok(quote!(#support::CacheHint::#scope(::core::time::Duration::from_secs(#seconds))))
}

enum Scope {
    Public,
    Private,
}

/// Without a scope it is the narrow one.
fn parse(text: &str) -> Option<(u64, Scope)> {
    let mut words = text.split_ascii_whitespace();
    let time = words.next()?;
    let scope = match words.next() {
        Some("public") => Scope::Public,
        Some("private") | None => Scope::Private,
        Some(_) => return None,
    };
    if words.next().is_some() {
        return None;
    }
    let unit = time.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = time.strip_suffix(unit)?.parse().ok()?;
    Some((count.checked_mul(seconds)?, scope))
}
