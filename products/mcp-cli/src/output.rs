//! Standard output and standard error: results, errors, logs and progress.
//!
//! Servers' text is escaped here, where it is written, and in the writer of `log.rs`: escaping at each use
//! misses places. JSON is escaped as `\uXXXX`, so that its value stays.

use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use mcp::Change;
use mcp::types::{LogMessage, ProgressUpdate, escape_block, escape_json, escape_line};
use serde_json::{Value, json};

use crate::failure::Failure;

const NAME: Style = Style::new().bold();
const HEADING: Style = AnsiColor::Green.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Returns to the first column and erases a terminal's line.
const ERASE: &str = "\r\x1b[K";

/// The format of what the command prints. Results go to standard output, all else to standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Print one JSON document instead of text.
    pub(crate) json: bool,
    quiet: bool,
    /// Standard error is a terminal.
    terminal: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self {
            json,
            quiet,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Prints a JSON document on one line.
    pub(crate) fn document(&self, value: &Value) {
        write_out(&escape_json(&value.to_string()));
    }

    /// Prints a JSON document with the line breaks that it has.
    pub(crate) fn json_text(&self, json: &str) {
        write_out(escape_json(json).trim_end());
    }

    /// Prints contents of a server with their line breaks.
    pub(crate) fn text(&self, text: &str) {
        write_out(&escape_block(&text.replace("\r\n", "\n")));
    }

    /// Prints one line. Parts of it can be text of a server.
    pub(crate) fn line(&self, line: &str) {
        write_out(&escape_line(line));
    }

    /// Prints a result: as a JSON document, or as one line.
    pub(crate) fn answer(&self, document: &Value, line: &str) {
        if self.json {
            self.document(document)
        } else {
            self.line(line)
        }
    }

    pub(crate) fn heading(&self, text: &str) {
        write_out(&format!("{HEADING}{}{HEADING:#}", escape_line(text)));
    }

    /// Prints a heading and its rows, or nothing without rows.
    pub(crate) fn section<N: AsRef<str>, T: AsRef<str>>(
        &self,
        title: &str,
        rows: impl IntoIterator<Item = (N, T)>,
    ) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_some() {
            self.heading(title);
            self.rows(rows);
        }
    }

    /// Prints rows of a name and a description, with aligned columns.
    pub(crate) fn rows<N: AsRef<str>, T: AsRef<str>>(
        &self,
        rows: impl IntoIterator<Item = (N, T)>,
    ) {
        let rows = rows.into_iter().map(|(name, text)| {
            let text = text.as_ref().lines().next().unwrap_or_default();
            let name = escape_line(name.as_ref()).into_owned();
            (name, escape_line(text).into_owned())
        });
        let rows: Vec<_> = rows.collect();
        let lengths = rows.iter().map(|(name, _)| name.chars().count());
        let width = lengths.filter(|length| *length <= 40).max().unwrap_or(0);
        for (name, text) in &rows {
            let fill = " ".repeat(width.saturating_sub(name.chars().count()));
            let row = format!("  {NAME}{name}{NAME:#}{fill}  {text}");
            write_out(row.trim_end());
        }
    }

    /// Prints bytes of a server unchanged, unless standard output is a terminal.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        if std::io::stdout().is_terminal() {
            let count = bytes.len();
            self.note(&format!(
                "{count} bytes that are not text; redirect standard output to a file"
            ));
        } else {
            self.raw(bytes);
        }
    }

    /// Prints bytes of this program unchanged, such as a completion script.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        // `mcp … | head` closes the pipe; that is not a failure.
        let _ = std::io::stdout().write_all(bytes);
    }

    /// Prints a note on standard error, unless `--quiet` is set.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            status(text);
        }
    }

    /// Prints an event of a command that serves on standard error, also with `--quiet`: as text, or as a JSON line.
    pub(crate) fn event(&self, text: &str, event: &Value) {
        if self.json {
            eprintln!("{}", escape_json(&event.to_string()));
        } else {
            status(text);
        }
    }

    /// Prints an event that `--quiet` hides, unless it is a JSON line.
    pub(crate) fn step(&self, text: &str, event: &Value) {
        if self.json || !self.quiet {
            self.event(text, event);
        }
    }

    /// Prints a question or a prompt on standard error. Text of a server in it is one line already: see
    /// [`escape_line`].
    pub(crate) fn question(&self, text: &str) {
        self.erase_progress();
        anstream::eprint!("{}", escape_block(text));
        let _ = std::io::stderr().flush();
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        self.erase_progress();
        if self.json {
            let error = json!({
                "code": failure.kind.exit_code(),
                "kind": failure.kind,
                "message": failure.to_string(),
            });
            let line = json!({ "error": error }).to_string();
            eprintln!("{}", escape_json(&line));
        } else {
            let text = indent(&failure.to_string());
            anstream::eprintln!("{ERROR}error:{ERROR:#} {text}");
        }
    }

    pub(crate) fn log(&self, message: &LogMessage) {
        self.erase_progress();
        let text = match &message.data {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let logger = message.logger.as_deref().unwrap_or("server");
        let level = serde_json::to_value(message.level).unwrap_or_default();
        let level = level.as_str().unwrap_or_default();
        self.note(&escape_line(&format!("[{level}] {logger}: {text}")));
    }

    /// Replaces the progress line. Nothing is printed unless standard error is a terminal.
    pub(crate) fn progress(&self, update: &ProgressUpdate) {
        if self.terminal && !self.quiet {
            anstream::eprint!("{ERASE}{}", escape_line(&progress_line(update)));
            let _ = std::io::stderr().flush();
        }
    }

    pub(crate) fn erase_progress(&self) {
        if self.terminal && !self.quiet {
            anstream::eprint!("{ERASE}");
        }
    }
}

fn write_out(line: &str) {
    let _ = writeln!(anstream::stdout(), "{line}");
}

fn progress_line(update: &ProgressUpdate) -> String {
    let message = update.message.as_deref().unwrap_or_default();
    let message: String = message.chars().take(50).collect();
    match update.total {
        Some(total) if total > 0.0 => {
            let percent = (update.progress / total * 100.0).clamp(0.0, 100.0);
            let filled = (1..=20).filter(|step| f64::from(*step) * 5.0 <= percent);
            let bar = "#".repeat(filled.count());
            format!("[{bar:.<20}] {percent:>3.0} % {message}")
        }
        _ => format!("{} {message}", update.progress),
    }
}

/// Returns the kind of a change, and the URI of its resource.
pub(crate) fn describe_change(change: &Change) -> (&str, Option<&str>) {
    match change {
        Change::Tools => ("tools", None),
        Change::Prompts => ("prompts", None),
        Change::Resources => ("resources", None),
        Change::Resource { uri } => ("resource", Some(uri)),
        Change::Missed(_) => ("missed", None),
        Change::Other { method, .. } => (method, None),
        _ => ("other", None),
    }
}

/// Prints a message on standard error, also with `--quiet`.
pub(crate) fn status(text: &str) {
    anstream::eprintln!("{}", indent(text));
}

/// Escapes a message that has text of a server. Further lines begin with white space: a server cannot print a line that
/// looks like one of this program.
fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.starts_with(' ') {
                out.push_str("  ");
            }
        }
        out.push_str(&escape_line(line));
    }
    out
}

#[cfg(test)]
mod tests {
    use mcp::types::ProgressUpdate;

    use super::{indent, progress_line};

    #[test]
    fn further_lines_in_a_message_are_indented() {
        let text = "a\n  b\nerror: c\r\n\u{1b}[2J\u{202e}";
        assert_eq!(indent(text), "a\n  b\n  error: c\\r\n  \\u{1b}[2J\\u{202e}");
    }

    #[test]
    fn progress_with_total_is_a_bar() {
        let line = progress_line(&ProgressUpdate::new(1.0).of(4.0));
        assert_eq!(line.trim_end(), "[#####...............]  25 %");
    }
}
