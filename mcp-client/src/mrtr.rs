//! Multi-round-trip requests, on the side of the client: a result asks for input, and the client
//! repeats the request with it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::collections::BTreeMap;

use mcp_core::{ClientRequest, InputState};
use mcp_types::{InputRequest, InputRequests, InputRequired, InputResponse, RawObject};

/// The state of one request that may need several rounds of input.
///
/// ```text
///   Mrtr::new ─► start_round(required) ─► InputRound ─► respond(responses) ─► InputState, with a new id
///                    ▲                                                │
///                    └───────────── required again ◄──────────────────┘
/// ```
// spec: MRTR-18
#[derive(Debug)]
pub(crate) struct Mrtr {
    rounds: usize,
    limit: usize,
}

impl Mrtr {
    /// The default limit of rounds: 10.
    pub(crate) const DEFAULT_ROUNDS: usize = 10;

    /// The request limit for input in one round: 64.
    pub(crate) const MAX_REQUESTS: usize = 64;

    /// The state of a request that may take `limit` rounds.
    pub(crate) fn new(limit: usize) -> Self {
        Self { rounds: 0, limit }
    }

    /// Starts a round with the result that asks for input.
    ///
    /// # Errors
    ///
    /// Returns [`MrtrError`] when the method of `request` does not allow such a result, when the
    /// result is malformed, or when a limit is reached.
    // spec: MRTR-02
    pub(crate) fn start_round(
        &mut self,
        request: &ClientRequest,
        required: InputRequired,
    ) -> Result<InputRound, MrtrError> {
        let ClientRequest::Call(call) = request else {
            return Err(MrtrError::NotAllowed);
        };
        if !call.may_require_input() {
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

/// One round of input: the server's requests, and the client's responses.
#[derive(Debug, Clone)]
pub(crate) struct InputRound {
    requests: InputRequests,
    required: InputRequired,
}

impl InputRound {
    /// Returns the requests for input, by key. Empty when the server only wants the request repeated.
    pub(crate) fn requests(&self) -> &InputRequests {
        &self.requests
    }

    /// Returns the server's result.
    pub(crate) fn required(&self) -> &InputRequired {
        &self.required
    }

    /// Builds the input for the repeated request: the responses under the keys of their requests, and
    /// the server's unchanged state.
    ///
    /// # Errors
    ///
    /// Returns [`InputResponseError`] when a response is missing, unexpected, or of another kind than
    /// its request.
    // spec: MRTR-10, MRTR-11
    pub(crate) fn respond(
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
            state.responses = RawObject::from_value(&answers).ok();
        }
        // spec: MRTR-13
        state.state = self.required.request_state.as_deref().map(Into::into);
        Ok(state)
    }
}

// spec: MRTR-17
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

/// A result that asks for input in a way that the client cannot follow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MrtrError {
    /// The method does not allow the server to ask for input.
    #[error("the server asks for input, which it may not do here")]
    NotAllowed,
    /// The result has neither requests nor a state.
    #[error("the server asks for input without saying for which")]
    Empty,
    /// A request for input cannot be decoded.
    #[error("what the server asks for is malformed: {0}")]
    Malformed(serde_json::Error),
    /// The round has more than 64 requests.
    #[error("the server asks {0} things at once, of which {max} are allowed", max = Mrtr::MAX_REQUESTS)]
    TooManyRequests(usize),
    /// The limit of rounds is reached.
    #[error("the server still asks for input after {0} rounds; raise `max_input_rounds`")]
    TooManyRounds(usize),
}

/// Responses that do not fit a round's requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputResponseError {
    /// A request has no response.
    #[error("there is no answer to {0:?}")]
    Missing(String),
    /// A response has no request.
    #[error("the response {0:?} has no request")]
    Unexpected(String),
    /// The response is of another kind than its request.
    #[error("the answer to {key:?} is none to {method}")]
    WrongKind {
        /// The key.
        key: String,
        /// The request's method.
        method: Box<str>,
    },
    /// The response cannot be written as JSON.
    #[error("the answer to {key:?} cannot be sent: {reason}")]
    Unserializable {
        /// The key.
        key: String,
        /// The cause.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    //! Rounds, responses and invalid results.

    use std::collections::BTreeMap;

    use mcp_core::{Call, ClientRequest};
    use mcp_types::{
        CallToolParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult,
        FormSchema, InputRequest, InputRequests, InputRequired, InputResponse, ListRootsResult,
        Page, RawObject,
    };

    use super::{InputResponseError, Mrtr, MrtrError};

    fn tool() -> ClientRequest {
        Call::CallTool(CallToolParams::new("add", None)).into()
    }

    fn form() -> InputRequest {
        ElicitParams::from(ElicitFormParams::new("Sure?", FormSchema::new())).into()
    }

    fn asking(requests: impl IntoIterator<Item = (&'static str, InputRequest)>) -> InputRequired {
        let requests = requests.into_iter();
        let requests: InputRequests = requests.map(|(key, ask)| (key.to_owned(), ask)).collect();
        InputRequired::new(&requests).unwrap()
    }

    fn responses(
        answers: impl IntoIterator<Item = (&'static str, InputResponse)>,
    ) -> BTreeMap<String, InputResponse> {
        let answers = answers.into_iter();
        answers.map(|(key, it)| (key.to_owned(), it)).collect()
    }

    // spec: MRTR-10, MRTR-11, MRTR-13
    #[test]
    fn responses_have_their_keys_and_the_unchanged_state() {
        let state = "\u{7f}opaque \"state\"\n";
        let mut required = asking([("a", form()), ("b", InputRequest::ListRoots)]);
        required.request_state = Some(state.to_owned());
        let round = Mrtr::new(1).start_round(&tool(), required).unwrap();
        assert_eq!(round.requests().len(), 2);
        let answers = [
            ("a", ElicitResult::decline().into()),
            ("b", ListRootsResult::from(vec![]).into()),
        ];
        let input = round.respond(&responses(answers)).unwrap();
        assert_eq!(input.state.as_deref(), Some(state));
        let text = r#"{"a":{"action":"decline"},"b":{"roots":[]}}"#;
        assert_eq!(input.responses.unwrap().as_str(), text);
    }

    // spec: MRTR-03
    #[test]
    fn missing_requests_or_state_are_not_sent() {
        let mut mrtr = Mrtr::new(3);
        let stateless = mrtr.start_round(&tool(), asking([("a", form())])).unwrap();
        let answers = responses([("a", ElicitResult::cancel().into())]);
        assert_eq!(stateless.respond(&answers).unwrap().state, None);
        // A state without requests.
        let again = mrtr
            .start_round(&tool(), InputRequired::again("s"))
            .unwrap();
        let input = again.respond(&BTreeMap::new()).unwrap();
        assert_eq!((input.responses, input.state.as_deref()), (None, Some("s")));
        // An empty map of requests has an empty map of responses.
        let empty = mrtr.start_round(&tool(), asking([])).unwrap();
        let input = empty.respond(&BTreeMap::new()).unwrap();
        assert_eq!(input.responses, Some(RawObject::default()));
    }

    #[test]
    fn responses_that_do_not_fit_are_errors() {
        // spec: MRTR-10
        let round = Mrtr::new(1)
            .start_round(&tool(), asking([("a", form())]))
            .unwrap();
        let message = CreateMessageResult::new("m", "hi");
        for (answers, error) in [
            (responses([]), InputResponseError::Missing("a".to_owned())),
            (
                responses([("z", ElicitResult::cancel().into())]),
                InputResponseError::Unexpected("z".to_owned()),
            ),
            (
                responses([("a", message.into())]),
                InputResponseError::WrongKind {
                    key: "a".to_owned(),
                    method: "elicitation/create".into(),
                },
            ),
        ] {
            assert_eq!(round.respond(&answers), Err(error));
        }
    }

    // spec: MRTR-02, MRTR-03
    #[test]
    fn invalid_results_are_errors() {
        let mut required = InputRequired::default();
        let round = Mrtr::new(1).start_round(&tool(), required.clone());
        assert!(matches!(round, Err(MrtrError::Empty)));

        required.input_requests = Some(RawObject::from_text(r#"{"a": 7}"#).unwrap());
        let round = Mrtr::new(1).start_round(&tool(), required);
        assert!(matches!(round, Err(MrtrError::Malformed(_))));

        for request in [
            ClientRequest::Discover,
            Call::ListTools(Page::default()).into(),
        ] {
            let round = Mrtr::new(1).start_round(&request, InputRequired::again("s"));
            assert!(matches!(round, Err(MrtrError::NotAllowed)), "{request:?}");
        }

        let many = (0..=Mrtr::MAX_REQUESTS).map(|key| (key.to_string(), form()));
        let many = InputRequired::new(&many.collect()).unwrap();
        let error = Mrtr::new(1)
            .start_round(&tool(), many)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the server asks 65 things at once, of which 64 are allowed"
        );
    }

    #[test]
    fn round_beyond_the_limit_is_an_error() {
        for limit in [0, 1, 10] {
            let mut mrtr = Mrtr::new(limit);
            for _ in 0..limit {
                mrtr.start_round(&tool(), InputRequired::again("s"))
                    .unwrap();
            }
            let round = mrtr.start_round(&tool(), InputRequired::again("s"));
            assert!(matches!(round, Err(MrtrError::TooManyRounds(cap)) if cap == limit));
        }
    }
}
