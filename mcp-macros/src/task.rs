//! The option `task = "after 1s"`: when a call of a tool becomes a task.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Expr;

use crate::options::string_literal;

const EXPECTED: &str = "`task` needs `\"after 1s\"` (`ms`, `s`, `m` or `h`), `\"always\"`, \
                        `\"required\"` or `\"never\"`, or an expression of type `TaskMode`";

/// Returns an expression of type `TaskMode`.
///
/// # Errors
///
/// Returns an error for a malformed string literal. Other expressions are left to the compiler.
pub(crate) fn task_mode(value: &Expr, private: &TokenStream) -> syn::Result<TokenStream> {
    let Some(text) = string_literal(value) else {
        return Ok(value.to_token_stream());
    };
    let mode = parse(&text.value()).ok_or_else(|| syn::Error::new_spanned(text, EXPECTED))?;
    Ok(match mode {
        Mode::Never => quote!(#private::TaskMode::Never),
        Mode::Always => quote!(#private::TaskMode::Always),
        Mode::Required => quote!(#private::TaskMode::Required),
        Mode::After(milliseconds) => quote!(#private::TaskMode::After(
            ::core::time::Duration::from_millis(#milliseconds)
        )),
    })
}

#[derive(Debug, PartialEq)]
enum Mode {
    Never,
    Always,
    Required,
    /// In milliseconds.
    After(u64),
}

fn parse(text: &str) -> Option<Mode> {
    let mut words = text.split_ascii_whitespace();
    let mode = match (words.next()?, words.next()) {
        ("never", None) => Mode::Never,
        ("always", None) => Mode::Always,
        ("required", None) => Mode::Required,
        // `ms` before its last letter.
        ("after", Some(time)) => Mode::After(milliseconds(
            time,
            &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)],
        )?),
        _ => return None,
    };
    words.next().is_none().then_some(mode)
}

/// Returns a duration in milliseconds. `units`: those that it may have, with their lengths.
pub(crate) fn milliseconds(time: &str, units: &[(&str, u64)]) -> Option<u64> {
    units.iter().find_map(|(unit, factor)| {
        let count: u64 = time.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(*factor)
    })
}

#[cfg(test)]
mod tests {
    use super::{Mode, parse};

    #[test]
    fn words_and_durations_are_parsed() {
        for (text, mode) in [
            ("never", Some(Mode::Never)),
            ("always", Some(Mode::Always)),
            ("required", Some(Mode::Required)),
            ("after 250ms", Some(Mode::After(250))),
            ("after 1s", Some(Mode::After(1000))),
            (" after  2m ", Some(Mode::After(120_000))),
            ("after 1h", Some(Mode::After(3_600_000))),
            ("", None),
            ("after", None),
            ("after soon", None),
            ("after 1d", None),
            ("after 1s now", None),
            ("always 1s", None),
            ("after 18446744073709551615h", None),
        ] {
            assert_eq!(parse(text), mode, "{text}");
        }
    }
}
