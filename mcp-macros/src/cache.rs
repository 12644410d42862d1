//! The option `cache = "5m public"`: how long clients may cache a resource.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit};

const EXPECTED: &str = "`cache` needs a time and for whom: `\"5m public\"`, `\"30s private\"` \
                        (`s`, `m`, `h` or `d`), or an expression of type `CacheHint`";

/// Returns an expression of type `CacheHint`.
///
/// # Errors
///
/// Returns an error for a malformed string literal. Other expressions are left to the compiler.
pub(crate) fn cache_hint(value: &Expr, private: &TokenStream) -> syn::Result<TokenStream> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        return Ok(value.to_token_stream());
    };
    let (seconds, scope) =
        parse(&text.value()).ok_or_else(|| syn::Error::new_spanned(text, EXPECTED))?;
    let scope = match scope {
        Scope::Public => quote!(public),
        Scope::Private => quote!(private),
    };
    Ok(quote!(#private::CacheHint::#scope(::core::time::Duration::from_secs(#seconds))))
}

enum Scope {
    Public,
    Private,
}

/// Parses a duration in seconds and a scope. The default scope is private.
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
