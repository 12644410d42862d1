//! How a call gets what it asks its client for: input of the user, of the language model, or the
//! roots.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mcp_types::{InputRequest, InputResponse, RawObject};
use serde_json::value::RawValue;

use crate::{BoxFuture, Fault};

/// How a call gets what it asks its client for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// The client sends its answers along with the call (modern era; nothing as a rule): what is not
    /// among them is asked for by the reply, and the call comes again.
    Recorded(Option<Box<InputState>>),
    /// The client is asked while the call runs (a session of the legacy era).
    Live(Arc<dyn BackChannel>),
    /// Nobody can be asked: a legacy client without a session.
    Absent,
}

impl Default for Input {
    fn default() -> Self {
        Self::Recorded(None)
    }
}

impl From<InputState> for Input {
    fn from(recorded: InputState) -> Self {
        let is_first = recorded == InputState::default();
        Self::Recorded((!is_first).then(|| Box::new(recorded)))
    }
}

/// The way from a running call to its client, on which it is asked and answers.
pub trait BackChannel: Send + Sync + 'static {
    /// Asks the client, on the stream that belongs to the call. Dropping the future takes the
    /// question back.
    ///
    /// # Errors
    ///
    /// [`BackChannelError`] when there is no answer.
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>>;
}

impl fmt::Debug for dyn BackChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackChannel")
    }
}

/// A client that was asked gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BackChannelError {
    /// It refused, or cannot do what it was asked for.
    #[error("the client did not answer: {0}")]
    Refused(Fault),
    /// It did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The session has ended.
    #[error("the session ended before the client answered")]
    Closed,
    /// The answer is none that the request can have.
    #[error("the client's answer is malformed: {0}")]
    Malformed(String),
    /// Too many questions wait for an answer already.
    #[error("too many questions of this session wait for an answer")]
    Busy,
}

/// What a client sends along when it asks again after an input-required answer.
// spec: MRTR-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputState {
    /// Its answers, by key.
    pub responses: Option<RawObject>,
    /// The state that the server gave it. Controlled by the client until its seal was checked.
    // spec: MRTR-07
    pub state: Option<Box<str>>,
}

impl InputState {
    /// The answers by key, unread: only what was asked tells what kind of answer one is
    /// ([`InputRequest::read`]).
    ///
    /// # Errors
    ///
    /// [`Fault::BadParams`] when they cannot be told apart.
    // spec: MRTR-14, MRTR-15
    pub fn parse_responses(&self) -> Result<BTreeMap<String, Box<RawValue>>, Fault> {
        let Some(responses) = &self.responses else {
            return Ok(BTreeMap::new());
        };
        responses
            .parse()
            .map_err(|error| Fault::bad_params(format!("`params.inputResponses`: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;

    use super::InputState;

    #[test]
    fn answers_are_told_apart_and_not_judged() {
        let mut input = InputState::default();
        assert!(input.parse_responses().unwrap().is_empty());
        let text = r#"{"sure": {"action": "decline"}, "odd": 7}"#;
        input.responses = Some(RawObject::from_text(text).unwrap());
        let answers = input.parse_responses().unwrap();
        assert_eq!(answers["sure"].get(), r#"{"action": "decline"}"#);
        assert_eq!(answers["odd"].get(), "7");
    }
}
