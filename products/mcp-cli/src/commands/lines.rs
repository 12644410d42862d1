//! Client messages on the standard streams of this process, one per line.

use std::future::ready;
use std::io;

use bytes::Bytes;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use tokio::io::{stdin, stdout};
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};

/// Longest message of the client in bytes.
const MAX_LINE: usize = 64 << 20;

/// The client's messages.
pub(super) fn input() -> impl Stream<Item = io::Result<Bytes>> + Send {
    let input = FramedRead::new(stdin(), LinesCodec::new_with_max_length(MAX_LINE));
    input.filter_map(async |line| match line {
        Ok(line) if line.trim().is_empty() => None,
        Ok(line) => Some(Ok(Bytes::from(line))),
        Err(error) => Some(Err(into_io(error))),
    })
}

/// The messages to the client.
pub(super) fn output() -> impl Sink<Bytes, Error = io::Error> + Send {
    let lines = FramedWrite::new(stdout(), LinesCodec::new());
    lines
        .with(|message| ready(line(message)))
        .sink_map_err(into_io)
}

/// Converts a server message to a line: a line break is white space between two tokens.
fn line(message: Bytes) -> Result<String, LinesCodecError> {
    let text = String::from_utf8(message.into()).map_err(io::Error::other)?;
    Ok(text.replace(['\r', '\n'], " "))
}

fn into_io(error: LinesCodecError) -> io::Error {
    match error {
        LinesCodecError::Io(error) => error,
        LinesCodecError::MaxLineLengthExceeded => {
            io::Error::other(format!("a message is longer than {MAX_LINE} bytes"))
        }
    }
}
