//! How a call gets what it asks its client for: input of the user, of the language model, or the
//! roots.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use mcp_types::{InputRequest, InputResponse, RawObject};
use serde_json::value::RawValue;

use crate::{BoxFuture, Fault};

/// How a call gets what it asks its client for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// The client sends its answers along with the call (modern era): what is not among them is
    /// asked for by the reply, and the call comes again.
    Recorded(InputState),
    /// The client is asked while the call runs (a session of the legacy era).
    Live(Arc<dyn BackChannel>),
    /// Nobody can be asked: a legacy client without a session.
    Absent,
}

impl Default for Input {
    fn default() -> Self {
        Self::Recorded(InputState::default())
    }
}

impl From<InputState> for Input {
    fn from(recorded: InputState) -> Self {
        Self::Recorded(recorded)
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
        &self,
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
    /// The answer under `key`, read by the kind of what was `asked`; `None` when there is none.
    /// Answers that nobody asked for are never looked at.
    ///
    /// # Errors
    ///
    /// [`Fault::BadParams`] when the answer is none that the request can have.
    // spec: MRTR-14, MRTR-15, MRTR-17
    pub fn answer(&self, key: &str, asked: &InputRequest) -> Result<Option<InputResponse>, Fault> {
        let malformed = |reason: &dyn Display| {
            Fault::bad_params(format!("`params.inputResponses.{key}`: {reason}"))
        };
        let Some(responses) = &self.responses else {
            return Ok(None);
        };
        let members: BTreeMap<String, Box<RawValue>> =
            responses.parse().map_err(|error| malformed(&error))?;
        let Some(answer) = members.get(key) else {
            return Ok(None);
        };
        let answer = RawObject::from_raw(answer).map_err(|error| malformed(&error))?;
        let read = asked.read(&answer).map_err(|error| malformed(&error))?;
        Ok(Some(read))
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{ElicitParams, ElicitResult, FormSchema, InputRequest, RawObject};

    use super::InputState;
    use crate::Fault;

    #[test]
    fn answers_are_read_by_what_was_asked() {
        let mut input = InputState::default();
        let form = InputRequest::from(ElicitParams::form("Sure?", FormSchema::new()));
        assert_eq!(input.answer("sure", &form), Ok(None));
        let text = r#"{"sure": {"action": "decline"}, "odd": 7, "roots": {"roots": []}}"#;
        input.responses = Some(RawObject::from_text(text).unwrap());
        let declined = Some(ElicitResult::decline().into());
        assert_eq!(input.answer("sure", &form), Ok(declined));
        assert_eq!(input.answer("other", &form), Ok(None));
        for (key, asked) in [
            ("odd", &form),
            ("roots", &form),
            ("sure", &InputRequest::ListRoots),
        ] {
            let Err(Fault::BadParams { message, .. }) = input.answer(key, asked) else {
                panic!("{key}")
            };
            assert!(
                message.contains(&format!("inputResponses.{key}")),
                "{message}"
            );
        }
    }
}
