//! Escaped text from a peer, for logs, terminals and error messages.

mod properties;

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use self::properties::{DEFAULT_IGNORABLE, EMOJI};

/// Escapes text of a peer so that it stays on one line and shows every character: `\n` for a line
/// break, `\u{1b}` for ESC.
///
/// Escaped are control characters (C0 with line breaks and tabs, DEL, C1), the line and paragraph
/// separators, U+2800 (a blank pattern), interlinear annotations, and every character with the Unicode
/// property Default_Ignorable_Code_Point: characters without a width, variation selectors, tags, and
/// those that change the direction of text. One variation selector U+FE0E or U+FE0F directly after an
/// emoji stays, and so does one between the base of a keycap and U+20E3. All other text is unchanged,
/// backslashes included, so that escaping twice changes nothing.
///
/// Use it for every text of a peer in a terminal or a message, and [`escaped`] for a field of a log
/// event. [`escape_block`] keeps line breaks.
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
    escape(text, |_| false)
}

/// Displays a value like [`escape_line`]: for the fields of log events, whose values may contain text of a
/// peer. The value is formatted only if the event is written.
///
/// # Examples
///
/// ```
/// let error = std::io::Error::other("no\nINFO paid");
/// assert_eq!(mcp::types::escaped(&error).to_string(), r"no\nINFO paid");
/// ```
pub fn escaped(value: impl Display) -> impl Display {
    struct Escaped<T>(T);
    impl<T: Display> Display for Escaped<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&escape_line(&self.0.to_string()))
        }
    }
    Escaped(value)
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
    escape(text, |c| matches!(c, '\n' | '\t'))
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
    // A digit may be the end of an escape, such as `\u0000`, so it is not the base of a keycap here.
    let is_escaped = |(before, c, after): Neighbors| {
        is_hidden((before.filter(|before| !before.is_ascii()), c, after))
            && !matches!(c, '\n' | '\t')
    };
    if !with_neighbors(json).any(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for (before, c, after) in with_neighbors(json) {
        match c {
            // Strings have no control characters below U+0020: this is white space between two tokens.
            '\r' => out.push(' '),
            hidden if is_escaped((before, hidden, after)) => {
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
///
/// # Examples
///
/// ```
/// assert_eq!(mcp::types::truncate("café", 4), "caf");
/// ```
pub fn truncate(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Cuts a text after `max` characters, and appends `…` where something is missing: for messages that quote a peer.
/// Escape what remains with [`escape_line`].
///
/// # Examples
///
/// ```
/// assert_eq!(mcp::types::shorten("café au lait", 4), "café…");
/// assert_eq!(mcp::types::shorten("café", 4), "café");
/// ```
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Escapes what is hidden, except for the characters that `is_kept` names.
fn escape(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |neighbors: Neighbors| is_hidden(neighbors) && !is_kept(neighbors.1);
    if !with_neighbors(text).any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for neighbors in with_neighbors(text) {
        if is_escaped(neighbors) {
            out.extend(neighbors.1.escape_default());
        } else {
            out.push(neighbors.1);
        }
    }
    Cow::Owned(out)
}

/// A character between the one before it and the one after it.
type Neighbors = (Option<char>, char, Option<char>);

fn with_neighbors(text: &str) -> impl Iterator<Item = Neighbors> {
    let after = text.chars().skip(1).map(Some).chain([None]);
    let mut before = None;
    text.chars()
        .zip(after)
        .map(move |(c, after)| (before.replace(c), c, after))
}

/// Returns true for characters that a reader does not see, or that change how other text is shown.
fn is_hidden((before, c, after): Neighbors) -> bool {
    match c {
        ' '..='~' => false,
        '\u{fe0e}' | '\u{fe0f}' => match before {
            // A digit looks the same with a selector, unless a keycap is drawn around it.
            Some('0'..='9' | '#' | '*') => after != Some('\u{20e3}'),
            before => !before.is_some_and(|before| contains(&EMOJI, before)),
        },
        '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' => true,
        c => c.is_control() || contains(&DEFAULT_IGNORABLE, c),
    }
}

/// Searches a list of characters at which a property alternately begins and ends.
fn contains(boundaries: &[u32], c: char) -> bool {
    let position = boundaries.partition_point(|&boundary| boundary <= u32::from(c));
    position % 2 == 1
}

#[cfg(test)]
mod tests;
