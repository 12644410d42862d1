//! What a connection does at a time.

use std::io;
use std::time::Instant;

use bench::era::{self, Era};
use bench::scenario::Scenario;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::dice::Dice;
use crate::Outcome;
use crate::answer::Answers;
use crate::http::{Caller, connect, end_session, open_session};
use crate::sessions::{expect_stream, listen};

/// How long a stream is held that nothing comes over, in milliseconds at the most.
const HELD: usize = 200;
/// More reports than anybody waits for.
const ENDLESS: usize = 100_000;

const PROGRESS: Scenario = Scenario::Progress(20);
const LIST: Scenario = Scenario::List(1);

/// One thing that a client does. Whatever opens a session ends it half of the time, and leaves it
/// to the server's clock otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A few calls on one connection.
    Calls(Scenario, Era),
    /// A session that is opened and ended.
    Cycle,
    /// The GET stream of a session, dropped after a while.
    Stream,
    /// `subscriptions/listen`, dropped after a while.
    Listen,
    /// A running call of a session is cancelled by a notification.
    Cancel,
    /// A running modern call is cancelled by dropping its connection.
    Drop,
    /// The connection breaks in the middle of a request.
    TornRequest(Scenario, Era),
    /// The connection breaks in the middle of an answer.
    TornAnswer(Scenario, Era),
}

/// All of them; what stands here twice happens twice as often.
pub(crate) const ACTIONS: [Action; 24] = [
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
    Action::TornAnswer(PROGRESS, Era::Modern),
    Action::TornAnswer(PROGRESS, Era::Session),
    Action::TornAnswer(Scenario::Big, Era::Modern),
    Action::TornAnswer(LIST, Era::Session),
];

impl Action {
    pub(crate) async fn run(
        self,
        port: u16,
        dice: &mut Dice,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let begun = Instant::now();
        match self {
            Self::Calls(scenario, era) => return calls(port, scenario, era, dice, outcome).await,
            Self::Cycle => {
                let mut stream = connect(port).await?;
                let mut answers = Answers::default();
                let session = open_session(&mut stream, &mut answers, port).await?;
                end_session(&mut stream, &mut answers, port, &session).await?;
            }
            Self::Stream => {
                let mut stream = connect(port).await?;
                let mut answers = Answers::default();
                let session = open_session(&mut stream, &mut answers, port).await?;
                let held = listen(port, &session).await?;
                tokio::time::sleep(dice.pause(HELD)).await;
                drop(held);
                leave(&mut stream, &mut answers, port, Some(&session), dice).await?;
            }
            Self::Listen => {
                let mut stream = connect(port).await?;
                stream.write_all(&era::listen(port)).await?;
                expect_stream(&mut stream).await?;
                tokio::time::sleep(dice.pause(HELD)).await;
            }
            Self::Cancel => cancel(port, dice).await?,
            Self::Drop => {
                let mut caller =
                    Caller::open(port, Scenario::Progress(ENDLESS), Era::Modern).await?;
                caller.stream.write_all(caller.request.prepare().0).await?;
                expect_stream(&mut caller.stream).await?;
                tokio::time::sleep(dice.pause(HELD)).await;
            }
            Self::TornRequest(scenario, era) => {
                let mut caller = Caller::open(port, scenario, era).await?;
                let (bytes, _) = caller.request.prepare();
                let part = dice.below(bytes.len());
                caller.stream.write_all(&bytes[..part]).await?;
                tokio::time::sleep(dice.pause(HELD)).await;
            }
            Self::TornAnswer(scenario, era) => {
                let mut caller = Caller::open(port, scenario, era).await?;
                caller.stream.write_all(caller.request.prepare().0).await?;
                let mut part = vec![0; 1 + dice.below(4096)];
                let _ = caller.stream.read(&mut part).await?;
            }
        }
        outcome.right(begun, 0);
        Ok(())
    }
}

async fn calls(
    port: u16,
    scenario: Scenario,
    era: Era,
    dice: &mut Dice,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let mut caller = Caller::open(port, scenario, era).await?;
    for _ in 0..=dice.below(5) {
        caller.call(outcome).await?;
    }
    let session = caller.session.as_deref();
    leave(&mut caller.stream, &mut caller.answers, port, session, dice).await
}

/// A call that would go on for ever; its connection is dropped once it is cancelled.
async fn cancel(port: u16, dice: &mut Dice) -> io::Result<()> {
    let mut caller = Caller::open(port, Scenario::Progress(ENDLESS), Era::Session).await?;
    let (bytes, id) = caller.request.prepare();
    caller.stream.write_all(bytes).await?;
    expect_stream(&mut caller.stream).await?;
    tokio::time::sleep(dice.pause(HELD)).await;
    let session = caller.session.as_deref().unwrap_or_default();
    let headers = era::session_headers(session);
    let mut other = connect(port).await?;
    let mut answers = Answers::default();
    let note = era::post(port, &headers, &era::cancelled(id));
    other.write_all(&note).await?;
    let answer = answers.next(&mut other).await?;
    match answer.status {
        202 => leave(&mut other, &mut answers, port, Some(session), dice).await,
        _ => Err(answer.wrong()),
    }
}

/// Ends a session, or does not.
async fn leave(
    stream: &mut TcpStream,
    answers: &mut Answers,
    port: u16,
    session: Option<&str>,
    dice: &mut Dice,
) -> io::Result<()> {
    match session {
        Some(session) if dice.below(2) == 0 => end_session(stream, answers, port, session).await,
        _ => Ok(()),
    }
}
