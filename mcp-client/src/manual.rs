//! [`ManualCall`]: a call whose caller answers the input requests of the server.

use std::fmt;
use std::future::IntoFuture;

use mcp_core::BoxFuture;
use mcp_core::mrtr::InputRound;
use mcp_types::{InputRequests, InputRequired, InputResponse};

use crate::call::{ActiveCall, CallStep, Reader};
use crate::error::{Error, ErrorKind};
use crate::prepared::PreparedCall;

/// A call that returns the input requests of the server to its caller. Created by
/// [`PreparedCall::manual`].
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
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
    /// Returns input requests to the caller instead of passing them to the client's handlers. If the call
    /// becomes a task, the handlers answer the requests of the task.
    pub fn manual(self) -> ManualCall<'a, T> {
        ManualCall(self)
    }
}

impl<'a, T: Send + 'a> IntoFuture for ManualCall<'a, T> {
    type Output = Result<Turn<'a, T>, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // Lists never require input.
            if self.0.is_paginated() {
                return self.0.run().await.map(Turn::Done);
            }
            let read = self.0.reader();
            next_turn(Box::new(self.0.activate()?), read).await
        })
    }
}

/// The outcome of one step of a [`ManualCall`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are two sides")]
pub enum Turn<'a, T> {
    /// The result of the call.
    Done(T),
    /// The server requires input. The caller answers, or drops the value and with it the call.
    Asks(Asks<'a, T>),
}

/// The input requests of a server. Holding this value keeps no connection open, so it can be stored
/// for as long as the server accepts the responses.
#[must_use = "the call continues with `answer`"]
pub struct Asks<'a, T> {
    call: Box<ActiveCall<'a>>,
    round: InputRound,
    read: Reader<T>,
}

impl<'a, T> Asks<'a, T> {
    /// Returns the input requests by key. Empty when the server only requires another call.
    pub fn requests(&self) -> &InputRequests {
        self.round.requests()
    }

    /// Returns the `InputRequired` result of the server.
    pub fn required(&self) -> &InputRequired {
        self.round.required()
    }

    /// Continues the call with a response for every key. The caller fills in defaults of forms
    /// ([`FormSchema::fill_defaults`](mcp_types::FormSchema::fill_defaults)).
    ///
    /// # Errors
    ///
    /// Returns an [input error](Error::input) when the responses do not match the requests, or any
    /// other error of a call.
    pub async fn answer(
        mut self,
        answers: impl IntoIterator<Item = (impl Into<String>, impl Into<InputResponse>)>,
    ) -> Result<Turn<'a, T>, Error> {
        let answers = answers.into_iter();
        let answers = answers.map(|(key, answer)| (key.into(), answer.into()));
        self.call.set_responses(&self.round, &answers.collect())?;
        next_turn(self.call, self.read).await
    }
}

async fn next_turn<'a, T>(
    mut call: Box<ActiveCall<'a>>,
    read: Reader<T>,
) -> Result<Turn<'a, T>, Error> {
    Ok(match call.step().await? {
        CallStep::Done(body) => Turn::Done(call.read(body, read)?),
        CallStep::Task(task) => {
            let body = call.follow_or_cancel(&task).await?;
            Turn::Done(call.read(body, read)?)
        }
        CallStep::InputRequired(round) => Turn::Asks(Asks { call, round, read }),
        CallStep::Extended { result_type, .. } => {
            return Err(call.error(ErrorKind::UnknownResultType(result_type)));
        }
    })
}

impl<T> fmt::Debug for Asks<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asks")
            .field("requests", self.requests())
            .finish_non_exhaustive()
    }
}
