//! Requests and cancellations of the client.

use mcp_types::ProtocolVersion::V2025_11_25;
use mcp_types::{LoggingLevel, ServerCapabilities};

use super::{READY, asks, initialize, note, opened, request, server, server_with};
use crate::call::Input;
use crate::changes::Subscriber;
use crate::legacy::read_stateless;
use crate::legacy::session::{HandledNotification, HandledRequest, Session, SessionLimits};
use crate::message::{Call, Fault, Reply, ResultBody};

// spec: PING-01
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
                    if let crate::message::ClientRequest::Call(Call::CallTool(_)) = call.request {
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

// spec: LOG-01
#[test]
fn set_level_without_logging_is_an_unknown_method() {
    let server = server_with(ServerCapabilities::default().with_tools(false));
    let params = initialize("2025-11-25");
    let (session, _) =
        Session::open(None, &params, &server, None, SessionLimits::default()).unwrap();
    let text = asks("logging/setLevel", r#"{"level":"error"}"#);
    let request = request(&text);
    for outcome in [
        session.handle_request(&request, Subscriber::default),
        read_stateless(&request, V2025_11_25, &server.profile),
    ] {
        let fault = outcome.unwrap_err();
        assert_eq!(fault, Fault::no_such_method("logging/setLevel"));
    }
    assert_eq!(session.facts().log_level, None);
}

#[test]
fn cancellation_names_a_call() {
    // spec: CAN-07
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
