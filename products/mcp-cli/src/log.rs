//! The log of serving commands: warnings, and an event for each gateway call.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use mcp::types::{escape_json, escape_line};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::{Failure, usage};
use crate::written;

/// Event target of gateway calls.
const AUDIT: &str = "mcp_gateway::audit";
/// Event target of items that a gateway cannot serve.
const LEFT_OUT: &str = "mcp_gateway::left_out";
/// Event target of the lines that servers write to standard error.
const SERVER_STDERR: &str = "mcp::server_stderr";

/// Writes warnings to standard error, and each call of a gateway as one line of JSON to `audit`: a file that lines are
/// appended to, or `-` for standard error.
///
/// # Errors
///
/// Returns a [`Failure`] if the file cannot be opened.
pub(crate) fn start(audit: Option<&Path>) -> Result<(), Failure> {
    let warnings = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target(AUDIT, LevelFilter::OFF);
    let log = layer()
        .with_ansi(false)
        .with_writer(LogWriter::new(None, escape_line))
        .with_filter(warnings);
    let audit = match audit {
        Some(path) => {
            let writer = LogWriter::new(open(path)?, escape_json);
            let calls = Targets::new().with_target(AUDIT, LevelFilter::INFO);
            let lines = layer().json().flatten_event(true);
            let lines = lines.with_target(false).with_level(false);
            Some(lines.with_writer(writer).with_filter(calls))
        }
        None => None,
    };
    // Another subscriber is set in tests only.
    let _ = tracing_subscriber::registry()
        .with(log)
        .with(audit)
        .try_init();
    Ok(())
}

/// Writes warnings, and the lines that a server writes to standard error: as text in the form of `line`, or not at all
/// where that is empty. The gateway's warnings about a server that ends or changes are left out: the command reports them
/// itself.
pub(crate) fn start_dev(json: bool, line: impl Fn(&str) -> Cow<'_, str> + Send + Sync + 'static) {
    let events = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("mcp_gateway", LevelFilter::OFF)
        .with_target(LEFT_OUT, LevelFilter::WARN);
    let registry = tracing_subscriber::registry();
    // Another subscriber is set in tests only.
    let _ = if json {
        let writer = LogWriter::new(None, escape_json);
        let lines = layer().json().flatten_event(true).with_writer(writer);
        let events = events.with_target(SERVER_STDERR, LevelFilter::DEBUG);
        registry.with(lines.with_filter(events)).try_init()
    } else {
        let message = debug_fn(|writer, field, value| match field.name() {
            "message" => write!(writer, "{value:?}"),
            _ => Ok(()),
        });
        let lines = layer()
            .with_ansi(false)
            .without_time()
            .with_level(false)
            .with_target(false)
            .fmt_fields(message)
            .with_writer(LogWriter::new(None, line))
            .with_filter(Targets::new().with_target(SERVER_STDERR, LevelFilter::DEBUG));
        let warnings = LogWriter::new(None, escape_line);
        let warnings = layer()
            .with_ansi(false)
            .with_writer(warnings)
            .with_filter(events.with_target(SERVER_STDERR, LevelFilter::OFF));
        registry.with(lines).with(warnings).try_init()
    };
}

/// Opens a file that only the user can read. `None`: standard error.
fn open(path: &Path) -> Result<Option<File>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = written::destination(path).and_then(|path| options.open(path));
    let path = path.display();
    opened
        .map(Some)
        .map_err(|error| usage!("--audit: cannot write {path}: {error}"))
}

/// An event destination, one line each. A server's text in an event is escaped: it cannot begin a line, and has no
/// control characters.
struct LogWriter<F> {
    /// `None`: standard error.
    file: Option<File>,
    escape: F,
}

impl<F: Fn(&str) -> Cow<'_, str>> LogWriter<F> {
    fn new(file: Option<File>, escape: F) -> Self {
        Self { file, escape }
    }
}

impl<'a, F: Fn(&str) -> Cow<'_, str> + 'static> MakeWriter<'a> for LogWriter<F> {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

/// Each call writes one event: the formatter writes an event as a whole.
impl<F: Fn(&str) -> Cow<'_, str>> Write for &LogWriter<F> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = (self.escape)(text.strip_suffix('\n').unwrap_or(&text));
        if line.is_empty() {
            return Ok(event.len());
        }
        let mut line = line.into_owned();
        line.push('\n');
        match &self.file {
            Some(file) => (&mut &*file).write_all(line.as_bytes())?,
            None => io::stderr().write_all(line.as_bytes())?,
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;

    use mcp::types::{escape_json, escape_line};
    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::LogWriter;

    const HOSTILE: &str =
        "a\n2026-01-01T00:00:00Z  WARN forged\r\u{1b}[2J\u{7f}\u{9b}\u{200b}\u{202e}";

    fn file(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mcp-log-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    fn log() {
        tracing::warn!(error = %HOSTILE, item = HOSTILE, "{HOSTILE}");
        tracing::warn!("second");
    }

    #[test]
    fn event_is_one_line_without_hidden_characters() {
        let path = file("text");
        let writer = LogWriter::new(Some(File::create(&path).unwrap()), escape_line);
        let layer = layer().with_ansi(false).with_writer(writer);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.len() == 2 && lines[1].ends_with("second"), "{text:?}");
        assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text:?}");
        assert!(lines[0].contains(r"a\n2026"), "{text:?}");
    }

    #[test]
    fn json_event_has_the_text_from_the_server() {
        let path = file("json");
        let writer = LogWriter::new(Some(File::create(&path).unwrap()), escape_json);
        let layer = layer().json().flatten_event(true).with_writer(writer);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.is_ascii() && text.lines().count() == 2, "{text:?}");
        let event: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(event["item"], HOSTILE);
        assert_eq!(event["error"], HOSTILE);
    }
}
