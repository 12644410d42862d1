//! Requests to the client.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mcp_types::{
    ClientCapabilities, ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams, FormSchema,
    InputRequest, InputResponse, Message,
};

use super::{initialize, note, opened, opened_with, server};
use crate::call::{BackChannelError, Input, MessageSink};
use crate::legacy::session::{Session, SessionLimits};

/// The messages that were sent to the client.
#[derive(Default)]
struct Sent {
    texts: Mutex<Vec<String>>,
    broken: bool,
}

impl Sent {
    fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap().clone()
    }
}

impl MessageSink for Sent {
    fn send(&self, message: Bytes) -> bool {
        let text = String::from_utf8(message.to_vec()).unwrap();
        self.texts.lock().unwrap().push(text);
        !self.broken
    }
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn form() -> InputRequest {
    ElicitParams::from(ElicitFormParams::new("Sure?", FormSchema::new())).into()
}

fn ask(
    session: &Arc<Session>,
    sink: &Arc<Sent>,
) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
    let Input::Live { channel, sink } = session.input(sink.clone()) else {
        panic!()
    };
    channel.ask(form(), sink)
}

fn settle(session: &Session, text: &str) -> bool {
    let Ok(Message::Response(response)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    session.handle_response(&response)
}

#[test]
fn question_to_a_client_without_capabilities_is_refused_before_it_is_sent() {
    let (_, session) = opened();
    assert!(session.can_be_asked());
    let mut params = initialize("2025-11-25");
    params.capabilities = ClientCapabilities::default();
    let (session, _) =
        Session::open(None, &params, &server(), None, SessionLimits::default()).unwrap();
    let session = Arc::new(session);
    assert!(!session.can_be_asked());
    let Input::Live { channel, sink } = session.input(session.clone()) else {
        panic!()
    };
    let asked = poll(&mut channel.ask(form(), sink));
    assert!(
        matches!(asked, Poll::Ready(Err(BackChannelError::Refused(_)))),
        "{asked:?}"
    );
}

#[test]
fn request_to_the_client_receives_its_response() {
    // spec: BASE-04
    let (_, session) = opened();
    let sink = Arc::new(Sent::default());
    let mut waiting = ask(&session, &sink);
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":1},"message":"Sure?""#;
    assert!(sink.texts()[0].starts_with(text), "{:?}", sink.texts());
    assert_eq!(poll(&mut waiting), Poll::Pending);
    assert!(!settle(&session, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#;
    assert!(settle(&session, answer));
    let declined = InputResponse::from(ElicitResult::decline());
    assert_eq!(poll(&mut waiting), Poll::Ready(Ok(declined)));
    // No request is pending: a second response is ignored, and nothing is cancelled.
    assert!(!settle(&session, answer));
    drop(waiting);
    assert_eq!(sink.texts().len(), 1);
    // No id is used again, although its request is answered.
    let _second = ask(&session, &sink);
    assert!(sink.texts()[1].starts_with(r#"{"jsonrpc":"2.0","id":2,"#));
}

#[test]
fn response_with_the_id_as_text_or_fraction_answers_its_request() {
    for (id, is_answer) in [
        (r#""1""#, true),
        ("1.0", true),
        (r#""01""#, false),
        (r#""2""#, false),
    ] {
        let (_, session) = opened();
        let mut waiting = ask(&session, &Arc::default());
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#);
        assert_eq!(settle(&session, &answer), is_answer, "{id}");
        assert_eq!(poll(&mut waiting).is_ready(), is_answer, "{id}");
    }
}

#[test]
fn invalid_response_is_malformed() {
    for (answer, expected) in [
        (r#""error":{"code":-32601,"message":"no"}"#, "refused"),
        (r#""result":{"action":7}"#, "malformed"),
    ] {
        let (_, session) = opened();
        let mut waiting = ask(&session, &Arc::default());
        settle(&session, &format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#));
        let outcome = match poll(&mut waiting) {
            Poll::Ready(Err(BackChannelError::Refused(_))) => "refused",
            Poll::Ready(Err(BackChannelError::Malformed(_))) => "malformed",
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome, expected);
    }
}

#[test]
fn dropped_request_is_cancelled() {
    // spec: CAN-01
    let (_, session) = opened();
    let sink = Arc::new(Sent::default());
    drop(ask(&session, &sink));
    assert!(sink.texts()[1].contains(r#""method":"notifications/cancelled""#));
    assert!(!settle(
        &session,
        r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#
    ));
}

#[test]
fn requests_to_the_client_have_a_timeout_and_a_limit() {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    static NOW: Mutex<Duration> = Mutex::new(Duration::ZERO);
    fn clock() -> Instant {
        *START.get_or_init(Instant::now) + *NOW.lock().unwrap()
    }
    let limits = SessionLimits {
        pending_requests: 1,
        clock,
        response_timeout: Duration::from_secs(10),
        max_response_time: Duration::from_secs(25),
        ..SessionLimits::default()
    };
    let (_, session) = opened_with(limits);
    let sink = Arc::new(Sent::default());
    let mut first = ask(&session, &sink);
    let mut second = ask(&session, &sink);
    assert_eq!(poll(&mut second), Poll::Ready(Err(BackChannelError::Busy)));
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    for (seconds, touched) in [(9, true), (18, true), (24, false)] {
        *NOW.lock().unwrap() = Duration::from_secs(seconds);
        session.expire_requests();
        assert_eq!(poll(&mut first), Poll::Pending, "{seconds}");
        if touched {
            session.handle_notification(&note(progress));
        }
    }
    *NOW.lock().unwrap() = Duration::from_secs(25);
    assert!(session.next_deadline() <= Some(clock()));
    session.expire_requests();
    assert_eq!(
        poll(&mut first),
        Poll::Ready(Err(BackChannelError::TimedOut))
    );
    assert!(sink.texts()[1].contains("notifications/cancelled"));
    assert_eq!(session.next_deadline(), None);
}

#[test]
fn closed_session_fails_pending_requests() {
    let (_, session) = opened();
    let mut waiting = ask(&session, &Arc::default());
    session.close();
    assert_eq!(
        poll(&mut waiting),
        Poll::Ready(Err(BackChannelError::Closed))
    );
    let mut late = ask(&session, &Arc::default());
    assert_eq!(poll(&mut late), Poll::Ready(Err(BackChannelError::Closed)));
    let sink = Arc::new(Sent {
        broken: true,
        ..Sent::default()
    });
    let (_, session) = opened();
    assert_eq!(
        poll(&mut ask(&session, &sink)),
        Poll::Ready(Err(BackChannelError::Closed))
    );
}

// spec: ELIC-02
#[test]
fn request_that_the_revision_lacks_is_refused() {
    let params = initialize("2024-11-05");
    let (session, _) =
        Session::open(None, &params, &server(), None, SessionLimits::default()).unwrap();
    let session = Arc::new(session);
    let sink = Arc::new(Sent::default());
    let outcome = poll(&mut ask(&session, &sink));
    assert!(
        matches!(outcome, Poll::Ready(Err(BackChannelError::Refused(_)))),
        "{outcome:?}"
    );
    assert!(sink.texts().is_empty());
}

#[test]
fn client_at_an_older_revision_is_asked_if_it_declares_urls() {
    for declares_url in [true, false] {
        let mut params = initialize("2025-06-18");
        if declares_url {
            params.capabilities = params.capabilities.with_url_elicitation();
        }
        let (session, _) =
            Session::open(None, &params, &server(), None, SessionLimits::default()).unwrap();
        let sink = Arc::new(Sent::default());
        let Input::Live { channel, sink: out } = Arc::new(session).input(sink.clone()) else {
            panic!()
        };
        let visit =
            ElicitParams::from(ElicitUrlParams::new("Sign in", "https://example.com/login"));
        let mut waiting = channel.ask(visit.into(), out);
        assert_eq!(poll(&mut waiting).is_pending(), declares_url);
        let texts = sink.texts();
        assert_eq!(texts.len(), usize::from(declares_url), "{texts:?}");
        for text in texts {
            assert!(text.contains(r#""mode":"url""#), "{text}");
            assert!(text.contains(r#""elicitationId":""#), "{text}");
        }
    }
}
