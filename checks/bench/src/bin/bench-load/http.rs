//! A connection that repeats one request.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use bench::era::{self, Era};
use bench::scenario::{Checker, Request, Scenario};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::load::Load;
use crate::outcome::Outcome;
use crate::response::ResponseReader;
use crate::slow::SlowStream;

pub(crate) async fn connection(
    load: &Load,
    scenario: Scenario,
    end: Instant,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut connection = Connection::open(load.port, scenario, load.era).await?;
    if let Some(token) = &load.token {
        connection.request = connection.request.with_token(token);
    }
    while Instant::now() < end && outcome.requests() < load.requests {
        connection.call(outcome).await?;
    }
    Ok(())
}

/// A connection with its request and the checker of its responses.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) responses: ResponseReader,
    pub(crate) session: Option<String>,
    pub(crate) request: Request,
    checker: Checker,
}

impl Connection {
    /// Connects, and opens a session if the era has sessions.
    pub(crate) async fn open(port: u16, scenario: Scenario, era: Era) -> io::Result<Self> {
        let mut stream = connect(port).await?;
        let mut responses = ResponseReader::default();
        let session = match era {
            Era::Session => Some(open_session(&mut stream, &mut responses, port).await?),
            _ => None,
        };
        Ok(Self {
            request: scenario.request(port, era, session.as_deref()),
            checker: scenario.checker(era),
            stream,
            responses,
            session,
        })
    }

    /// Sends one request and checks its response.
    pub(crate) async fn call(&mut self, outcome: &mut Outcome) -> io::Result<()> {
        let sent = Instant::now();
        let (bytes, id) = self.request.prepare();
        self.stream.write_all(bytes).await?;
        let response = self.responses.next(&mut self.stream).await?;
        if response.status != 200 || !self.checker.accepts(response.body, id) {
            return Err(response.to_error());
        }
        outcome.record(sent, response.body.len());
        Ok(())
    }

    /// Sends one request, reads its response in parts of `part` bytes with pauses, and checks it.
    pub(crate) async fn call_slowly(
        &mut self,
        part: usize,
        pause: Duration,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let sent = Instant::now();
        let (bytes, id) = self.request.prepare();
        self.stream.write_all(bytes).await?;
        let mut slow = SlowStream::new(&mut self.stream, part, pause);
        let response = self.responses.next(&mut slow).await?;
        if response.status != 200 || !self.checker.accepts(response.body, id) {
            return Err(response.to_error());
        }
        outcome.record(sent, response.body.len());
        Ok(())
    }
}

pub(crate) async fn connect(port: u16) -> io::Result<TcpStream> {
    connect_from(Ipv4Addr::LOCALHOST, port).await
}

/// Connects from a loopback address. One address has 28,000 ports for connections to one server.
pub(crate) async fn connect_from(source: Ipv4Addr, port: u16) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if source != Ipv4Addr::LOCALHOST {
        socket.bind((source, 0).into())?;
    }
    let stream = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Opens a session and returns its id.
pub(crate) async fn open_session(
    stream: &mut TcpStream,
    responses: &mut ResponseReader,
    port: u16,
) -> io::Result<String> {
    stream
        .write_all(&era::post(port, "", &era::initialize()))
        .await?;
    let response = responses.next(stream).await?;
    let Some(session) = response.session.clone().filter(|_| response.status == 200) else {
        return Err(response.to_error());
    };
    let headers = era::session_headers(&session);
    stream
        .write_all(&era::post(port, &headers, era::INITIALIZED))
        .await?;
    let response = responses.next(stream).await?;
    match response.status {
        202 => Ok(session),
        _ => Err(response.to_error()),
    }
}

/// Closes a session.
pub(crate) async fn close_session(
    stream: &mut TcpStream,
    responses: &mut ResponseReader,
    port: u16,
    session: &str,
) -> io::Result<()> {
    stream
        .write_all(&era::without_body("DELETE", port, session))
        .await?;
    let response = responses.next(stream).await?;
    match response.status {
        200 | 202 | 204 => Ok(()),
        _ => Err(response.to_error()),
    }
}
