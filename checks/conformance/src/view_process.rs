//! A view of MCP Apps in another process: its messages are the lines of its standard streams.

use std::io;

use futures_util::{Sink, Stream, sink, stream};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Child;

/// Returns the messages of the process, and the sink of messages for it.
///
/// # Errors
///
/// Returns an error if a standard stream of the process is not a pipe.
pub fn connect(
    child: &mut Child,
) -> io::Result<(
    impl Stream<Item = String> + Send + use<>,
    impl Sink<String, Error = io::Error> + Send + use<>,
)> {
    let missing = || io::Error::other("the standard streams of the view are no pipes");
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let incoming = stream::unfold(BufReader::new(stdout).lines(), async |mut lines| {
        let line = lines.next_line().await.ok()??;
        Some((line, lines))
    });
    let outgoing = sink::unfold(stdin, async |mut stdin, mut line: String| {
        line.push('\n');
        stdin.write_all(line.as_bytes()).await?;
        stdin.flush().await?;
        Ok::<_, io::Error>(stdin)
    });
    Ok((incoming, outgoing))
}
