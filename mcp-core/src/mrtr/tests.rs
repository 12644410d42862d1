//! Rounds, their answers, and what cannot be followed.

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
fn answers_go_under_their_keys_with_the_very_state() {
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
fn what_was_not_given_is_not_sent() {
    let mut mrtr = Mrtr::new(3);
    let stateless = mrtr.start_round(&tool(), asking([("a", form())])).unwrap();
    let answers = responses([("a", ElicitResult::cancel().into())]);
    assert_eq!(stateless.respond(&answers).unwrap().state, None);
    // The state alone: there is nothing to answer.
    let again = mrtr
        .start_round(&tool(), InputRequired::again("s"))
        .unwrap();
    let input = again.respond(&BTreeMap::new()).unwrap();
    assert_eq!((input.responses, input.state.as_deref()), (None, Some("s")));
    // An empty question is answered by an empty answer.
    let empty = mrtr.start_round(&tool(), asking([])).unwrap();
    let input = empty.respond(&BTreeMap::new()).unwrap();
    assert_eq!(input.responses, Some(RawObject::empty()));
}

#[test]
fn answers_that_do_not_fit() {
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
fn what_cannot_be_followed() {
    let mut required = InputRequired::default();
    let round = Mrtr::new(1).start_round(&tool(), required.clone());
    assert!(matches!(round, Err(MrtrError::Empty)));

    required.input_requests = Some(RawObject::from_text(r#"{"a": 7}"#).unwrap());
    let round = Mrtr::new(1).start_round(&tool(), required);
    assert!(matches!(round, Err(MrtrError::Malformed(_))));

    for asked in [
        ClientRequest::Discover,
        Call::ListTools(Page::first()).into(),
    ] {
        let round = Mrtr::new(1).start_round(&asked, InputRequired::again("s"));
        assert!(matches!(round, Err(MrtrError::NotAllowed)), "{asked:?}");
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
fn rounds_have_an_end() {
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
