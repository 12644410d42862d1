//! Lines of a text, and the error of an edit.

use std::ops::Range;

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
    cut_all(text, std::slice::from_ref(&(start..end)))
}

/// Removes lines at several places, as [`cut`] does from the last one to the first.
pub(super) fn cut_all(text: &str, places: &[Range<usize>]) -> String {
    // From the last part to the first.
    let mut kept: Vec<&str> = Vec::new();
    let mut end = text.len();
    for place in places.iter().rev() {
        // Empty if two places follow each other.
        let between = text.get(place.end..end).unwrap_or_default();
        kept.extend((!between.is_empty()).then_some(between));
        let mut before = &text[..place.start];
        let is_blank = kept
            .last()
            .is_none_or(|after| after.starts_with('\n') || after.starts_with("\r\n"));
        if is_blank && (before.ends_with("\n\n") || before.ends_with("\n\r\n")) {
            before = without_line_end(before);
        }
        if kept.is_empty() && !text.ends_with('\n') {
            before = without_line_end(before);
        }
        end = before.len();
    }
    kept.push(&text[..end]);
    kept.into_iter().rev().collect()
}

pub(super) fn without_line_end(text: &str) -> &str {
    let line = text.strip_suffix('\n').unwrap_or(text);
    line.strip_suffix('\r').unwrap_or(line)
}

pub(super) fn unreadable(reason: impl ToString) -> EditError {
    EditError::Unreadable(reason.to_string())
}
