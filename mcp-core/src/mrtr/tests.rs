//! Rounds, responses and invalid results.

use std::collections::BTreeMap;

use mcp_types::{
    CallToolParams, CreateMessageResult, ElicitParams, ElicitResult, FormSchema, InputRequest,
    InputRequests, InputRequired, InputResponse, ListRootsResult, Page, RawObject,
};

use super::{InputResponseError, Mrtr, MrtrError};
use crate::{Call, ClientRequest};

fn tool() -> ClientRequest {
    Call::CallTool(CallToolParams::new("add", None)).into()
}

fn form() -> InputRequest {
    ElicitParams::form("Sure?", FormSchema::new()).into()
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

#[test]
fn responses_have_their_keys_and_the_unchanged_state() {
    let state = "\u{7f}opaque \"state\"\n";
    let required = asking([("a", form()), ("b", InputRequest::ListRoots)]).request_state(state);
    let round = Mrtr::new(1).start_round(&tool(), required).unwrap();
    assert_eq!(round.requests().len(), 2);
    let answers = [
        ("a", ElicitResult::decline().into()),
        ("b", ListRootsResult::new([]).into()),
    ];
    let input = round.respond(&responses(answers)).unwrap();
    assert_eq!(input.state.as_deref(), Some(state));
    let text = r#"{"a":{"action":"decline"},"b":{"roots":[]}}"#;
    assert_eq!(input.responses.unwrap().as_str(), text);
}

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
    assert_eq!(input.responses, Some(RawObject::empty()));
}

#[test]
fn responses_that_do_not_fit_are_errors() {
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
        Call::ListTools(Page::first()).into(),
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
