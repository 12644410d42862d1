//! Formatting of tokens as people write them.

use quote::ToTokens;

/// Spaces that the token printer inserts and people do not write.
const PAIRS: [(&str, &str); 23] = [
    (" ,", ","),
    (" ;", ";"),
    (" :: ", "::"),
    (":: ", "::"),
    (" :", ":"),
    (" (", "("),
    ("( ", "("),
    (" )", ")"),
    ("[ ", "["),
    (" ]", "]"),
    (" < ", "<"),
    ("< ", "<"),
    (" <", "<"),
    (" >", ">"),
    ("& ", "&"),
    ("? ", "?"),
    ("->(", "-> ("),
    (",(", ", ("),
    (":(", ": ("),
    ("&(", "&("),
    ("=(", "= ("),
    (",)", ")"),
    (",>", ">"),
];

/// Formats the tokens on one line.
pub(super) fn format(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in PAIRS {
        text = text.replace(from, to);
    }
    text.trim_end_matches(',').to_owned()
}
