//! Tokens as people write them.

use quote::ToTokens;

/// Blanks that tokens have between them and people have not.
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

/// The tokens on one line.
pub(super) fn of(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in PAIRS {
        text = text.replace(from, to);
    }
    text.trim_end_matches(',').to_owned()
}
