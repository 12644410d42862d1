//! The load `sessions`: opens sessions and keeps them open, so that `cargo xtask bench` can measure
//! their memory. The program prints `holding` when all are open, and exits when its standard input
//! ends.

use std::io;
use std::time::Instant;

use bench::era;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{connect, open_session};
use crate::outcome::Outcome;
use crate::response::{ResponseReader, invalid};

pub(crate) async fn hold(port: u16, count: usize, streams: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut held = Vec::new();
    if let Err(error) = open(port, count, streams, &mut held, &mut outcome).await {
        outcome.errors += 1;
        outcome.last_error = Some(error.to_string());
    }
    println!("holding");
    let mut rest = Vec::new();
    // The program that measures the memory closes standard input when it has finished.
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
    let mut responses = ResponseReader::default();
    for _ in 0..count {
        let sent = Instant::now();
        let session = open_session(&mut stream, &mut responses, port).await?;
        outcome.record(sent, 0);
        if streams {
            held.push(listen(port, &session).await?);
        }
    }
    Ok(())
}

/// Opens the GET stream of a session and waits for the status line of its response.
pub(crate) async fn listen(port: u16, session: &str) -> io::Result<TcpStream> {
    let mut stream = connect(port).await?;
    stream
        .write_all(&era::without_body("GET", port, session))
        .await?;
    expect_stream(&mut stream).await?;
    Ok(stream)
}

/// Waits for the status line of a stream.
pub(crate) async fn expect_stream(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    match &head {
        b"HTTP/1.1 200" => Ok(()),
        b"HTTP/1.1 404" => Err(io::ErrorKind::NotFound.into()),
        _ => Err(invalid("the status of a stream is not 200")),
    }
}
