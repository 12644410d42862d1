//! Records of sessions: restored and updated.

use std::task::Poll;

use mcp_types::ProtocolVersion::V2025_03_26;
use mcp_types::{ElicitationComplete, LoggingLevel};

use super::{READY, asks, initialize, note, opened, opened_with, poll_change, request, server};
use crate::authorization::Principal;
use crate::changes::{ChangeBus, ChangeEvent, ExtensionNotification, Subscriber};
use crate::legacy::session::{Session, SessionLimits};
use crate::message::ServerNotification;
use crate::store::SessionRecord;

#[test]
fn stored_session_is_restored() {
    let server = server();
    let ann = Principal::new("https://issuer", "ann");
    let params = initialize("2025-03-26");
    let (session, _) =
        Session::open(None, &params, &server, Some(&ann), SessionLimits::default()).unwrap();
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
    // Another member for the owner would lose a part of it.
    let other = text.replace("\"caller\"", "\"owner\"");
    assert!(serde_json::from_str::<SessionRecord>(&other).is_err());

    let restored = Session::restore(record.clone(), &server, SessionLimits::default());
    assert_eq!(restored.record(), record);
    assert_eq!(restored.version(), V2025_03_26);
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

// spec: ELIC-10
#[test]
fn finished_visit_reaches_the_session_at_all_nodes() {
    let server = server();
    let mut params = initialize("2025-11-25");
    let without = Session::open(None, &params, &server, None, SessionLimits::default());
    assert_eq!(without.unwrap().0.topic(), None);
    params.capabilities = params.capabilities.with_url_elicitation();
    let open = || Session::open(None, &params, &server, None, SessionLimits::default());
    let (here, other) = (open().unwrap().0, open().unwrap().0);
    let topic = here.topic().unwrap();
    let there = Session::restore(here.record(), &server, SessionLimits::default());
    for session in [&here, &there, &other] {
        session.handle_notification(&note(READY));
    }
    let id = format!("{topic}1");
    let complete = ExtensionNotification::elicitation_complete(&id);
    server
        .bus
        .publish(ChangeEvent::Notification(complete.into()));
    let complete = ServerNotification::ElicitationComplete(ElicitationComplete::from(id));
    for session in [&here, &there] {
        assert_eq!(poll_change(session), Poll::Ready(complete.clone()));
    }
    assert!(poll_change(&other).is_pending());
}

#[test]
fn update_applies_a_record_from_another_node() {
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
    let ids = crate::legacy::pending::RequestIds::starting_after(1 << 32);
    assert!(!ids.contains(&1.into()) && !ids.contains(&((1_i64 << 32) + 1).into()));
}
