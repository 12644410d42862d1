//! One message per line: the framing of pipes, sockets and every other stream of bytes.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

use bytes::{Bytes, BytesMut};

use crate::Framing;

/// The frame of a message: a line feed comes after it. Messages have none of their own.
// spec: STDIO-02
pub const LINE_FRAMING: Framing = Framing::new(b"", b"\n");

/// Cuts a stream of bytes into lines, wherever the reads have cut it. Every byte is looked at
/// once, and no line is copied.
///
/// Lines end with a line feed, and may have a carriage return before it; a byte order mark before
/// a line, and lines of nothing but white space, are left out.
///
/// ```
/// use mcp_core::lines::{Line, Lines};
///
/// let mut lines = Lines::new(1 << 20);
/// lines.buffer().extend_from_slice(b"{\"a\":1}\r\n\n{\"b\"");
/// assert_eq!(lines.next_line(), Some(Line::Text("{\"a\":1}".into())));
/// assert_eq!(lines.next_line(), None);
/// lines.buffer().extend_from_slice(b":2}\n");
/// assert_eq!(lines.next_line(), Some(Line::Text("{\"b\":2}".into())));
/// ```
// spec: STDIO-02, STDIO-17, TRN-04
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// So many bytes of the buffer are known to have no line feed.
    scanned: usize,
    limit: usize,
    /// The rest of a line that was too long is to come.
    skipping: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A line, without its end.
    Text(Bytes),
    /// The beginning of a line that is longer than the limit; the rest of it is left out.
    TooLong(Bytes),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How much is kept of a line that is too long.
const HEAD: usize = 256;

impl Lines {
    /// A stream that has just begun. `limit` is the length in bytes that a line may have, its
    /// carriage return included; the buffer holds that much and one read at the most.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            skipping: false,
        }
    }

    /// What was read and not yet cut. Append what is read next, then take all
    /// [lines](Self::next_line).
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The next line; `None` when more has to be read first.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(at) = memchr::memchr(b'\n', unseen) else {
                return self.unfinished();
            };
            let end = self.scanned + at;
            let mut line = self.buffer.split_to(end + 1).freeze();
            line.truncate(end);
            self.scanned = 0;
            if !std::mem::take(&mut self.skipping)
                && let Some(line) = self.judge(line)
            {
                return Some(line);
            }
        }
    }

    /// The last line, when the stream has ended without a line feed.
    pub fn finish(&mut self) -> Option<Line> {
        self.scanned = 0;
        let rest = self.buffer.split().freeze();
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        self.judge(rest)
    }

    fn unfinished(&mut self) -> Option<Line> {
        self.scanned = self.buffer.len();
        if !self.skipping && self.scanned <= self.limit {
            return None;
        }
        // A new buffer: the room for a line this long is given back.
        let begun = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        (!std::mem::replace(&mut self.skipping, true)).then(|| too_long(&begun))
    }

    fn judge(&self, line: Bytes) -> Option<Line> {
        if line.len() > self.limit {
            return Some(too_long(&line));
        }
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let is_blank = text.trim_ascii().is_empty();
        (!is_blank).then(|| Line::Text(line.slice_ref(text)))
    }
}

fn too_long(line: &[u8]) -> Line {
    let head = line.get(..HEAD).unwrap_or(line);
    Line::TooLong(Bytes::copy_from_slice(head))
}

#[cfg(test)]
mod tests;
