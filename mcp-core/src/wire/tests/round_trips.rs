//! Round trips: a decoded message equals the encoded one where both sides know all fields, and from
//! the second round on where an older revision has removed fields.

use std::cell::Cell;
use std::fmt::Debug;

use crate::message::{Reply, ResultBody};
use mcp_types::ProtocolVersion::{self, V2025_11_25, V2026_07_28};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::messages::Side;
use super::strategies::{self, Range};

/// Round trips of the fields that the two newest revisions share lose nothing.
const LOSSLESS: [ProtocolVersion; 2] = [V2025_11_25, V2026_07_28];

#[track_caller]
fn same_text(a: &[u8], b: &[u8]) {
    assert_eq!(String::from_utf8_lossy(a), String::from_utf8_lossy(b));
}

/// Runs `check` on many generated values.
fn many<T: Debug>(values: impl Strategy<Value = T>, check: impl Fn(T)) {
    let config = Config {
        cases: 200,
        failure_persistence: None,
        ..Config::default()
    };
    let run = TestRunner::new(config).run(&values, |value| {
        check(value);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

/// Returns the sides for a revision, and the ranges of values to test.
fn sides() -> impl Iterator<Item = (Side, Range)> {
    let all = ProtocolVersion::ALL.map(|version| (Side::new(version), Range::All));
    let lossless = LOSSLESS.map(|version| (Side::new(version), Range::Shared));
    all.into_iter().chain(lossless)
}

#[test]
fn requests_read_back() {
    for (mut side, range) in sides() {
        side.token = Some("t".into());
        many(strategies::asked(range, side.version), |asked| {
            let text = side.call(&asked);
            let read = side.read_call(&text);
            same_text(&side.call(&read.request), &text);
            if !side.version.is_modern() {
                assert_eq!(read.progress_token, side.token);
            }
            if range == Range::Shared {
                let text = Side::new(side.version).call(&asked);
                let read = side.read_call(&text).request;
                assert_eq!(format!("{read:#?}"), format!("{asked:#?}"));
            }
        });
    }
}

#[test]
fn replies_read_back() {
    for (side, range) in sides() {
        many(strategies::reply(range, side.version), |(asked, reply)| {
            let text = side.reply(&reply);
            let read = side.read_reply(&asked, &text);
            let again = side.reply(&read);
            match (&reply, &read) {
                (Reply::Complete { body, .. }, Reply::Complete { body: read, .. }) => {
                    same_text(&again, &text);
                    if range == Range::Shared {
                        assert_eq!(plain(read), plain(body));
                    }
                }
                (Reply::InputRequired(asked), Reply::InputRequired(read)) => {
                    same_text(&again, &text);
                    if range == Range::Shared {
                        assert_eq!(read.requests().unwrap(), asked.requests().unwrap());
                        assert_eq!(read.request_state, asked.request_state);
                    }
                }
                (Reply::Fault(_), Reply::Fault(_)) => same_text(&again, &text),
                _ => panic!("{read:?} for {reply:?}"),
            }
        });
    }
}

/// A gateway sends the same result with and without decoding its content.
#[test]
fn raw_replies_equal_decoded_replies() {
    let mut passed_on = 0;
    for (from, to) in ProtocolVersion::ALL
        .into_iter()
        .flat_map(|from| ProtocolVersion::ALL.map(|to| (from, to)))
    {
        let (from, to) = (Side::new(from), Side::new(to));
        let count = Cell::new(0);
        many(
            strategies::reply(Range::All, from.version),
            |(asked, reply)| {
                let text = from.reply(&reply);
                let raw = from.read_raw_reply(&asked, &text);
                if let Reply::Complete {
                    body: ResultBody::Raw(_),
                    ..
                } = &raw
                {
                    count.set(count.get() + 1);
                }
                let decoded = from.read_reply(&asked, &text);
                assert_eq!(json_of(&to.reply(&raw)), json_of(&to.reply(&decoded)));
            },
        );
        passed_on += count.get();
    }
    assert!(passed_on > 500, "{passed_on} raw results");
}

fn json_of(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// Returns a result as JSON, without the keys that the modern wire adds to `_meta`.
fn plain(body: &ResultBody) -> Value {
    let value = match body {
        ResultBody::Discover(it) => serde_json::to_value(it),
        ResultBody::ListTools(it) => serde_json::to_value(&***it),
        ResultBody::CallTool(it) => serde_json::to_value(it),
        ResultBody::ListResources(it) => serde_json::to_value(&***it),
        ResultBody::ListResourceTemplates(it) => serde_json::to_value(&***it),
        ResultBody::ReadResource(it) => serde_json::to_value(it),
        ResultBody::ListPrompts(it) => serde_json::to_value(&***it),
        ResultBody::GetPrompt(it) => serde_json::to_value(it),
        ResultBody::Complete(it) => serde_json::to_value(it),
        ResultBody::Listen(it) => serde_json::to_value(it),
        ResultBody::Initialize(it) => serde_json::to_value(it),
        ResultBody::Empty => Ok(json!({})),
        ResultBody::Other(it) => serde_json::to_value(it),
        other => panic!("{other:?}"),
    };
    let mut value = value.unwrap();
    let members = value.as_object_mut().unwrap();
    if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.shift_remove("io.modelcontextprotocol/serverInfo");
        meta.shift_remove("io.modelcontextprotocol/subscriptionId");
        if meta.is_empty() {
            members.shift_remove("_meta");
        }
    }
    value
}

#[test]
fn server_notifications_read_back() {
    for (side, range) in sides() {
        many(strategies::server_note(range), |(note, subscription)| {
            let Some(text) = side.note(&note, subscription.as_ref()) else {
                return;
            };
            let (read, of) = side.read_note(&text);
            let expected = subscription.filter(|_| side.version.is_modern());
            assert_eq!(of, expected);
            same_text(&side.note(&read, of.as_ref()).unwrap(), &text);
            if range == Range::Shared {
                assert_eq!(read, note);
            }
        });
    }
}

#[test]
fn client_notifications_read_back() {
    for (side, range) in sides() {
        many(strategies::client_note(range), |note| {
            let Some(text) = side.client_note(&note) else {
                return;
            };
            let read = side.read_client_note(&text);
            same_text(&side.client_note(&read).unwrap(), &text);
            if range == Range::Shared {
                assert_eq!(read, note);
            }
        });
    }
}

#[test]
fn server_requests_and_responses_read_back() {
    for (mut side, range) in sides() {
        side.token = Some(3.into());
        many(strategies::asked_and_answered(range), |(ask, answer)| {
            let Ok(text) = side.ask(&ask) else { return };
            let read = side.read_ask(&text);
            let json: Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(json["params"]["_meta"]["progressToken"], 3);
            same_text(&side.ask(&read).unwrap(), &text);
            side_without_token(&side, &ask, range);

            let text = side.answer(&answer);
            let read = side.read_answer(&ask, &text);
            same_text(&side.answer(&read), &text);
            if range == Range::Shared && !matches!(answer, crate::message::ClientResponse::Fault(_))
            {
                assert_eq!(read, answer);
            }
        });
    }
}

/// Checks that a request without a progress token is decoded unchanged.
fn side_without_token(side: &Side, ask: &crate::message::ServerRequest, range: Range) {
    if range == Range::Shared {
        let side = Side::new(side.version);
        let text = side.ask(ask).unwrap();
        assert_eq!(&side.read_ask(&text), ask);
    }
}
