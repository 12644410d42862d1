//! [`Step`]: the outcome of one request in a call, for callers that answer input requests themselves.

use std::fmt;

use mcp_types::{InputRequests, InputRequired, InputResponse, RawObject};

use super::active::{ActiveCall, CallStep, Reader};
use super::prepared::PreparedCall;
use crate::error::Error;
use crate::inputs::InputRound;

/// The outcome of one request in a call. Returned by [`PreparedCall::step`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a result has three kinds")]
pub enum Step<'a, T> {
    /// The call's result.
    Done(T),
    /// The server requires input. The caller answers, or drops the value and with it the call.
    InputRequired(PendingInput<'a, T>),
    /// An extension result, such as a task. The server sends it if the client or the call
    /// ([`capabilities`](PreparedCall::capabilities)) declares the extension.
    /// [`Client::task`](crate::Client::task) takes a task up by its id.
    Extended {
        /// The `resultType`, such as `task`.
        result_type: Box<str>,
        /// The result as the server has sent it.
        body: RawObject,
    },
}

/// A call whose server requires input. It keeps no connection open, so it can be held for as long as
/// the server accepts the responses. To continue in another process, store
/// [`required`](Self::required) and pass it to [`PreparedCall::resume`].
#[must_use = "the call continues with `answer`"]
pub struct PendingInput<'a, T> {
    call: Box<ActiveCall<'a>>,
    round: InputRound,
    read: Reader<T>,
}

impl<'a, T> PreparedCall<'a, T> {
    /// Sends one request and returns its outcome: the handlers of the client do not answer input
    /// requests, and a task is not followed. For hosts that answer input requests where they make the
    /// call, and for gateways that pass the outcome on.
    ///
    /// # Errors
    ///
    /// Returns any error of a call.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let mut step = client.call("deploy", ()).step().await?;
    /// while let Step::InputRequired(input) = step {
    ///     let keys: Vec<_> = input.requests().keys().cloned().collect();
    ///     let answers = keys.into_iter().map(|key| (key, ElicitResult::decline()));
    ///     step = input.answer(answers).await?;
    /// }
    /// if let Step::Done(result) = step {
    ///     println!("{}", result.text());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn step(self) -> Result<Step<'a, T>, Error> {
        // Lists have neither input requests nor extension results.
        if self.pagination.is_some() {
            return self.run().await.map(Step::Done);
        }
        let read = self.read;
        next_step(Box::new(self.activate()?), read).await
    }
}

impl<'a, T> PendingInput<'a, T> {
    /// Returns the input requests by key. Empty when the server only requires another call.
    pub fn requests(&self) -> &InputRequests {
        &self.round.requests
    }

    /// Returns the server's `InputRequired` result.
    pub fn required(&self) -> &InputRequired {
        &self.round.required
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
    ) -> Result<Step<'a, T>, Error> {
        let answers = answers.into_iter();
        let answers = answers.map(|(key, answer)| (key.into(), answer.into()));
        self.call.set_responses(&self.round, &answers.collect())?;
        next_step(self.call, self.read).await
    }
}

async fn next_step<'a, T>(
    mut call: Box<ActiveCall<'a>>,
    read: Reader<T>,
) -> Result<Step<'a, T>, Error> {
    Ok(match call.step().await? {
        CallStep::Done(body) => Step::Done(call.read(body, read)?),
        CallStep::InputRequired(round) => Step::InputRequired(PendingInput { call, round, read }),
        CallStep::Extended { result_type, body } => Step::Extended { result_type, body },
    })
}

impl<T> fmt::Debug for PendingInput<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingInput")
            .field("requests", self.requests())
            .finish_non_exhaustive()
    }
}
