//! Descriptions as doc comments. The text comes from a server, so nothing in it may become code, a test,
//! a link or HTML.

use mcp_types::{escape_line, shorten};

/// Most characters of a description.
const MAX_CHARS: usize = 4_000;

/// Returns the lines of a doc comment.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let short = shorten(text, MAX_CHARS).replace("\r\n", "\n");
    let lines = short.split(['\n', '\r', '\u{2028}', '\u{2029}']);
    let mut lines: Vec<String> = lines.map(line).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
    lines
}

/// Returns text in one line, such as a JSON value, as a part of a sentence.
pub(crate) fn inline(text: &str) -> String {
    line(&text.replace(['\n', '\r'], " "))
}

/// Escapes one line. White space is reduced to single spaces, so that no part of it is an indented code
/// block.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in escape_line(word).chars() {
            match c {
                '[' | ']' | '<' | '>' | '\\' => {
                    out.push('\\');
                    out.push(c);
                }
                '`' => out.push('\''),
                '~' => out.push_str("\\~"),
                c => out.push(c),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn description_cannot_become_code() {
        let hostile = "*/ fn main() {}\n```\npanic!()\n```\n~~~\nx\n~~~\n\n    indented()\n-      item\r///a\u{202e}b\u{200b} <script> [link](x) `y`\n";
        assert_eq!(
            lines(hostile),
            [
                "*/ fn main() {}",
                "'''",
                "panic!()",
                "'''",
                "\\~\\~\\~",
                "x",
                "\\~\\~\\~",
                "",
                "indented()",
                "- item",
                "///a\\\\u{202e}b\\\\u{200b} \\<script\\> \\[link\\](x) 'y'",
            ]
        );
    }

    #[test]
    fn description_has_a_limit() {
        assert_eq!(lines(&"ä".repeat(9_000))[0].chars().count(), 4_001);
    }
}
