//! Line framing of a pipe: what a server answers does not depend on how reads split the bytes, and no input panics.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use mcp_server::Server;
use mcp_transport_stdio::StdioServer;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf, duplex};

use crate::input::{Input, pieces};
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "lines",
    run,
    examples: &[
        b"\x10\x02\x00\x05{}\n{\"a\":1}\r\n\n\xef\xbb\xbf[]\nrest",
        b"\x02\x01\x03a line that is too long\nshort\n",
    ],
    fragments: &[
        "\n",
        "\r\n",
        "\r",
        "\u{feff}",
        "{}",
        "a long line ",
        " ",
        "\0",
    ],
};

/// The input: the line limit, the sizes of the reads, and the bytes.
fn run(input: &[u8]) {
    let mut input = Input(input);
    let limit = usize::from(input.byte()) * 2;
    let cuts = input.short_list();
    let bytes = input.0;

    let whole = answers(limit, pieces(bytes, &[]));
    let cut = answers(limit, pieces(bytes, cuts));
    assert_eq!(cut, whole);

    // No line of these inputs is a valid message, and each is answered with an error.
    let is_answered = |line: &&[u8]| {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        line.len() > limit || !text.trim_ascii().is_empty()
    };
    let lines = bytes.split(|&byte| byte == b'\n').filter(is_answered);
    if !bytes.windows(7).any(|part| part == b"jsonrpc") {
        assert_eq!(whole.lines().count(), lines.count());
    }
}

/// Returns what a server writes when it reads these pieces.
fn answers<'a>(limit: usize, pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let pieces = Pieces(pieces.map(Bytes::copy_from_slice).collect());
    let (writer, mut output) = duplex(64 * 1024);
    let server = StdioServer::new(Server::new("fuzz", "1.0.0")).line_limit(limit);
    let serve = async {
        let mut text = String::new();
        let serving = server.run_over(pieces, writer);
        let (served, read) = tokio::join!(serving, output.read_to_string(&mut text));
        served.expect("the end of the input ends the server");
        read.expect("a server writes UTF-8");
        text
    };
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_time().build();
    runtime.expect("a runtime starts").block_on(serve)
}

/// A stream that yields one piece in each read.
struct Pieces(VecDeque<Bytes>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(piece) = self.0.front_mut() {
            let count = piece.len().min(out.remaining());
            out.put_slice(&piece[..count]);
            piece.advance(count);
            if piece.is_empty() {
                self.0.pop_front();
            }
        }
        Poll::Ready(Ok(()))
    }
}
