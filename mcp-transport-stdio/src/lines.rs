//! One message per line: the framing of pipes, sockets and other byte streams.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

use bytes::{Bytes, BytesMut};

/// Splits a byte stream into lines. Every byte is scanned once, and lines are not copied.
///
/// A line ends with a line feed, optionally after a carriage return. Byte order marks at the start of
/// a line, and blank lines, are skipped.
// spec: STDIO-17, TRN-04
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: BytesMut,
    /// The number of bytes at the start of the buffer that contain no line feed.
    scanned: usize,
    limit: usize,
    /// True while the rest of a line that is too long is skipped.
    skipping: bool,
}

/// A line of a byte stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Bytes),
    /// The first 256 bytes of a line that exceeds the limit. The rest is skipped.
    TooLong(Bytes),
}

/// A line that is longer than this frees the buffer that it was read into.
const MAX_KEPT_BUFFER: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The number of bytes that are kept of a line that is too long.
const EXCERPT: usize = 256;

impl Lines {
    /// A stream at its start. `limit` is the maximum length of a line in bytes, including its carriage
    /// return. The buffer holds at most that and one read.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            skipping: false,
        }
    }

    /// Returns the buffer of unsplit bytes. Append the bytes that are read to it, then call
    /// [`next_line`](Self::next_line) until it returns `None`.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Returns the next line, or `None` when more bytes have to be read.
    pub(crate) fn next_line(&mut self) -> Option<Line> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            // spec: STDIO-02
            let Some(at) = memchr::memchr(b'\n', unseen) else {
                return self.unfinished();
            };
            let end = self.scanned + at;
            let mut line = self.buffer.split_to(end + 1).freeze();
            line.truncate(end);
            self.scanned = 0;
            if end > MAX_KEPT_BUFFER {
                // Otherwise the buffer uses this line's memory again, and keeps it for the life of the stream. The rest is
                // at most what one read has returned.
                self.buffer = BytesMut::from(&self.buffer[..]);
            }
            if !std::mem::take(&mut self.skipping)
                && let Some(line) = self.check(line)
            {
                return Some(line);
            }
        }
    }

    /// Returns the last line of a stream that has ended without a line feed.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        self.scanned = 0;
        let rest = self.buffer.split().freeze();
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        self.check(rest)
    }

    fn unfinished(&mut self) -> Option<Line> {
        self.scanned = self.buffer.len();
        if !self.skipping && self.scanned <= self.limit {
            return None;
        }
        // A new buffer, so that this long line's memory is freed.
        let start = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        (!std::mem::replace(&mut self.skipping, true)).then(|| too_long(&start))
    }

    fn check(&self, line: Bytes) -> Option<Line> {
        if line.len() > self.limit {
            return Some(too_long(&line));
        }
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let is_blank = text.trim_ascii().is_empty();
        (!is_blank).then(|| Line::Text(line.slice_ref(text)))
    }
}

/// Returns a line that exceeds the limit.
pub(crate) fn too_long(line: &[u8]) -> Line {
    let excerpt = line.get(..EXCERPT).unwrap_or(line);
    Line::TooLong(Bytes::copy_from_slice(excerpt))
}

#[cfg(test)]
mod tests {
    //! Line splitting: line endings, limits, and every way to split the reads.

    use proptest::prelude::*;

    use super::{EXCERPT, Line, Lines, MAX_KEPT_BUFFER};

    const LIMIT: usize = 300;

    /// Returns all lines of a stream that is read in these pieces.
    fn cut<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
        let mut lines = Lines::new(LIMIT);
        let mut found = Vec::new();
        for piece in pieces {
            lines.buffer().extend_from_slice(piece);
            found.extend(std::iter::from_fn(|| lines.next_line()));
            assert!(lines.buffer.len() <= LIMIT);
        }
        found.extend(lines.finish());
        found
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned().into())
    }

    #[test]
    fn memory_of_a_long_line_is_freed_with_it() {
        const READ: usize = 16 * 1024;
        const LONG: usize = 1 << 20;
        let mut lines = Lines::new(2 * LONG);
        let stream = format!("{}\nrest", "x".repeat(LONG));
        let mut found = Vec::new();
        for piece in stream.as_bytes().chunks(READ) {
            lines.buffer().extend_from_slice(piece);
            found.extend(std::iter::from_fn(|| lines.next_line()));
        }
        assert_eq!(found, [text(&"x".repeat(LONG))]);
        found.clear();
        lines.buffer().reserve(2 * READ);
        let capacity = lines.buffer().capacity();
        assert!(capacity < 2 * MAX_KEPT_BUFFER, "{capacity}");
        lines.buffer().extend_from_slice(b"\n");
        assert_eq!(lines.next_line(), Some(text("rest")));
    }

    #[test]
    fn carriage_returns_blank_lines_and_byte_order_marks_are_skipped() {
        for (stream, expected) in [
            ("", vec![]),
            ("a\nb\n", vec![text("a"), text("b")]),
            ("a\r\nb\r\n", vec![text("a"), text("b")]),
            ("\n\r\n \t\n\u{feff}\r\na", vec![text("a")]),
            ("\u{feff}a\n\u{feff}b", vec![text("a"), text("b")]),
            (" a \rb \n", vec![text(" a \rb ")]),
            ("\r\r\n", vec![]),
            ("unfinished\r", vec![text("unfinished")]),
        ] {
            assert_eq!(cut([stream.as_bytes()]), expected, "{stream:?}");
        }
        assert_eq!(
            cut([&b"\xff\xfe\n"[..]]),
            [Line::Text((&b"\xff\xfe"[..]).into())]
        );
    }

    #[test]
    fn line_beyond_the_limit_is_skipped() {
        let whole = "x".repeat(LIMIT);
        let long = "y".repeat(LIMIT + 1);
        let very_long = "z".repeat(10 * LIMIT);
        let stream = format!("{whole}\n{long}\n{very_long}\r\nafter\n{long}");
        let head = |line: &str| Line::TooLong(line[..EXCERPT].to_owned().into());
        let expected = [
            text(&whole),
            head(&long),
            head(&very_long),
            text("after"),
            head(&long),
        ];
        assert_eq!(cut([stream.as_bytes()]), expected);
        for size in [1, 7, LIMIT, LIMIT + 1] {
            assert_eq!(cut(stream.as_bytes().chunks(size)), expected, "{size}");
        }
    }

    #[test]
    fn every_byte_is_scanned_once() {
        let mut lines = Lines::new(1 << 20);
        for _ in 0..100 {
            lines.buffer().extend_from_slice(b"no line feed here, ");
            assert_eq!(lines.next_line(), None);
            assert_eq!(lines.scanned, lines.buffer.len());
        }
    }

    // spec: STDIO-02
    #[test]
    fn line_shares_the_buffer() {
        let mut lines = Lines::new(1 << 20);
        lines.buffer().extend_from_slice(b"first\nsecond\n");
        let start = lines.buffer.as_ptr();
        let (Some(Line::Text(first)), Some(Line::Text(second))) =
            (lines.next_line(), lines.next_line())
        else {
            panic!()
        };
        assert_eq!(first.as_ptr(), start);
        assert_eq!(second.as_ptr(), start.wrapping_add(6));
    }

    /// Streams with every sequence that matters to line splitting.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\xef\xbb\xbf".to_vec()),
            Just(b"\xef\xbb".to_vec()),
            Just(b"\r \t".to_vec()),
            "[a-z{}\"]{1,30}".prop_map(String::into_bytes),
            Just(vec![b'x'; LIMIT - 1]),
        ];
        proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn split_reads_yield_the_same_lines(stream in stream()) {
            let whole = cut([&stream[..]]);
            prop_assert_eq!(&cut(stream.chunks(1)), &whole);
            for at in 0..=stream.len() {
                let (before, after) = stream.split_at(at);
                prop_assert_eq!(&cut([before, after]), &whole);
            }
        }
    }
}
