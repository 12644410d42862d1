//! Escaped text from a peer, for logs, terminals and error messages.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes text of a peer so that it stays on one line and shows every character: `\n` for a line
/// break, `\u{1b}` for ESC.
///
/// Escaped are control characters (C0 with line breaks and tabs, DEL, C1), the line and paragraph
/// separators, characters that change the direction of text, and characters without a width. All other
/// text is unchanged, backslashes included, so that escaping twice changes nothing.
///
/// Use it for every text of a peer in a log line, a terminal or a message. [`escape_block`] keeps line
/// breaks.
///
/// # Examples
///
/// ```
/// let hostile = "done\n2026-07-28 INFO paid\u{1b}[2K\u{202e}";
/// assert_eq!(
///     mcp::types::escape_line(hostile),
///     r"done\n2026-07-28 INFO paid\u{1b}[2K\u{202e}"
/// );
/// ```
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// Escapes text of a peer like [`escape_line`], and keeps line breaks (LF) and tabs: for text that is
/// shown as a block of lines.
///
/// A line of the block can imitate a log line. Use [`escape_line`] where lines have a meaning.
///
/// # Examples
///
/// ```
/// let text = mcp::types::escape_block("a\n\tb\r\u{200b}");
/// assert_eq!(text, "a\n\tb\\r\\u{200b}");
/// ```
pub fn escape_block(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes the characters of JSON text that [`escape_line`] escapes, as `\uXXXX` in its strings, so that the
/// value stays the same. Line breaks and tabs between two tokens stay, CR becomes a space.
///
/// # Examples
///
/// ```
/// let json = mcp::types::escape_json("{\"name\": \"a\u{202e}b\"}");
/// assert_eq!(json, r#"{"name": "a\u202eb"}"#);
/// ```
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if matches!(escape_block(json), Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            // Strings have no control characters below U+0020: this is white space between two tokens.
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            hidden if is_hidden(hidden) => {
                for unit in hidden.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            shown => out.push(shown),
        }
    }
    Cow::Owned(out)
}

/// Returns the start of a text: at most `max` bytes, and whole characters.
pub fn truncate(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Cuts a text after `max` characters, and appends `…` where something is missing.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else {
        return Cow::Borrowed(text);
    };
    let (plain, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(plain);
    for c in rest.chars() {
        if is_escaped(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns true for characters that a reader does not see, or that change how other text is shown.
fn is_hidden(c: char) -> bool {
    let is_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
    let has_no_width = matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || is_direction || is_separator || has_no_width
}

#[cfg(test)]
mod tests {
    //! One character of each kind, and text that stays as it is.

    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::{escape_block, escape_json, escape_line, shorten, truncate};

    #[test]
    fn hidden_characters_are_escaped() {
        for (c, escaped) in [
            ('\n', r"\n"),
            ('\r', r"\r"),
            ('\t', r"\t"),
            ('\0', r"\u{0}"),
            ('\u{8}', r"\u{8}"),
            ('\u{1b}', r"\u{1b}"),
            ('\u{7f}', r"\u{7f}"),
            ('\u{85}', r"\u{85}"),
            ('\u{9b}', r"\u{9b}"),
            ('\u{61c}', r"\u{61c}"),
            ('\u{200b}', r"\u{200b}"),
            ('\u{200d}', r"\u{200d}"),
            ('\u{200f}', r"\u{200f}"),
            ('\u{2028}', r"\u{2028}"),
            ('\u{202e}', r"\u{202e}"),
            ('\u{2060}', r"\u{2060}"),
            ('\u{2066}', r"\u{2066}"),
            ('\u{feff}', r"\u{feff}"),
            ('\u{e0041}', r"\u{e0041}"),
        ] {
            let text = format!("ä{c}b{c}");
            let line = format!("ä{escaped}b{escaped}");
            assert_eq!(escape_line(&text), line);
            assert_eq!(escape_line(&line), line, "twice");
            let block = if matches!(c, '\n' | '\t') {
                text.clone()
            } else {
                line
            };
            assert_eq!(escape_block(&text), block);
        }
    }

    #[test]
    fn long_text_is_cut_between_two_characters() {
        assert_eq!(
            [1, 2, 3, 9].map(|max| truncate("aéb", max)),
            ["a", "a", "aé", "aéb"]
        );
        assert_eq!(
            [0, 2, 3].map(|max| shorten("aéb", max)),
            ["…", "aé…", "aéb"]
        );
    }

    #[test]
    fn visible_text_is_borrowed() {
        for text in ["", "C:\\temp \"x\" {}", "日本語 Ελληνικά עברית 🦀 é"] {
            assert!(matches!(escape_line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn escaped_json_has_the_same_value_and_no_hidden_character() {
        let hidden = "a\n\r\t\u{1b}\u{7f}\u{9b}\u{200b}\u{202e}\u{2028}\u{e0041}é";
        let value = json!({ hidden: [hidden] });
        let pretty = format!("{value:#}");
        for json in [
            value.to_string(),
            pretty.clone(),
            pretty.replace('\n', "\r\n"),
        ] {
            let escaped = escape_json(&json);
            let is_shown = |c: char| matches!(c, '\n' | ' '..='~' | 'é');
            assert!(escaped.chars().all(is_shown), "{escaped}");
            let parsed: Value = serde_json::from_str(&escaped).unwrap();
            assert_eq!(parsed, value);
            assert!(matches!(escape_json(&escaped), Cow::Borrowed(_)), "twice");
        }
    }
}
