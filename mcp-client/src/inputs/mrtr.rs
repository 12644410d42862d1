//! Multi-round-trip requests, on the side of the client: a result asks for input, and the client
//! repeats the request with it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::collections::BTreeMap;

use mcp_core::{ClientRequest, InputState};
use mcp_types::{InputRequest, InputRequests, InputRequired, InputResponse, RawObject};

use super::error::InputError;

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
    /// Returns [`InputError::Round`] when the method of `request` does not allow such a result, when the
    /// result is malformed, or when a limit is reached.
    // spec: MRTR-02
    pub(crate) fn start_round(
        &mut self,
        request: &ClientRequest,
        required: InputRequired,
    ) -> Result<InputRound, InputError> {
        let invalid = |reason: String| Err(InputError::Round(reason));
        if !matches!(request, ClientRequest::Call(call) if call.may_require_input()) {
            return invalid("the server asks for input, which it may not do here".into());
        }
        if required.input_requests.is_none() && required.request_state.is_none() {
            return invalid("the server asks for input without saying for which".into());
        }
        let requests = match required.requests() {
            Ok(requests) => requests,
            Err(error) => {
                return invalid(format!("what the server asks for is malformed: {error}"));
            }
        };
        let (count, max) = (requests.len(), Self::MAX_REQUESTS);
        if count > max {
            return invalid(format!(
                "the server asks {count} things at once, of which {max} are allowed"
            ));
        }
        if self.rounds == self.limit {
            let rounds = self.limit;
            return invalid(format!(
                "the server still asks for input after {rounds} rounds; raise `max_input_rounds`"
            ));
        }
        self.rounds += 1;
        Ok(InputRound { requests, required })
    }
}

/// One round of input: the server's requests, and the client's responses.
#[derive(Debug, Clone)]
pub(crate) struct InputRound {
    /// The requests for input, by key. Empty when the server only wants the request repeated.
    pub(crate) requests: InputRequests,
    /// The server's result.
    pub(crate) required: InputRequired,
}

impl InputRound {
    /// Builds the input for the repeated request: the responses under the keys of their requests, and
    /// the server's unchanged state.
    ///
    /// # Errors
    ///
    /// Returns [`InputError::Answer`] when a response is missing, unexpected, or of another kind than
    /// its request.
    // spec: MRTR-10, MRTR-11
    pub(crate) fn respond(
        &self,
        responses: &BTreeMap<String, InputResponse>,
    ) -> Result<InputState, InputError> {
        let mut keys = responses.keys();
        if let Some(key) = keys.find(|key| !self.requests.contains_key(*key)) {
            let reason = format!("the response {key:?} has no request");
            return Err(InputError::Answer(reason));
        }
        let mut answers = BTreeMap::new();
        for (key, request) in &self.requests {
            let reason = match responses.get(key) {
                None => format!("there is no answer to {key:?}"),
                Some(response) if !answers_to(request, response) => {
                    let method = request.method();
                    format!("the answer to {key:?} is none to {method}")
                }
                Some(response) => match response.to_raw() {
                    Ok(raw) => {
                        answers.insert(key, raw);
                        continue;
                    }
                    Err(error) => format!("the answer to {key:?} cannot be sent: {error}"),
                },
            };
            return Err(InputError::Answer(reason));
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

    use super::{InputError, Mrtr};

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
        assert_eq!(round.requests.len(), 2);
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
            (responses([]), "there is no answer to \"a\""),
            (
                responses([("z", ElicitResult::cancel().into())]),
                "the response \"z\" has no request",
            ),
            (
                responses([("a", message.into())]),
                "the answer to \"a\" is none to elicitation/create",
            ),
        ] {
            let found = round.respond(&answers).unwrap_err();
            assert!(matches!(&found, InputError::Answer(found) if found == error));
        }
    }

    // spec: MRTR-02, MRTR-03
    #[test]
    fn invalid_results_are_errors() {
        let mut required = InputRequired::default();
        let round = Mrtr::new(1).start_round(&tool(), required.clone());
        let is_invalid = |round: Result<_, InputError>, reason: &str| matches!(round, Err(InputError::Round(found)) if found.contains(reason));
        assert!(is_invalid(round, "without saying for which"));

        required.input_requests = Some(RawObject::from_text(r#"{"a": 7}"#).unwrap());
        let round = Mrtr::new(1).start_round(&tool(), required);
        assert!(is_invalid(round, "is malformed: "));

        for request in [
            ClientRequest::Discover,
            Call::ListTools(Page::default()).into(),
        ] {
            let round = Mrtr::new(1).start_round(&request, InputRequired::again("s"));
            assert!(is_invalid(round, "may not do here"), "{request:?}");
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
            let error = round.unwrap_err().to_string();
            assert!(error.contains(&format!("after {limit} rounds")), "{error}");
        }
    }
}
