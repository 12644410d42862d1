//! The option `cache = "5m public"`: how long clients may cache a resource.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Expr;

use crate::options::string_literal;

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
    let (seconds, scope) =
        parse(&written).ok_or_else(|| syn::Error::new_spanned(text, EXPECTED))?;
    let scope = format_ident!("{scope}");
    Ok(quote!(#private::CacheHint::#scope(::core::time::Duration::from_secs(#seconds))))
}

/// Parses a duration in seconds and a scope. The default scope is private.
fn parse(text: &str) -> Option<(u64, &str)> {
    let mut words = text.split_ascii_whitespace();
    let (time, scope) = (words.next()?, words.next().unwrap_or("private"));
    if !matches!(scope, "public" | "private") || words.next().is_some() {
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
