//! Sessions, message by message.

use std::future::ready;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mcp_types::ProtocolVersion::{self, V2024_11_05, V2025_03_26, V2025_11_25, V2026_07_28};
use mcp_types::{
    ClientCapabilities, ElicitParams, ElicitResult, FormSchema, Implementation, InitializeParams,
    InputRequest, InputResponse, LoggingLevel, Message, Notification, RawObject, Request,
    ServerCapabilities,
};

use super::{HandledNotification, HandledRequest, Session, SessionLimits};
use crate::legacy::{SessionRecord, read_stateless};
use crate::subscriptions::{MAX_URI_BYTES, MAX_URI_LEN};
use crate::{
    BackChannelError, BoxFuture, Call, ChangeBus, ChangeEvent, Changes, ClientFacts, Exchange,
    Fault, Gate, Input, MemoryBus, MessageSink, Principal, Reply, ResultBody, ServerNotification,
    ServerProfile, Service, Subscriber,
};

/// A server with changes.
struct Server {
    profile: Arc<ServerProfile>,
    bus: Arc<MemoryBus>,
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.profile.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(ready(ResultBody::Empty.into()))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.bus.clone().into())
    }
}

fn server() -> Server {
    let offers = ServerCapabilities::default()
        .with_tools(true)
        .with_resources(false, true);
    let profile = ServerProfile::new(Implementation::new("server", "1"))
        .capabilities(offers)
        .versions(ProtocolVersion::ALL);
    Server {
        profile: Arc::new(profile),
        bus: Arc::default(),
    }
}

fn initialize(version: &str) -> InitializeParams {
    let capabilities = ClientCapabilities::default().with_elicitation();
    let info = Implementation::new("client", "1");
    let mut params = InitializeParams::new(V2025_11_25, capabilities, info);
    params.protocol_version = version.to_owned();
    params
}

fn opened_with(limits: SessionLimits) -> (Server, Arc<Session>) {
    let server = server();
    let params = initialize("2025-11-25");
    let (session, _) = Session::open(&params, &server, None, limits).unwrap();
    (server, Arc::new(session))
}

fn opened() -> (Server, Arc<Session>) {
    opened_with(SessionLimits::default())
}

fn request(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn note(text: &str) -> Notification<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Notification(note)) => note,
        other => panic!("{other:?}"),
    }
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn asks(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

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

fn poll_change(session: &Session) -> Poll<ServerNotification> {
    session.poll_change(
        &mut Context::from_waker(Waker::noop()),
        &Subscriber::default(),
    )
}

#[test]
fn session_has_the_requested_or_the_newest_revision() {
    for (requested, expected) in [
        ("2024-11-05", V2024_11_05),
        ("2025-03-26", V2025_03_26),
        ("2025-11-25", V2025_11_25),
        ("2026-07-28", V2025_11_25),
        ("never", V2025_11_25),
    ] {
        let (session, reply) = Session::open(
            &initialize(requested),
            &server(),
            None,
            SessionLimits::default(),
        )
        .unwrap();
        assert_eq!(session.wire().version(), expected);
        let Reply::Complete {
            body: ResultBody::Initialize(result),
            ..
        } = reply
        else {
            panic!("{reply:?}")
        };
        assert_eq!(result.version(), Some(expected));
        assert_eq!(session.facts().client_info().unwrap().name, "client");
    }
}

#[test]
fn modern_server_refuses_initialize_with_its_revisions() {
    let mut server = server();
    let profile = ServerProfile::clone(&server.profile).versions([V2026_07_28]);
    server.profile = Arc::new(profile);
    let params = initialize("2025-11-25");
    let fault = Session::open(&params, &server, None, SessionLimits::default()).unwrap_err();
    assert!(matches!(fault, Fault::UnsupportedVersion { .. }), "{fault}");
}

/// Returns the parameters of a client whose identity and capabilities have `bytes` bytes together.
fn initialize_with_bytes(bytes: usize) -> InitializeParams {
    let mut params = initialize("2025-11-25");
    let size = |params: &InitializeParams| {
        let info = serde_json::to_string(&params.client_info).unwrap();
        info.len() + serde_json::to_string(&params.capabilities).unwrap().len()
    };
    params.client_info.name.clear();
    params.client_info.name = "n".repeat(bytes - size(&params));
    assert_eq!(size(&params), bytes);
    params
}

#[test]
fn client_above_its_limits_is_refused() {
    let open = |params: &InitializeParams| {
        let opened = Session::open(params, &server(), None, SessionLimits::default());
        opened.map(|(session, _)| session.record())
    };
    let largest = open(&initialize_with_bytes(ClientFacts::MAX_BYTES)).unwrap();
    let mut wide = initialize("2025-11-25");
    for index in 0..ClientFacts::MAX_VALUES {
        let name = format!("x{index}");
        wide.capabilities.experimental.insert(name, true);
    }
    let mut long = initialize("2025-11-25");
    let text = "t".repeat(4 << 20);
    long.capabilities.experimental.insert("x", text);
    let above = initialize_with_bytes(ClientFacts::MAX_BYTES + 1);
    for params in [&above, &wide, &long] {
        let fault = open(params).unwrap_err();
        assert!(matches!(fault, Fault::BadParams { .. }), "{fault}");
    }
    for (params, expected) in [(&above, "16385"), (&wide, "259")] {
        let fault = open(params).unwrap_err().to_string();
        assert!(fault.contains(expected), "{fault}");
    }

    // A record of a store has the same limits.
    let text = serde_json::to_string(&largest).unwrap();
    let restored: SessionRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(restored, largest);
    let mut record = largest;
    record.client_info = RawObject::from_value(&above.client_info).ok();
    let text = serde_json::to_string(&record).unwrap();
    let error = serde_json::from_str::<SessionRecord>(&text).unwrap_err();
    assert!(error.to_string().contains("16385"), "{error}");
    record.client_info = None;
    record.capabilities = wide.capabilities;
    let text = serde_json::to_string(&record).unwrap();
    assert!(serde_json::from_str::<SessionRecord>(&text).is_err());
}

#[test]
fn request_is_answered_or_becomes_a_call() {
    let call = r#"{"name":"add","arguments":{},"_meta":{"progressToken":"p"}}"#;
    for (method, params, expected) in [
        ("ping", "{}", "answer"),
        ("logging/setLevel", r#"{"level":"error"}"#, "answer"),
        ("logging/setLevel", r#"{"level":"loud"}"#, "params"),
        ("resources/subscribe", r#"{"uri":"a:b"}"#, "answer"),
        ("resources/unsubscribe", r#"{"uri":"a:b"}"#, "answer"),
        ("resources/subscribe", "{}", "params"),
        (
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            "refused",
        ),
        ("tools/call", call, "call"),
        ("server/discover", "{}", "method"),
        ("subscriptions/listen", r#"{"notifications":{}}"#, "method"),
        ("weather/ask", "{}", "call"),
    ] {
        // The order of `initialized` and the first requests does not matter.
        for ready in [false, true] {
            let (_, session) = opened();
            if ready {
                assert_eq!(
                    session.handle_notification(&note(READY)),
                    HandledNotification::Ready
                );
            }
            let text = asks(method, params);
            let outcome = match session.handle_request(&request(&text), Subscriber::default) {
                Ok(HandledRequest::Call(call)) => {
                    if let crate::ClientRequest::Call(Call::CallTool(_)) = call.request {
                        assert_eq!(call.progress_token, Some("p".into()));
                    }
                    "call"
                }
                Ok(HandledRequest::Reply(Reply::Complete {
                    body: ResultBody::Empty,
                    ..
                })) => "answer",
                Ok(HandledRequest::Reply(_)) => "odd answer",
                Err(Fault::NoSuchMethod { .. }) => "method",
                Err(Fault::BadParams { .. }) => "params",
                Err(Fault::InvalidRequest(_)) => "refused",
                Err(_) => "odd fault",
            };
            assert_eq!(outcome, expected, "{text}");
        }
    }
}

#[test]
fn set_level_applies_to_later_calls() {
    let (_, session) = opened();
    assert_eq!(session.facts().log_level, Some(LoggingLevel::Info));
    let text = asks("logging/setLevel", r#"{"level":"error"}"#);
    session
        .handle_request(&request(&text), Subscriber::default)
        .unwrap();
    assert_eq!(session.facts().log_level, Some(LoggingLevel::Error));
}

#[test]
fn changes_wait_until_the_session_is_ready() {
    let (server, session) = opened();
    for uri in ["a:b", "c:d"] {
        let text = asks("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        session
            .handle_request(&request(&text), Subscriber::default)
            .unwrap();
    }
    let text = asks("resources/unsubscribe", r#"{"uri":"c:d"}"#);
    session
        .handle_request(&request(&text), Subscriber::default)
        .unwrap();
    for _ in 0..3 {
        server.bus.publish(ChangeEvent::Tools);
        // Not declared by the server.
        server.bus.publish(ChangeEvent::Resources);
        for uri in ["a:b", "c:d"] {
            server
                .bus
                .publish(ChangeEvent::Resource { uri: uri.into() });
        }
    }
    assert_eq!(poll_change(&session), Poll::Pending);
    session.handle_notification(&note(READY));
    assert_eq!(
        poll_change(&session),
        Poll::Ready(ServerNotification::ToolsChanged)
    );
    let updated = ServerNotification::ResourceUpdated { uri: "a:b".into() };
    assert_eq!(poll_change(&session), Poll::Ready(updated));
    assert_eq!(poll_change(&session), Poll::Pending);
}

/// A gate that refuses to read private resources.
struct Discreet;

impl Gate for Discreet {
    fn admit(&self, call: &Call, _: &ClientFacts, _: Option<&Principal>) -> Result<(), Fault> {
        match call.item() {
            Some(uri) if uri.ends_with("private") => Err(Fault::Refused("private".into())),
            _ => Ok(()),
        }
    }
}

#[test]
fn changes_of_unreadable_resources_are_skipped() {
    // spec: GAP-10
    let (server, session) = opened_with(SessionLimits::default());
    session.handle_notification(&note(READY));
    let who = Subscriber::new(crate::Extensions::new(), Some(Arc::new(Discreet)));
    for (uri, fits) in [("a:b/private", false), ("a:b", true)] {
        let text = asks("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        let admitted = session.handle_request(&request(&text), || who.clone());
        assert_eq!(admitted.is_ok(), fits, "{uri}");
    }
    for uri in ["a:b/private", "a:b/public"] {
        server
            .bus
            .publish(ChangeEvent::Resource { uri: uri.into() });
    }
    let cx = &mut Context::from_waker(Waker::noop());
    let public = ServerNotification::ResourceUpdated {
        uri: "a:b/public".to_owned(),
    };
    assert_eq!(session.poll_change(cx, &who), Poll::Ready(public));
    assert_eq!(session.poll_change(cx, &who), Poll::Pending);
}

#[test]
fn subscription_beyond_the_limit_is_refused() {
    let limits = SessionLimits {
        subscriptions: 2,
        ..SessionLimits::default()
    };
    let (_, session) = opened_with(limits);
    for (uri, fits) in [("a:1", true), ("a:2", true), ("a:3", false), ("a:1", true)] {
        let text = asks("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        assert_eq!(
            session
                .handle_request(&request(&text), Subscriber::default)
                .is_ok(),
            fits,
            "{uri}"
        );
    }
}

fn subscribe(session: &Session, uri: &str) -> Result<(), Fault> {
    let text = asks("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
    let handled = session.handle_request(&request(&text), Subscriber::default);
    handled.map(drop)
}

#[test]
fn subscriptions_beyond_the_byte_limit_are_refused() {
    let (server, session) = opened();
    let uri = |index: usize, len: usize| format!("a:{index:0len$}", len = len - 2);
    let too_long = subscribe(&session, &uri(0, MAX_URI_LEN + 1)).unwrap_err();
    assert!(matches!(too_long, Fault::BadParams { .. }), "{too_long}");
    assert!(too_long.to_string().contains("8192"), "{too_long}");
    let fitting = MAX_URI_BYTES / MAX_URI_LEN;
    for index in 0..fitting {
        assert_eq!(subscribe(&session, &uri(index, MAX_URI_LEN)), Ok(()));
    }
    let full = subscribe(&session, "a:b").unwrap_err();
    assert!(matches!(full, Fault::Refused(_)), "{full}");
    // A URI of the session can be subscribed to again.
    assert_eq!(subscribe(&session, &uri(0, MAX_URI_LEN)), Ok(()));
    assert_eq!(session.record().subscriptions.len(), fitting);

    // A stored record has the same limits.
    let mut record = session.record();
    let uris = (0..10_000).map(|index| uri(index, MAX_URI_LEN));
    record.subscriptions = uris.collect();
    record.subscriptions.push("a:".repeat(MAX_URI_LEN));
    let restored = Session::restore(record.clone(), &server, SessionLimits::default());
    session.update(record);
    for session in [&restored, &*session] {
        assert_eq!(session.record().subscriptions.len(), fitting);
    }
}

#[test]
fn subscribed_uris_are_stored_once() {
    let (_, session) = opened();
    let other = "b".repeat(8000);
    subscribe(&session, &other).unwrap();
    let uri = "a".repeat(8000);
    let memory = allocation_counter::measure(|| subscribe(&session, &uri).unwrap());
    assert!(memory.bytes_current < 8500, "{memory:?}");
}

#[test]
fn cancellation_names_a_call() {
    let (_, session) = opened();
    let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"x"}}"#;
    let HandledNotification::Cancel(cancelled) = session.handle_notification(&note(text)) else {
        panic!()
    };
    assert_eq!(cancelled.request_id, Some(7.into()));
    let odd = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#;
    assert_eq!(
        session.handle_notification(&note(odd)),
        HandledNotification::Ignored
    );
}

fn form() -> InputRequest {
    ElicitParams::form("Sure?", FormSchema::new()).into()
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
fn request_to_the_client_receives_its_response() {
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

#[test]
fn request_that_the_revision_lacks_is_refused() {
    let params = initialize("2024-11-05");
    let (session, _) = Session::open(&params, &server(), None, SessionLimits::default()).unwrap();
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
fn stored_session_is_restored() {
    let server = server();
    let ann = Principal::new("https://issuer", "ann");
    let params = initialize("2025-03-26");
    let (session, _) =
        Session::open(&params, &server, Some(&ann), SessionLimits::default()).unwrap();
    for text in [
        asks("resources/subscribe", r#"{"uri":"a:b"}"#),
        asks("logging/setLevel", r#"{"level":"debug"}"#),
    ] {
        session
            .handle_request(&request(&text), Subscriber::default)
            .unwrap();
    }
    session.handle_notification(&note(READY));
    let text = serde_json::to_string(&session.record()).unwrap();
    let record: SessionRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(record, session.record());

    let restored = Session::restore(record.clone(), &server, SessionLimits::default());
    assert_eq!(restored.record(), record);
    assert_eq!(restored.wire().version(), V2025_03_26);
    server
        .bus
        .publish(ChangeEvent::Resource { uri: "a:b".into() });
    let updated = ServerNotification::ResourceUpdated { uri: "a:b".into() };
    assert_eq!(poll_change(&restored), Poll::Ready(updated));
    let bob = Principal::new("https://issuer", "bob");
    let wider = ann.clone().scopes(["more"]);
    for (principal, fits) in [
        (Some(&ann), true),
        (Some(&wider), true),
        (Some(&bob), false),
        (None, false),
    ] {
        assert_eq!(restored.belongs_to(principal), fits, "{principal:?}");
    }
}

#[test]
fn stateless_requests_are_answered() {
    let profile = server().profile;
    for (method, params, expected) in [
        (
            "initialize",
            r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            "opened",
        ),
        ("ping", "{}", "answer"),
        ("logging/setLevel", r#"{"level":"error"}"#, "answer"),
        ("resources/subscribe", r#"{"uri":"a:b"}"#, "method"),
        ("tools/list", "{}", "call"),
    ] {
        let text = asks(method, params);
        let outcome = match read_stateless(&request(&text), V2025_11_25, &profile) {
            Ok(HandledRequest::Call(call)) => {
                assert!(matches!(call.input, Input::Absent));
                "call"
            }
            Ok(HandledRequest::Reply(Reply::Complete {
                body: ResultBody::Empty,
                ..
            })) => "answer",
            Ok(HandledRequest::Reply(Reply::Complete {
                body: ResultBody::Initialize(result),
                ..
            })) => {
                assert_eq!(result.protocol_version, "2025-06-18");
                assert_eq!(
                    result.capabilities.tools.as_ref().unwrap().list_changed,
                    None
                );
                assert_eq!(
                    result.capabilities.resources.as_ref().unwrap().subscribe,
                    None
                );
                "opened"
            }
            Ok(_) => "odd",
            Err(Fault::NoSuchMethod { .. }) => "method",
            Err(_) => "fault",
        };
        assert_eq!(outcome, expected, "{text}");
    }
}

#[test]
fn update_applies_a_record_of_another_node() {
    let (server, here) = opened();
    let there = Session::restore(here.record(), &server, SessionLimits::default());
    assert!(!here.is_ready());
    server.bus.publish(ChangeEvent::Tools);
    assert!(poll_change(&here).is_pending());
    there.handle_notification(&note(READY));
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
    ] {
        there
            .handle_request(&request(text), Subscriber::default)
            .unwrap();
    }
    here.update(there.record());
    assert_eq!(here.record(), there.record());
    assert_eq!(here.facts().log_level, Some(LoggingLevel::Error));
    assert!(poll_change(&here).is_ready());
    server.bus.publish(ChangeEvent::Resource {
        uri: "file:///a".into(),
    });
    assert!(poll_change(&here).is_ready());
}

#[test]
fn restored_session_starts_its_ids_elsewhere() {
    let limits = SessionLimits {
        request_ids_after: 1 << 32,
        ..SessionLimits::default()
    };
    let (_, session) = opened_with(limits);
    assert!(!session.has_sent(&1.into()));
    let ids = crate::pending::RequestIds::starting_after(1 << 32);
    assert!(!ids.contains(&1.into()) && !ids.contains(&((1_i64 << 32) + 1).into()));
}
