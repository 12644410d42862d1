//! Lines of a text, and the error of an edit.

/// Reason for which a file cannot be edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The file has an entry of this name.
    Taken,
    /// The file is not what the host reads, or has a form that cannot be edited without a loss.
    Unreadable(String),
}

/// Returns the line ending of a text.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Appends lines to a text, after a blank line. The text then ends with a line ending if it did before.
pub(super) fn append(text: &str, lines: &[String]) -> String {
    let end = line_end(text);
    let block = lines.join(end);
    if text.is_empty() {
        format!("{block}{end}")
    } else if text.ends_with('\n') {
        format!("{text}{end}{block}{end}")
    } else {
        format!("{text}{end}{end}{block}")
    }
}

/// Removes whole lines, and the blank line and line ending that [`append`] has put before them.
pub(super) fn cut(text: &str, start: usize, end: usize) -> String {
    let (mut before, after) = (&text[..start], &text[end..]);
    let is_blank = after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n");
    if is_blank && (before.ends_with("\n\n") || before.ends_with("\n\r\n")) {
        before = without_line_end(before);
    }
    if after.is_empty() && !text.ends_with('\n') {
        before = without_line_end(before);
    }
    format!("{before}{after}")
}

pub(super) fn without_line_end(text: &str) -> &str {
    let line = text.strip_suffix('\n').unwrap_or(text);
    line.strip_suffix('\r').unwrap_or(line)
}

pub(super) fn unreadable(reason: impl ToString) -> EditError {
    EditError::Unreadable(reason.to_string())
}
