//! Standard output and standard error: results, errors, logs and progress.

use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use mcp::types::{LogMessage, ProgressUpdate};
use serde_json::{Value, json};

use crate::failure::Failure;

const NAME: Style = Style::new().bold();
const HEADING: Style = AnsiColor::Green.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Returns to the first column and erases the line of a terminal.
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
        write_out(&value.to_string());
    }

    /// Prints text of a server.
    pub(crate) fn text(&self, text: &str) {
        write_out(&clean(text));
    }

    pub(crate) fn heading(&self, text: &str) {
        write_out(&format!("{HEADING}{}{HEADING:#}", clean(text)));
    }

    /// Prints rows of a name and a description, with aligned columns.
    pub(crate) fn rows(&self, rows: &[(String, String)]) {
        let lengths = rows.iter().map(|(name, _)| name.chars().count());
        let width = lengths.filter(|it| *it <= 40).max().unwrap_or(0);
        for (name, text) in rows {
            let fill = " ".repeat(width.saturating_sub(name.chars().count()));
            let line = text.lines().next().unwrap_or_default();
            let row = format!("  {NAME}{}{NAME:#}{fill}  {}", clean(name), clean(line));
            write_out(row.trim_end());
        }
    }

    /// Prints bytes unchanged, such as a completion script.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        // A closed pipe, as of `mcp … | head`, is no failure.
        let _ = std::io::stdout().write_all(bytes);
    }

    /// Prints a note on standard error, unless `--quiet` is set.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            anstream::eprintln!("{}", clean(text));
        }
    }

    /// Prints a question or a prompt on standard error.
    pub(crate) fn question(&self, text: &str) {
        self.erase_progress();
        anstream::eprint!("{}", clean(text));
        let _ = std::io::stderr().flush();
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        self.erase_progress();
        if self.json {
            let error = json!({
                "code": failure.kind.exit_code(),
                "kind": failure.kind.name(),
                "message": failure.to_string(),
            });
            eprintln!("{}", json!({ "error": error }));
        } else {
            anstream::eprintln!("{ERROR}error:{ERROR:#} {}", clean(&failure.to_string()));
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
        self.note(&format!("[{level}] {logger}: {text}"));
    }

    /// Replaces the progress line. Nothing is printed unless standard error is a terminal.
    pub(crate) fn progress(&self, update: &ProgressUpdate) {
        if self.terminal && !self.quiet {
            anstream::eprint!("{ERASE}{}", clean(&progress_line(update)));
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
            let bar: String = (1..=20)
                .map(|step| {
                    if f64::from(step) * 5.0 <= percent {
                        '#'
                    } else {
                        '.'
                    }
                })
                .collect();
            format!("[{bar}] {percent:>3.0} % {message}")
        }
        _ => format!("{} {message}", update.progress),
    }
}

/// Replaces control characters: a server must not move the cursor or change the title of a terminal.
pub(crate) fn clean(text: &str) -> String {
    let replace = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use mcp::types::ProgressUpdate;

    use super::{clean, progress_line};

    #[test]
    fn control_characters_of_servers_are_replaced() {
        assert_eq!(clean("a\x1b[2Jb\tc\n"), "a\u{fffd}[2Jb\tc\n");
    }

    #[test]
    fn progress_with_total_is_a_bar() {
        let line = progress_line(&ProgressUpdate::new(1.0).of(4.0));
        assert_eq!(line.trim_end(), "[#####...............]  25 %");
    }
}
