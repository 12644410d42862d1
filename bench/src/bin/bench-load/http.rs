//! One connection that asks the same thing over and over.

use std::io;
use std::time::Instant;

use bench::era::{self, Era};
use bench::scenario::Scenario;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::Outcome;
use crate::answer::{Answers, invalid};

pub(crate) async fn connection(
    port: u16,
    scenario: Scenario,
    era: Era,
    end: Instant,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut answers = Answers::default();
    let session = match era {
        Era::Session => Some(open_session(&mut stream, &mut answers, port).await?),
        _ => None,
    };
    let mut request = scenario.request(port, era, session.as_deref());
    let mut checker = scenario.checker(era);
    while Instant::now() < end {
        let sent = Instant::now();
        let (bytes, id) = request.prepare();
        stream.write_all(bytes).await?;
        let answer = answers.next(&mut stream).await?;
        if answer.status != 200 || !checker.accepts(answer.body, id) {
            return Err(answer.wrong());
        }
        outcome.right(sent, answer.body.len());
    }
    Ok(())
}

pub(crate) async fn connect(port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The handshake; the id of the session.
pub(crate) async fn open_session(
    stream: &mut TcpStream,
    answers: &mut Answers,
    port: u16,
) -> io::Result<String> {
    stream
        .write_all(&era::post(port, "", &era::initialize()))
        .await?;
    let answer = answers.next(stream).await?;
    let Some(session) = answer.session.clone().filter(|_| answer.status == 200) else {
        return Err(answer.wrong());
    };
    let headers = era::session_headers(&session);
    stream
        .write_all(&era::post(port, &headers, era::INITIALIZED))
        .await?;
    match answers.next(stream).await?.status {
        202 => Ok(session),
        status => Err(invalid(&format!("initialized was answered by {status}"))),
    }
}
