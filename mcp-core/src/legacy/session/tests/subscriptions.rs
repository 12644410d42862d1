//! Changes and subscriptions.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{READY, asks, note, opened, opened_with, poll_change, request};
use crate::authorization::{Gate, Principal};
use crate::changes::{ChangeBus, ChangeEvent, Subscriber};
use crate::connection::ClientContext;
use crate::inbound::subscriptions::{MAX_URI_BYTES, MAX_URI_LEN};
use crate::legacy::session::{Session, SessionLimits};
use crate::message::{Call, Fault, ServerNotification};

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
    fn admit(&self, call: &Call, _: &ClientContext, _: Option<&Principal>) -> Result<(), Fault> {
        match call.item() {
            Some(uri) if uri.ends_with("private") => Err(Fault::Refused("private".into())),
            _ => Ok(()),
        }
    }
}

#[test]
fn changes_in_unreadable_resources_are_skipped() {
    // spec: GAP-10
    let (server, session) = opened_with(SessionLimits::default());
    session.handle_notification(&note(READY));
    let who = Subscriber {
        gate: Some(Arc::new(Discreet)),
        ..Subscriber::default()
    };
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
