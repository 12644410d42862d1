//! Standard error of a server. It is read to its end, so that the server never blocks on it, and the
//! last lines are kept.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::lines::{Line, Lines};
use mcp_types::escape_line;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// Longest line in bytes. Longer lines are cut.
const MAX_LINE: usize = 4 * 1024;
/// Number of kept lines.
const MAX_LINES: usize = 20;
/// Bytes of kept lines.
const MAX_BYTES: usize = 8 * 1024;
/// Time to read the rest of standard error after the server has ended or has reported an error.
const READ_TIMEOUT: Duration = Duration::from_millis(200);
/// Standard error without a new line for this time is read completely, if the server runs.
const IDLE: Duration = Duration::from_millis(50);

/// The last lines that a server has written to its standard error: at most 20 lines and 8 KiB.
/// When the server is started again, the lines of its former process are removed. Clones share the
/// lines.
#[derive(Debug, Clone, Default)]
pub struct StderrTail(Arc<Mutex<TailLines>>);

#[derive(Debug, Default)]
struct TailLines {
    lines: VecDeque<String>,
    /// The number of the process that the lines belong to.
    process: u64,
}

/// Standard error of one server process. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct StderrCapture {
    tail: StderrTail,
    /// The number of the process.
    process: u64,
    progress: Arc<watch::Sender<Progress>>,
}

/// Progress of the task that reads standard error.
#[derive(Debug, Default)]
struct Progress {
    lines: u64,
    ended: bool,
}

impl StderrTail {
    /// Returns the lines, separated by line feeds. The string is empty when there are none.
    pub fn text(&self) -> String {
        self.0.lock().text()
    }
}

impl TailLines {
    fn text(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    fn push(&mut self, line: String) {
        let lines = &mut self.lines;
        lines.push_back(line);
        let mut bytes: usize = lines.iter().map(String::len).sum();
        while lines.len() > MAX_LINES || (bytes > MAX_BYTES && lines.len() > 1) {
            bytes -= lines.pop_front().map_or(0, |oldest| oldest.len());
        }
    }
}

impl StderrCapture {
    /// Creates a capture for a new process, whose lines replace those of the former process.
    pub(super) fn new(tail: StderrTail) -> Self {
        let mut shared = tail.0.lock();
        shared.lines.clear();
        shared.process += 1;
        let process = shared.process;
        drop(shared);
        Self {
            tail,
            process,
            progress: Arc::default(),
        }
    }

    /// Appends a line, unless a later process has replaced this one.
    fn push(&self, line: String) {
        let mut shared = self.tail.0.lock();
        if shared.process == self.process {
            shared.push(line);
        }
        drop(shared);
        self.progress.send_modify(|progress| progress.lines += 1);
    }

    /// Returns the last lines after the process has ended. Waits shortly for lines that are not read
    /// yet.
    pub(super) async fn final_text(&self) -> String {
        let mut progress = self.progress.subscribe();
        let _ = timeout(READ_TIMEOUT, progress.wait_for(|progress| progress.ended)).await;
        self.text()
    }

    /// Returns the last lines of a process that runs. Lines that the process writes after this
    /// function has seen a pause are missing.
    pub(super) async fn settled_text(&self) -> String {
        let mut progress = self.progress.subscribe();
        let settled = async { while let Ok(Ok(())) = timeout(IDLE, progress.changed()).await {} };
        let _ = timeout(READ_TIMEOUT, settled).await;
        self.text()
    }

    fn text(&self) -> String {
        let shared = self.tail.0.lock();
        if shared.process == self.process {
            shared.text()
        } else {
            String::new()
        }
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
    capture
        .progress
        .send_modify(|progress| progress.ended = true);
}

fn record(line: Line, capture: &StderrCapture, peer: &str) {
    let text = match &line {
        Line::Text(text) | Line::TooLong(text) => String::from_utf8_lossy(text),
        _ => return,
    };
    let shown = escape_line(&text);
    tracing::debug!(target: "mcp::server_stderr", peer, "{shown}");
    capture.push(text.into_owned());
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::io::{AsyncWriteExt, duplex};
    use tokio::time::sleep;
    use tracing_subscriber::filter::LevelFilter;

    use super::{IDLE, MAX_BYTES, MAX_LINES, StderrCapture, StderrTail, read};

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
        let capture = StderrCapture::new(StderrTail::default());
        read(&hostile[..], capture, String::new()).await;
        let logged = String::from_utf8(log.0.lock().clone()).unwrap();
        let expected = r"a\rb\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{200b}";
        assert!(logged.contains(expected), "{logged:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn settled_text_waits_for_lines_that_come_late() {
        let capture = StderrCapture::new(StderrTail::default());
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
    async fn read_of_long_stderr_keeps_last_lines() {
        let capture = StderrCapture::new(StderrTail::default());
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
        let kept = capture.tail.text();
        assert!(kept.len() <= MAX_BYTES && kept.ends_with("\nlast"));
    }
}
