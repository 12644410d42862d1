//! `mcp proxy`.

use std::future::ready;
use std::io;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use mcp::gateway::{Relay, RelayError};
use tokio::io::{stdin, stdout};
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};
use wildmatch::WildMatch;

use crate::cli::ProxyArgs;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

/// Longest message of the client in bytes.
const MAX_LINE: usize = 64 << 20;

pub(super) async fn run(args: &ProxyArgs, output: &Output) -> Result<(), Failure> {
    let channel = target::channel_with_login(&args.login, output).await?;
    let patterns: Vec<_> = args
        .ignore_tool
        .iter()
        .map(|it| WildMatch::new(it))
        .collect();
    let mut relay = Relay::new(channel);
    if !patterns.is_empty() {
        relay = relay.hide_tools(move |name| patterns.iter().any(|it| it.matches(name)));
    }
    let input = FramedRead::new(stdin(), LinesCodec::new_with_max_length(MAX_LINE));
    let input = input.filter_map(async |line| match line {
        Ok(line) if line.trim().is_empty() => None,
        Ok(line) => Some(Ok(Bytes::from(line))),
        Err(error) => Some(Err(into_io(error))),
    });
    let lines = FramedWrite::new(stdout(), LinesCodec::new());
    let lines = lines
        .with(|message| ready(line(message)))
        .sink_map_err(into_io);
    relay.run(input, lines).await.map_err(|error| {
        let kind = match &error {
            RelayError::Closed(_) => FailureKind::Unreachable,
            _ => FailureKind::Usage,
        };
        Failure::new(kind, error.to_string())
    })
}

/// Converts a message of the server to a line: a line break is white space between two tokens.
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
