//! The client's way through results that ask for input: what is asked in a round, and what goes
//! along when the request is made again.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::collections::BTreeMap;

use mcp_types::{InputRequest, InputRequests, InputRequired, InputResponse, Method, RawObject};

use crate::{ClientRequest, InputState};

/// A request on its way through rounds of input. It lives and dies with the request, so nothing
/// of it can reach another one.
///
/// ```text
///   Mrtr::new ─► start_round(required) ─► InputRound ─► answer(responses) ─► InputState, with a new id
///                    ▲                                                │
///                    └───────────── required again ◄──────────────────┘
/// ```
// spec: MRTR-13, MRTR-18
#[derive(Debug)]
pub struct Mrtr {
    rounds: usize,
    limit: usize,
}

impl Mrtr {
    /// How many rounds a request may take unless the user of the client says otherwise.
    pub const DEFAULT_ROUNDS: usize = 10;

    /// The most that one round may ask: more than any user answers.
    pub const MAX_REQUESTS: usize = 64;

    /// A request that may be asked for input `limit` times.
    #[inline]
    pub fn new(limit: usize) -> Self {
        Self { rounds: 0, limit }
    }

    /// Takes the result that asks for input.
    ///
    /// # Errors
    ///
    /// [`MrtrError`] when the result is none that `asked` may have, or when it is one too many.
    // spec: MRTR-02, MRTR-03
    #[inline]
    pub fn start_round(
        &mut self,
        asked: &ClientRequest,
        required: InputRequired,
    ) -> Result<InputRound, MrtrError> {
        let spec = asked.method().map(Method::spec);
        if !spec.is_some_and(|spec| spec.may_require_input) {
            return Err(MrtrError::NotAllowed);
        }
        if required.input_requests.is_none() && required.request_state.is_none() {
            return Err(MrtrError::Empty);
        }
        let requests = required.requests().map_err(MrtrError::Malformed)?;
        if requests.len() > Self::MAX_REQUESTS {
            return Err(MrtrError::TooManyRequests(requests.len()));
        }
        if self.rounds == self.limit {
            return Err(MrtrError::TooManyRounds(self.limit));
        }
        self.rounds += 1;
        Ok(InputRound { requests, required })
    }
}

/// What a server asks before it answers.
#[derive(Debug, Clone)]
pub struct InputRound {
    requests: InputRequests,
    required: InputRequired,
}

impl InputRound {
    /// What is asked, by key. Nothing when the server only wants the request again.
    #[inline]
    pub fn requests(&self) -> &InputRequests {
        &self.requests
    }

    /// The result as the server gave it.
    #[inline]
    pub fn required(&self) -> &InputRequired {
        &self.required
    }

    /// What goes along when the request is made again: the answers under the keys of what was
    /// asked, and the state just as it was given, or none.
    ///
    /// # Errors
    ///
    /// [`InputResponseError`] when an answer is missing, is one to something else, or was not asked for.
    // spec: MRTR-10, MRTR-11
    #[inline]
    pub fn respond(
        &self,
        responses: &BTreeMap<String, InputResponse>,
    ) -> Result<InputState, InputResponseError> {
        if let Some(key) = responses
            .keys()
            .find(|key| !self.requests.contains_key(*key))
        {
            return Err(InputResponseError::Unexpected(key.clone()));
        }
        let mut answers = BTreeMap::new();
        for (key, request) in &self.requests {
            let response = responses.get(key);
            let response = response.ok_or_else(|| InputResponseError::Missing(key.clone()))?;
            if !answers_to(request, response) {
                return Err(InputResponseError::WrongKind {
                    key: key.clone(),
                    method: request.method().into(),
                });
            }
            let raw = response
                .to_raw()
                .map_err(|source| InputResponseError::Unserializable {
                    key: key.clone(),
                    reason: source.to_string(),
                })?;
            answers.insert(key, raw);
        }
        let mut state = InputState::default();
        if self.required.input_requests.is_some() {
            state.responses = RawObject::of(&answers).ok();
        }
        state.state = self.required.request_state.as_deref().map(Into::into);
        Ok(state)
    }
}

// spec: MRTR-17
#[inline]
fn answers_to(request: &InputRequest, response: &InputResponse) -> bool {
    matches!(
        (request, response),
        (InputRequest::Elicit(_), InputResponse::Elicit(_))
            | (
                InputRequest::CreateMessage(_),
                InputResponse::CreateMessage(_)
            )
            | (InputRequest::ListRoots, InputResponse::ListRoots(_))
            | (InputRequest::Other { .. }, InputResponse::Other(_))
    )
}

/// A result that asks for input cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MrtrError {
    /// Only calls of tools, prompts and reads of resources may be answered like that.
    #[error("the server asks for input, which it may not do here")]
    NotAllowed,
    /// There is neither a question nor a state.
    #[error("the server asks for input without saying for which")]
    Empty,
    /// A question cannot be read.
    #[error("what the server asks for is malformed: {0}")]
    Malformed(serde_json::Error),
    /// There are more questions than anybody answers.
    #[error("the server asks {0} things at once, of which {max} are allowed", max = Mrtr::MAX_REQUESTS)]
    TooManyRequests(usize),
    /// The server asks again and again.
    #[error("the server still asks for input after {0} rounds")]
    TooManyRounds(usize),
}

/// Answers do not fit what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputResponseError {
    /// Something was asked and not answered.
    #[error("there is no answer to {0:?}")]
    Missing(String),
    /// Something was answered and not asked.
    #[error("nobody asked for {0:?}")]
    Unexpected(String),
    /// The answer is one to another kind of question.
    #[error("the answer to {key:?} is none to {method}")]
    WrongKind {
        /// The key.
        key: String,
        /// What was asked.
        method: Box<str>,
    },
    /// The answer holds something that JSON cannot have.
    #[error("the answer to {key:?} cannot be sent: {reason}")]
    Unserializable {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests;
