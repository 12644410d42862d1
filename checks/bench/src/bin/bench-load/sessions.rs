//! The load `sessions`: opens sessions and keeps them open, so that `cargo xtask bench` can measure
//! their memory. The program prints `holding` when all are open, and exits when its standard input
//! ends.

use std::io;
use std::net::Ipv4Addr;
use std::time::Instant;

use bench::era;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{close_session, connect, connect_from, open_session};
use crate::outcome::Outcome;
use crate::response::{ResponseReader, invalid};

/// Opens `count` sessions over `connections` connections, and keeps them until standard input ends.
/// Then it closes those that have no stream with DELETE; with `streams` it drops the connections.
pub(crate) async fn hold(port: u16, count: usize, connections: usize, streams: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let connections = connections.max(1);
    let tasks: Vec<_> = (0..connections)
        .map(|number| {
            let share = count / connections + usize::from(number < count % connections);
            tokio::spawn(Holder::open(port, source(number), share, streams))
        })
        .collect();
    let mut holders = Vec::new();
    for task in tasks {
        match task.await {
            Ok((holder, part)) => {
                holders.push(holder);
                outcome.add(part);
            }
            Err(panic) => outcome.add(Outcome::error(&panic.to_string())),
        }
    }
    println!("holding");
    let mut rest = Vec::new();
    // The program that measures the memory closes standard input when it has finished.
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    if !streams {
        let tasks: Vec<_> = holders
            .into_iter()
            .map(|holder| tokio::spawn(holder.close(port)))
            .collect();
        for task in tasks {
            if let Ok(Err(error)) = task.await {
                outcome.add(Outcome::error(&error.to_string()));
            }
        }
    }
    outcome
}

/// Returns a loopback address for a connection, so that limits per address and the number of ports
/// of one address are not reached.
fn source(connection: usize) -> Ipv4Addr {
    match connection {
        0 => Ipv4Addr::LOCALHOST,
        other => Ipv4Addr::new(
            127,
            0,
            1 + (other / 250 % 250) as u8,
            1 + (other % 250) as u8,
        ),
    }
}

/// The sessions of one connection.
#[derive(Debug, Default)]
struct Holder {
    sessions: Vec<String>,
    streams: Vec<TcpStream>,
}

impl Holder {
    async fn open(port: u16, from: Ipv4Addr, count: usize, streams: bool) -> (Self, Outcome) {
        let (mut holder, mut outcome) = (Self::default(), Outcome::default());
        if let Err(error) = holder.fill(port, from, count, streams, &mut outcome).await {
            outcome.add(Outcome::error(&error.to_string()));
        }
        (holder, outcome)
    }

    async fn fill(
        &mut self,
        port: u16,
        from: Ipv4Addr,
        count: usize,
        streams: bool,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let mut stream = connect_from(from, port).await?;
        let mut responses = ResponseReader::default();
        for _ in 0..count {
            let sent = Instant::now();
            let session = open_session(&mut stream, &mut responses, port).await?;
            outcome.record(sent, 0);
            if streams {
                let mut held = connect_from(from, port).await?;
                request_stream(&mut held, port, &session).await?;
                self.streams.push(held);
            }
            self.sessions.push(session);
        }
        Ok(())
    }

    async fn close(self, port: u16) -> io::Result<()> {
        let mut stream = connect(port).await?;
        let mut responses = ResponseReader::default();
        for session in self.sessions {
            close_session(&mut stream, &mut responses, port, &session).await?;
        }
        Ok(())
    }
}

/// Opens the GET stream of a session and waits for the status line of its response.
pub(crate) async fn listen(port: u16, session: &str) -> io::Result<TcpStream> {
    let mut stream = connect(port).await?;
    request_stream(&mut stream, port, session).await?;
    Ok(stream)
}

async fn request_stream(stream: &mut TcpStream, port: u16, session: &str) -> io::Result<()> {
    let request = era::without_body("GET", port, session);
    stream.write_all(&request).await?;
    expect_stream(stream).await
}

/// Waits for the status line of a stream.
pub(crate) async fn expect_stream(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    match &head {
        b"HTTP/1.1 200" => Ok(()),
        b"HTTP/1.1 404" => Err(io::ErrorKind::NotFound.into()),
        head if head.starts_with(b"HTTP/1.1 5") => Err(io::ErrorKind::Other.into()),
        _ => Err(invalid("the status of a stream is not 200")),
    }
}
