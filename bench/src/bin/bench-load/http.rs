//! One connection that asks the same thing over and over.

use std::io;
use std::time::Instant;

use bench::era::{self, Era};
use bench::scenario::{Checker, Request, Scenario};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::Outcome;
use crate::answer::Answers;

pub(crate) async fn connection(
    port: u16,
    scenario: Scenario,
    era: Era,
    end: Instant,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut caller = Caller::open(port, scenario, era).await?;
    while Instant::now() < end {
        caller.call(outcome).await?;
    }
    Ok(())
}

/// A connection with a request that it makes, and what its answers are held against.
pub(crate) struct Caller {
    pub(crate) stream: TcpStream,
    pub(crate) answers: Answers,
    pub(crate) session: Option<String>,
    pub(crate) request: Request,
    checker: Checker,
}

impl Caller {
    /// Connects, and opens a session where the era has them.
    pub(crate) async fn open(port: u16, scenario: Scenario, era: Era) -> io::Result<Self> {
        let mut stream = connect(port).await?;
        let mut answers = Answers::default();
        let session = match era {
            Era::Session => Some(open_session(&mut stream, &mut answers, port).await?),
            _ => None,
        };
        Ok(Self {
            request: scenario.request(port, era, session.as_deref()),
            checker: scenario.checker(era),
            stream,
            answers,
            session,
        })
    }

    /// One request and its answer.
    pub(crate) async fn call(&mut self, outcome: &mut Outcome) -> io::Result<()> {
        let sent = Instant::now();
        let (bytes, id) = self.request.prepare();
        self.stream.write_all(bytes).await?;
        let answer = self.answers.next(&mut self.stream).await?;
        if answer.status != 200 || !self.checker.accepts(answer.body, id) {
            return Err(answer.wrong());
        }
        outcome.right(sent, answer.body.len());
        Ok(())
    }
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
    let answer = answers.next(stream).await?;
    match answer.status {
        202 => Ok(session),
        _ => Err(answer.wrong()),
    }
}

/// Ends a session.
pub(crate) async fn end_session(
    stream: &mut TcpStream,
    answers: &mut Answers,
    port: u16,
    session: &str,
) -> io::Result<()> {
    stream
        .write_all(&era::bare("DELETE", port, session))
        .await?;
    let answer = answers.next(stream).await?;
    match answer.status {
        200 | 202 | 204 => Ok(()),
        _ => Err(answer.wrong()),
    }
}
