//! Actions of a connection.

use std::io;
use std::time::Instant;

use bench::era::{self, Era};
use bench::random::Random;
use bench::scenario::Scenario;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{Connection, close_session, connect, open_session};
use crate::outcome::Outcome;
use crate::response::ResponseReader;
use crate::sessions::{expect_stream, listen};

/// Maximum time in milliseconds before a connection is dropped.
const MAX_HOLD: usize = 200;
/// Size of the parts that a slow reader reads.
const PART: usize = 32 * 1024;
/// Maximum pause in milliseconds between two parts.
const MAX_PART_PAUSE: usize = 20;
/// A number of reports that no action waits for.
const ENDLESS: usize = 100_000;

const PROGRESS: Scenario = Scenario::Progress(20);
const LIST: Scenario = Scenario::List(1);

/// An action of a client. Actions that open a session close it in half of the cases; otherwise the
/// server closes it after the idle timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Up to five calls on one connection.
    Calls(Scenario, Era),
    /// Opens and closes a session.
    Cycle,
    /// Opens the GET stream of a session and drops it.
    Stream,
    /// Sends `subscriptions/listen` and drops the connection.
    Listen,
    /// Cancels a running call of a session with a notification.
    Cancel,
    /// Cancels a running modern call by dropping its connection.
    Drop,
    /// Drops the connection in the middle of a request.
    TornRequest(Scenario, Era),
    /// Drops the connection in the middle of a response.
    TornResponse(Scenario, Era),
    /// Reads a response of 1 MiB in small parts with pauses, and checks it.
    SlowReader(Era),
}

/// All actions. Actions that are listed twice are selected twice as often.
pub(crate) const ACTIONS: [Action; 26] = [
    Action::Calls(Scenario::Call, Era::Modern),
    Action::Calls(Scenario::Call, Era::Modern),
    Action::Calls(Scenario::Call, Era::Session),
    Action::Calls(Scenario::Call, Era::Session),
    Action::Calls(PROGRESS, Era::Modern),
    Action::Calls(PROGRESS, Era::Session),
    Action::Calls(LIST, Era::Modern),
    Action::Calls(LIST, Era::Session),
    Action::Calls(Scenario::Big, Era::Modern),
    Action::Calls(Scenario::Big, Era::Session),
    Action::Cycle,
    Action::Cycle,
    Action::Stream,
    Action::Stream,
    Action::Listen,
    Action::Listen,
    Action::Cancel,
    Action::Drop,
    Action::TornRequest(Scenario::Call, Era::Modern),
    Action::TornRequest(Scenario::Big, Era::Session),
    Action::TornResponse(PROGRESS, Era::Modern),
    Action::TornResponse(PROGRESS, Era::Session),
    Action::TornResponse(Scenario::Big, Era::Modern),
    Action::TornResponse(LIST, Era::Session),
    Action::SlowReader(Era::Modern),
    Action::SlowReader(Era::Session),
];

impl Action {
    pub(crate) async fn run(
        self,
        port: u16,
        random: &mut Random,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let started = Instant::now();
        match self {
            Self::Calls(scenario, era) => return calls(port, scenario, era, random, outcome).await,
            Self::Cycle => {
                let mut stream = connect(port).await?;
                let mut responses = ResponseReader::default();
                let session = open_session(&mut stream, &mut responses, port).await?;
                close_session(&mut stream, &mut responses, port, &session).await?;
            }
            Self::Stream => {
                let mut stream = connect(port).await?;
                let mut responses = ResponseReader::default();
                let session = open_session(&mut stream, &mut responses, port).await?;
                let held = listen(port, &session).await?;
                tokio::time::sleep(random.pause(MAX_HOLD)).await;
                drop(held);
                maybe_close(&mut stream, &mut responses, port, Some(&session), random).await?;
            }
            Self::Listen => {
                let mut stream = connect(port).await?;
                stream.write_all(&era::listen(port)).await?;
                expect_stream(&mut stream).await?;
                tokio::time::sleep(random.pause(MAX_HOLD)).await;
            }
            Self::Cancel => cancel(port, random).await?,
            Self::Drop => {
                let mut connection =
                    Connection::open(port, Scenario::Progress(ENDLESS), Era::Modern).await?;
                connection
                    .stream
                    .write_all(connection.request.prepare().0)
                    .await?;
                expect_stream(&mut connection.stream).await?;
                tokio::time::sleep(random.pause(MAX_HOLD)).await;
            }
            Self::TornRequest(scenario, era) => {
                let mut connection = Connection::open(port, scenario, era).await?;
                let (bytes, _) = connection.request.prepare();
                let part = random.below(bytes.len());
                connection.stream.write_all(&bytes[..part]).await?;
                tokio::time::sleep(random.pause(MAX_HOLD)).await;
                if random.below(2) == 0 {
                    // The server sees a reset instead of the end of the stream.
                    connection.stream.set_zero_linger()?;
                }
            }
            Self::SlowReader(era) => return slow_reader(port, era, random, outcome).await,
            Self::TornResponse(scenario, era) => {
                let mut connection = Connection::open(port, scenario, era).await?;
                connection
                    .stream
                    .write_all(connection.request.prepare().0)
                    .await?;
                let mut part = vec![0; 1 + random.below(4096)];
                let _ = connection.stream.read(&mut part).await?;
            }
        }
        outcome.record(started, 0);
        Ok(())
    }
}

async fn calls(
    port: u16,
    scenario: Scenario,
    era: Era,
    random: &mut Random,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut connection = Connection::open(port, scenario, era).await?;
    for _ in 0..=random.below(5) {
        connection.call(outcome).await?;
    }
    let session = connection.session.as_deref();
    maybe_close(
        &mut connection.stream,
        &mut connection.responses,
        port,
        session,
        random,
    )
    .await
}

/// Reads a long response slowly: the server must wait for the reader.
async fn slow_reader(
    port: u16,
    era: Era,
    random: &mut Random,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut connection = Connection::open(port, Scenario::Big, era).await?;
    let pause = random.pause(MAX_PART_PAUSE);
    connection.call_slowly(PART, pause, outcome).await
}

/// Starts an endless call, cancels it, and drops its connection.
async fn cancel(port: u16, random: &mut Random) -> io::Result<()> {
    let mut connection = Connection::open(port, Scenario::Progress(ENDLESS), Era::Session).await?;
    let (bytes, id) = connection.request.prepare();
    connection.stream.write_all(bytes).await?;
    expect_stream(&mut connection.stream).await?;
    tokio::time::sleep(random.pause(MAX_HOLD)).await;
    let session = connection.session.as_deref().unwrap_or_default();
    let headers = era::session_headers(session);
    let mut other = connect(port).await?;
    let mut responses = ResponseReader::default();
    let notification = era::post(port, &headers, &era::cancelled(id));
    other.write_all(&notification).await?;
    let response = responses.next(&mut other).await?;
    match response.status {
        202 => maybe_close(&mut other, &mut responses, port, Some(session), random).await,
        _ => Err(response.to_error()),
    }
}

/// Closes the session in half of the cases.
async fn maybe_close(
    stream: &mut TcpStream,
    responses: &mut ResponseReader,
    port: u16,
    session: Option<&str>,
    random: &mut Random,
) -> io::Result<()> {
    match session {
        Some(session) if random.below(2) == 0 => {
            close_session(stream, responses, port, session).await
        }
        _ => Ok(()),
    }
}
