//! The option `cache = "5m public"`: how long clients may cache a resource.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Expr;

use crate::options::string_literal;
use crate::task::milliseconds;

const EXPECTED: &str = "`cache` needs a time and for whom: `\"5m public\"`, `\"30s private\"` \
                        (`s`, `m`, `h` or `d`), or an expression of type `CacheHint`";

/// Returns an expression of type `CacheHint`.
///
/// # Errors
///
/// Returns an error for a malformed string literal. Other expressions are left to the compiler.
pub(crate) fn cache_hint(value: &Expr, private: &TokenStream) -> syn::Result<TokenStream> {
    let Some(text) = string_literal(value) else {
        return Ok(value.to_token_stream());
    };
    let written = text.value();
    let (milliseconds, scope) =
        parse(&written).ok_or_else(|| syn::Error::new_spanned(text, EXPECTED))?;
    let scope = format_ident!("{scope}");
    Ok(quote!(#private::CacheHint::#scope(::core::time::Duration::from_millis(#milliseconds))))
}

/// Parses a duration in milliseconds and a scope. The default scope is private.
fn parse(text: &str) -> Option<(u64, &str)> {
    let mut words = text.split_ascii_whitespace();
    let (time, scope) = (words.next()?, words.next().unwrap_or("private"));
    if !matches!(scope, "public" | "private") || words.next().is_some() {
        return None;
    }
    let units = [
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];
    Some((milliseconds(time, &units)?, scope))
}
