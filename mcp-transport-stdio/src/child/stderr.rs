//! A server's standard error. A task reads all of it, so that the server never blocks on a full pipe, and
//! keeps the last lines.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_types::escaped;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::lines::{Line, Lines};

/// Maximum length of a line in bytes. Only the start of a longer line is kept.
const MAX_LINE: usize = 4 * 1024;
/// Maximum number of kept lines.
const MAX_LINES: usize = 20;
/// Maximum size of the kept lines in bytes, with a line feed for each.
const MAX_BYTES: usize = 8 * 1024;
/// Maximum time to wait for unread lines after the server has ended or has reported an error.
const READ_TIMEOUT: Duration = Duration::from_millis(200);
/// Pause after which the lines of a running server count as complete.
const IDLE: Duration = Duration::from_millis(50);

/// Standard error of one server process. Clones share it. Readers are notified after each line.
#[derive(Debug, Clone, Default)]
pub(super) struct StderrCapture(Arc<watch::Sender<Tail>>);

/// The last lines: at most 20 lines and 8 KiB.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    has_ended: bool,
}

impl Tail {
    fn push(&mut self, line: String) {
        let lines = &mut self.lines;
        lines.push_back(line);
        let mut bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
        while lines.len() > MAX_LINES || bytes > MAX_BYTES {
            bytes -= lines.pop_front().map_or(bytes, |oldest| oldest.len() + 1);
        }
    }
}

impl StderrCapture {
    /// Returns the last lines of a process that has ended. Waits up to [`READ_TIMEOUT`] for unread lines.
    pub(super) async fn final_text(&self) -> String {
        let mut tail = self.0.subscribe();
        let _ = timeout(READ_TIMEOUT, tail.wait_for(|tail| tail.has_ended)).await;
        self.text()
    }

    /// Returns the last lines that a running process writes before it pauses for [`IDLE`]. Waits up to
    /// [`READ_TIMEOUT`] for the pause.
    pub(super) async fn settled_text(&self) -> String {
        let mut lines = self.0.subscribe();
        let settled = async { while let Ok(Ok(())) = timeout(IDLE, lines.changed()).await {} };
        let _ = timeout(READ_TIMEOUT, settled).await;
        self.text()
    }

    /// Returns the last lines so far, separated by line feeds.
    pub(super) fn text(&self) -> String {
        let tail = self.0.borrow();
        let lines: Vec<_> = tail.lines.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}

/// Reads standard error to its end.
pub(super) async fn read(mut from: impl AsyncRead + Unpin, capture: StderrCapture, peer: String) {
    let mut lines = Lines::new(MAX_LINE);
    loop {
        lines.buffer().reserve(MAX_LINE);
        let read = from.read_buf(lines.buffer()).await;
        let is_end = !matches!(read, Ok(count) if count > 0);
        while let Some(line) = lines.next_line() {
            record(line, &capture, &peer);
        }
        if is_end {
            break;
        }
    }
    if let Some(line) = lines.finish() {
        record(line, &capture, &peer);
    }
    capture.0.send_modify(|tail| tail.has_ended = true);
}

fn record(line: Line, capture: &StderrCapture, peer: &str) {
    let text = match &line {
        Line::Text(text) | Line::TooLong(text) => String::from_utf8_lossy(text),
    };
    tracing::debug!(target: "mcp::server_stderr", peer, "{}", escaped(&text));
    let mut text = text.into_owned();
    // An invalid byte has become a replacement character of three bytes.
    while text.len() > MAX_LINE {
        text.pop();
    }
    capture.0.send_modify(|tail| tail.push(text));
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::io::{AsyncWriteExt, duplex};
    use tokio::time::sleep;
    use tracing_subscriber::filter::LevelFilter;

    use super::{IDLE, MAX_BYTES, MAX_LINE, MAX_LINES, StderrCapture, read};

    /// A log in memory.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn logged_line_shows_every_character() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::DEBUG)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        let _guard = tracing::subscriber::set_default(subscriber);
        let hostile = b"a\rb\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xff\n";
        let capture = StderrCapture::default();
        read(&hostile[..], capture, String::new()).await;
        let logged = String::from_utf8(log.0.lock().clone()).unwrap();
        let expected = r"a\rb\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{200b}";
        assert!(logged.contains(expected), "{logged:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn settled_text_waits_for_lines_that_come_late() {
        let capture = StderrCapture::default();
        let (mut server, from) = duplex(64);
        tokio::spawn(read(from, capture.clone(), String::new()));
        let write = async {
            for line in ["one\n", "two\n", "three\n"] {
                sleep(IDLE / 2).await;
                server.write_all(line.as_bytes()).await.unwrap();
            }
            sleep(IDLE * 2).await;
            server.write_all(b"late\n").await.unwrap();
        };
        let (text, ()) = tokio::join!(capture.settled_text(), write);
        assert_eq!(text, "one\ntwo\nthree");
    }

    #[tokio::test]
    async fn last_lines_are_kept_from_a_long_stderr() {
        let capture = StderrCapture::default();
        let mut text = "x".repeat(100_000);
        for number in 0..1000 {
            text += &format!("\nline {number}");
        }
        read(text.as_bytes(), capture.clone(), String::new()).await;
        let kept = capture.final_text().await;
        assert_eq!(kept.lines().count(), MAX_LINES);
        assert!(
            kept.starts_with("line 980\n") && kept.ends_with("\nline 999"),
            "{kept}"
        );
        let long = "y".repeat(3000);
        read(
            [&*long, &long, &long, "last"].join("\n").as_bytes(),
            capture.clone(),
            String::new(),
        )
        .await;
        let kept = capture.text();
        assert!(kept.len() <= MAX_BYTES && kept.ends_with("\nlast"));
    }

    #[tokio::test]
    async fn invalid_bytes_do_not_exceed_the_limit() {
        let capture = StderrCapture::default();
        let invalid = [b'\xff'; MAX_LINE];
        read(&invalid[..], capture.clone(), String::new()).await;
        let kept = capture.final_text().await;
        assert!(kept.starts_with('\u{fffd}') && kept.len() <= MAX_LINE);
        let capture = StderrCapture::default();
        let full = [[b'y'; MAX_LINE]; 2].join(&b'\n');
        read(&full[..], capture.clone(), String::new()).await;
        assert!(capture.final_text().await.len() <= MAX_BYTES);
    }
}
