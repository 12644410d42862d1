//! JSON with comments and trailing commas.

/// Replaces comments and trailing commas by spaces, so that positions in error messages stay
/// correct.
pub(super) fn to_plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (piece, kept) = if first == '"' {
            (string(rest), true)
        } else if rest.starts_with("//") {
            (&rest[..rest.find('\n').unwrap_or(rest.len())], false)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").map_or(rest.len(), |end| end + 4);
            (&rest[..end], false)
        } else {
            (&rest[..first.len_utf8()], true)
        };
        if kept {
            if matches!(first, '}' | ']') {
                drop_comma(&mut out);
            }
            out.push_str(piece);
        } else {
            out.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' }));
        }
        rest = &rest[piece.len()..];
    }
    out
}

/// Returns the string literal at the start of `text`, including its quotes.
fn string(text: &str) -> &str {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return &text[..=at],
            _ => {}
        }
    }
    text
}

/// Replaces a comma at the end of `out` by a space.
fn drop_comma(out: &mut String) {
    let end = out.trim_end().len();
    if out[..end].ends_with(',') {
        out.replace_range(end - 1..end, " ");
    }
}

#[cfg(test)]
mod tests {
    use super::to_plain_json;

    #[test]
    fn to_plain_json_blanks_comments_and_trailing_commas() {
        for (text, expected) in [
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("{\"a\": 1, // one\n}", "{\"a\": 1        \n}"),
            ("[1, /* a\nb */ 2,]", "[1,     \n     2 ]"),
            (r#"{"u": "http://a/*b*/,}"}"#, r#"{"u": "http://a/*b*/,}"}"#),
            (r#"{"q": "\"//\\"}"#, r#"{"q": "\"//\\"}"#),
            ("[1 /*/ a */]", "[1         ]"),
            ("[1] /* open", "[1]        "),
            ("\"open", "\"open"),
            ("é,}", "é }"),
        ] {
            assert_eq!(to_plain_json(text), expected);
        }
    }
}
