//! Notifications of clients, which extensions of the server handle.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use mcp_core::{
    Call, ClientContext, Exchange, Fault, Gate, Principal, Reply, ResultBody, ServerProfile,
};
use mcp_types::{Implementation, ServerCapabilities};
use serde_json::{Value, json};

use super::{Scripted, StreamableHttp, call_now, post, set};
use crate::headers::names;

const METHOD: &str = "notifications/own/note";

type Log = Arc<Mutex<Vec<String>>>;

/// An endpoint that records the notifications that reach its service.
fn endpoint(extensions: bool, log: &Log) -> StreamableHttp {
    let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    if extensions {
        let capabilities = ServerCapabilities::default();
        profile.capabilities = capabilities.with_extension("com.example/own", &());
    }
    let log = log.clone();
    let script = move |exchange: Exchange| -> mcp_core::BoxFuture<'static, Reply> {
        let Call::Notification { method, params } = &exchange.call else {
            panic!("no notification: {exchange:?}");
        };
        let params = params.as_ref().map_or("", |params| params.as_str());
        let declared = exchange.facts.capabilities.has_extension("com.example/own");
        let line = format!("{method} {params} {declared}");
        log.lock().unwrap().push(line);
        Box::pin(async { ResultBody::Empty.into() })
    };
    StreamableHttp::new(Scripted {
        profile: Arc::new(profile),
        script: Box::new(script),
    })
}

fn note() -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": METHOD,
        "params": {
            "a": 1,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":
                    {"extensions": {"com.example/own": {}}},
            },
        },
    })
}

// spec: HTTP-S-07
#[test]
fn notification_is_accepted_after_its_handler() {
    let log = Log::default();
    let response = call_now(&endpoint(true, &log), post(&note()));
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let expected = format!(r#"{METHOD} {{"a":1}} true"#);
    assert_eq!(*log.lock().unwrap(), [expected]);
}

// spec: HTTP-SM-21
#[test]
fn notification_has_no_effect_unless_an_extension_takes_it() {
    let log = Log::default();
    let mut core = note();
    core["method"] = "notifications/cancelled".into();
    for (endpoint, message) in [
        (endpoint(true, &log), core),
        (endpoint(false, &log), note()),
    ] {
        let response = call_now(&endpoint, post(&message));
        assert_eq!(response.status(), StatusCode::ACCEPTED);
    }
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn notification_without_the_client_has_no_capabilities() {
    let log = Log::default();
    let message = json!({"jsonrpc": "2.0", "method": METHOD});
    call_now(&endpoint(true, &log), post(&message));
    assert_eq!(*log.lock().unwrap(), [format!("{METHOD} {{}} false")]);
}

// spec: HTTP-SM-10
#[test]
fn notification_is_refused_if_its_header_names_another_method() {
    let log = Log::default();
    let request = set(post(&note()), names::MCP_METHOD, "notifications/other");
    let response = call_now(&endpoint(true, &log), request);
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn gate_refuses_a_notification() {
    struct Nobody;

    impl Gate for Nobody {
        fn admit(&self, _: &Call, _: &ClientContext, _: Option<&Principal>) -> Result<(), Fault> {
            Err(Fault::Refused("not you".into()))
        }
    }

    let log = Log::default();
    let response = call_now(&endpoint(true, &log).gate(Nobody), post(&note()));
    assert!(response.status().is_client_error(), "{response:?}");
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn notification_is_accepted_when_its_handler_panics() {
    let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    let capabilities = ServerCapabilities::default();
    profile.capabilities = capabilities.with_extension("com.example/own", &());
    let endpoint = StreamableHttp::new(Scripted {
        profile: Arc::new(profile),
        script: Box::new(|_| panic!("hunter2")),
    });
    let response = call_now(&endpoint, post(&note()));
    assert_eq!(response.status(), StatusCode::ACCEPTED);
}
