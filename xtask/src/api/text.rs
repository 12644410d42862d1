//! Token formatting as people write them.

use quote::ToTokens;

/// Spaces that the token printer inserts and people do not write.
const SPACED: [&str; 16] = [
    " ,", " ;", " :: ", ":: ", " :", " (", "( ", " )", "[ ", " ]", " < ", "< ", " <", " >", "& ",
    "? ",
];
/// Places before a parenthesis that have a space, after all were removed.
const OPENED: [&str; 4] = ["->", ",", ":", "="];

/// Formats the tokens on one line.
pub(super) fn format(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for spaced in SPACED {
        text = text.replace(spaced, spaced.trim());
    }
    for before in OPENED {
        text = text.replace(&format!("{before}("), &format!("{before} ("));
    }
    let text = text.replace(",)", ")").replace(",>", ">");
    text.trim_end_matches(',').to_owned()
}
