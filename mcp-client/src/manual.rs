//! Calls whose caller answers what the server asks for.

use std::fmt;
use std::future::IntoFuture;

use mcp_core::mrtr::InputRound;
use mcp_core::{BoxFuture, ResultBody};
use mcp_types::{InputRequests, InputRequired, InputResponse};

use crate::call::{Running, Step};
use crate::{Error, PreparedCall};

/// A call that gives what the server asks for to its caller. Made by [`PreparedCall::manual`].
///
/// # Examples
///
/// ```no_run
/// use mcp_client::Turn;
/// use mcp_types::ElicitResult;
///
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
/// let mut turn = client.call("deploy", ()).manual().await?;
/// let result = loop {
///     turn = match turn {
///         Turn::Done(result) => break result,
///         Turn::Asks(asks) => {
///             let keys: Vec<_> = asks.requests().keys().cloned().collect();
///             let answers = keys.into_iter().map(|key| (key, ElicitResult::decline()));
///             asks.answer(answers).await?
///         }
///     }
/// };
/// println!("{}", result.text());
/// # Ok(())
/// # }
/// ```
#[must_use = "a call does nothing unless it is awaited"]
#[derive(Debug)]
pub struct ManualCall<'a, T>(PreparedCall<'a, T>);

impl<'a, T> PreparedCall<'a, T> {
    /// Gives what the server asks for to the caller instead of the client's handlers.
    pub fn manual(self) -> ManualCall<'a, T> {
        ManualCall(self)
    }
}

impl<'a, T: Send + 'a> IntoFuture for ManualCall<'a, T> {
    type Output = Result<Turn<'a, T>, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // No server asks for anything before it answers with a page.
            if self.0.is_list() {
                return self.0.run().await.map(Turn::Done);
            }
            let read = self.0.reader();
            next(Box::new(self.0.start()?), read).await
        })
    }
}

/// Whose turn it is.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are two sides")]
pub enum Turn<'a, T> {
    /// The server has answered the call.
    Done(T),
    /// The server asks first; the caller answers, or drops the question and with it the call.
    Asks(Asks<'a, T>),
}

/// What the server asks before it answers a call. Holds nothing of the server: it may be kept as
/// long as the server takes the answer.
#[must_use = "the call goes on with `answer`"]
pub struct Asks<'a, T> {
    running: Box<Running<'a>>,
    round: InputRound,
    read: fn(ResultBody) -> Option<T>,
}

impl<'a, T> Asks<'a, T> {
    /// What is asked, by key. Nothing when the server only wants to be called again.
    pub fn requests(&self) -> &InputRequests {
        self.round.requests()
    }

    /// The result as the server gave it.
    pub fn required(&self) -> &InputRequired {
        self.round.required()
    }

    /// Goes on with the call: an answer for every key. Defaults of forms are the caller's to fill
    /// in ([`FormSchema::fill_defaults`](mcp_types::FormSchema::fill_defaults)).
    ///
    /// # Errors
    ///
    /// [`Error::input`] when the answers are not those to the questions, and whatever a call can
    /// fail with.
    pub async fn answer(
        mut self,
        answers: impl IntoIterator<Item = (impl Into<String>, impl Into<InputResponse>)>,
    ) -> Result<Turn<'a, T>, Error> {
        let answers = answers.into_iter();
        let answers = answers.map(|(key, answer)| (key.into(), answer.into()));
        self.running.answer(&self.round, &answers.collect())?;
        next(self.running, self.read).await
    }
}

async fn next<'a, T>(
    mut running: Box<Running<'a>>,
    read: fn(ResultBody) -> Option<T>,
) -> Result<Turn<'a, T>, Error> {
    Ok(match running.step().await? {
        Step::Done(body) => Turn::Done(running.read(body, read)?),
        Step::Asks(round) => Turn::Asks(Asks {
            running,
            round,
            read,
        }),
    })
}

impl<T> fmt::Debug for Asks<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asks")
            .field("requests", self.requests())
            .finish_non_exhaustive()
    }
}
