//! What a server writes to its standard error: drained, so that it never waits for us, and the end
//! of it kept.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::lines::{Line, Lines};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// The longest line that is taken whole.
const MAX_LINE: usize = 4 * 1024;
/// How many lines are kept.
const MAX_LINES: usize = 20;
/// How many bytes of lines are kept.
const MAX_BYTES: usize = 8 * 1024;
/// How long the last words of a server that has ended may take to arrive.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// The last lines that a server has written to its standard error, some 20 of them. Clones are the
/// same lines.
#[derive(Debug, Clone, Default)]
pub struct LastWords(Arc<Mutex<VecDeque<String>>>);

/// The standard error of one life of a server. Clones are the same one.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    words: LastWords,
    /// There is nothing more to come.
    ended: Arc<watch::Sender<bool>>,
}

impl LastWords {
    /// The lines as one text; empty when there are none.
    pub fn text(&self) -> String {
        let lines = self.0.lock();
        lines
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock();
        lines.push_back(line);
        let mut bytes: usize = lines.iter().map(String::len).sum();
        while lines.len() > MAX_LINES || (bytes > MAX_BYTES && lines.len() > 1) {
            bytes -= lines.pop_front().map_or(0, |oldest| oldest.len());
        }
    }
}

impl Tail {
    /// A life that begins; its words come after those of the one before.
    pub(super) fn new(words: LastWords) -> Self {
        let ended = Arc::default();
        Self { words, ended }
    }

    /// The last words of a server that has ended.
    pub(super) async fn last(&self) -> String {
        let mut ended = self.ended.subscribe();
        let _ = timeout(LAST_MOMENT, ended.wait_for(|ended| *ended)).await;
        self.words.text()
    }
}

/// Reads until the server has closed its standard error.
pub(super) async fn drain(mut from: impl AsyncRead + Unpin, tail: Tail, peer: String) {
    let mut lines = Lines::new(MAX_LINE);
    loop {
        lines.buffer().reserve(MAX_LINE);
        let read = from.read_buf(lines.buffer()).await;
        let is_end = !matches!(read, Ok(count) if count > 0);
        while let Some(line) = lines.next_line() {
            take(line, &tail.words, &peer);
        }
        if is_end {
            break;
        }
    }
    if let Some(line) = lines.finish() {
        take(line, &tail.words, &peer);
    }
    // Whoever asked for the last words may wait for this.
    tail.ended.send_replace(true);
}

fn take(line: Line, words: &LastWords, peer: &str) {
    let text = match &line {
        Line::Text(text) | Line::TooLong(text) => String::from_utf8_lossy(text),
        _ => return,
    };
    tracing::debug!(target: "mcp::server_stderr", peer, "{text}");
    words.push(text.into_owned());
}

#[cfg(test)]
mod tests {
    use super::{LastWords, MAX_BYTES, MAX_LINES, Tail, drain};

    #[tokio::test]
    async fn keeps_the_end_and_no_more() {
        let tail = Tail::new(LastWords::default());
        let mut text = "x".repeat(100_000);
        for number in 0..1000 {
            text += &format!("\nline {number}");
        }
        drain(text.as_bytes(), tail.clone(), String::new()).await;
        let kept = tail.last().await;
        assert_eq!(kept.lines().count(), MAX_LINES);
        assert!(
            kept.starts_with("line 980\n") && kept.ends_with("\nline 999"),
            "{kept}"
        );
        let long = "y".repeat(3000);
        drain(
            [&*long, &long, &long, "last"].join("\n").as_bytes(),
            tail.clone(),
            String::new(),
        )
        .await;
        let kept = tail.words.text();
        assert!(kept.len() <= MAX_BYTES && kept.ends_with("\nlast"));
    }
}
