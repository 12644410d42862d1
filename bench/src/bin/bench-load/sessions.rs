//! Sessions that are opened and held, so that their memory can be looked at. The program says
//! `holding` when all are open and ends them when its input ends.

use std::io;
use std::time::Instant;

use bench::era;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Outcome;
use crate::answer::{Answers, invalid};
use crate::http::{connect, open_session};

pub(crate) async fn hold(port: u16, count: usize, streams: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut held = Vec::new();
    if let Err(error) = open(port, count, streams, &mut held, &mut outcome).await {
        outcome.errors += 1;
        outcome.last_error = Some(error.to_string());
    }
    println!("holding");
    let mut rest = Vec::new();
    // Whoever measures closes the input.
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    outcome
}

async fn open(
    port: u16,
    count: usize,
    streams: bool,
    held: &mut Vec<TcpStream>,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut answers = Answers::default();
    for _ in 0..count {
        let sent = Instant::now();
        let session = open_session(&mut stream, &mut answers, port).await?;
        outcome.right(sent, 0);
        if streams {
            held.push(listen(port, &session).await?);
        }
    }
    Ok(())
}

/// Opens the stream of a session and waits for its head.
pub(crate) async fn listen(port: u16, session: &str) -> io::Result<TcpStream> {
    let mut stream = connect(port).await?;
    stream.write_all(&era::bare("GET", port, session)).await?;
    expect_stream(&mut stream).await?;
    Ok(stream)
}

/// Waits for the status line of a stream that is open.
pub(crate) async fn expect_stream(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    match &head {
        b"HTTP/1.1 200" => Ok(()),
        b"HTTP/1.1 404" => Err(io::ErrorKind::NotFound.into()),
        _ => Err(invalid("a stream was not answered by 200")),
    }
}
