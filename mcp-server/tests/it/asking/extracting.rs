//! Extractors next to `Ask`: the end of the call, the caller, metadata.

use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use mcp_core::{Fault, InputState, Reply, Service};
use mcp_server::{
    Ask, Cancel, ClientInfo, Identity, RequestMeta, Server, Tool, ToolError, ToolExt,
};
use mcp_types::{Implementation, RawObject};

use super::client::{Client, asked, text, tool};

/// Signals that handlers have stored.
type Left = Arc<Mutex<Option<Cancel>>>;

fn leaving(left: &Left) -> Server {
    let left = left.clone();
    let handler = move |name: RequestMeta, cancel: Cancel, ask: Ask| {
        *left.lock().unwrap() = Some(cancel);
        async move {
            match name.get::<String>("then").as_deref() {
                Some("hang") => std::future::pending().await,
                Some("ask") => {
                    ask.roots("roots").await?;
                }
                Some("panic") => panic!("as it should"),
                _ => {}
            }
            Ok::<_, ToolError>("done")
        }
    };
    Server::new("s", "1").tool(Tool::new("t").handler(handler))
}

#[test]
fn cancel_signal_is_set_when_call_ends() {
    for then in ["hang", "ask", "panic", "end"] {
        let left = Left::default();
        let server = leaving(&left);
        let mut exchange = Client::new().exchange(&tool("t"), InputState::default());
        let meta = RawObject::from_text(format!(r#"{{"then":"{then}"}}"#));
        exchange.meta = meta.unwrap().into();
        let mut call = server.call(exchange);
        let mut cx = Context::from_waker(Waker::noop());
        let pending = call.as_mut().poll(&mut cx).is_pending();
        assert_eq!(pending, then == "hang");
        let cancel = left.lock().unwrap().take().unwrap();
        let mut end = Box::pin(cancel.cancelled());
        if pending {
            assert!(!cancel.is_cancelled());
            assert!(end.as_mut().poll(&mut cx).is_pending());
        }
        drop(call);
        assert!(cancel.is_cancelled(), "{then}");
        assert!(end.as_mut().poll(&mut cx).is_ready(), "{then}");
    }
}

#[derive(Clone)]
struct Claims(u32);

// spec: SEC-03
#[test]
fn identity_is_the_principal_from_a_layer() {
    let handler = |Identity(who): Identity, claims: Option<Identity<Claims>>| {
        let claims = claims.map(|Identity(Claims(number))| number);
        format!("{} {claims:?}", who.subject)
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let send = |client: &Client, claims: Option<Claims>| {
        let mut exchange = client.exchange(&tool("t"), InputState::default());
        if let Some(claims) = claims {
            exchange.extensions.insert(claims);
        }
        futures::executor::block_on(server.call(exchange))
    };
    assert_eq!(text(send(&Client::authenticated("ada"), None)), "ada None");
    assert_eq!(
        text(send(&Client::authenticated("ada"), Some(Claims(3)))),
        "ada Some(3)"
    );
    let reply = send(&Client::new(), Some(Claims(3)));
    assert!(
        matches!(reply, Reply::Fault(Fault::Refused(_))),
        "{reply:?}"
    );
}

#[test]
fn client_info_and_meta_come_from_request() {
    let handler = |client: ClientInfo, meta: Option<RequestMeta>| {
        let name = client.implementation().map(|client| client.name);
        let trace = meta.as_ref().and_then(|meta| meta.trace());
        let region: Option<String> = meta.as_ref().and_then(|meta| meta.get("region"));
        let sampling = client.capabilities().sampling.is_some();
        format!(
            "{name:?} {} {sampling} {region:?} {}",
            client.version(),
            trace.is_some()
        )
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("t").handler(handler))
        .tool(Tool::new("strict").handler(|meta: RequestMeta| meta.is_empty().to_string()));
    let mut exchange = Client::new().exchange(&tool("t"), InputState::default());
    let info = RawObject::from_value(&Implementation::new("probe", "1")).unwrap();
    Arc::make_mut(&mut exchange.facts).info = Some(info);
    let meta = r#"{"region": "eu",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}"#;
    exchange.meta = RawObject::from_text(meta).unwrap().into();
    let reply = futures::executor::block_on(server.call(exchange));
    assert_eq!(
        text(reply),
        r#"Some("probe") 2026-07-28 true Some("eu") true"#
    );
    let reply = Client::new().send(&server, &tool("t"), InputState::default());
    assert_eq!(text(reply), "None 2026-07-28 true None false");
    let reply = Client::new().send(&server, &tool("strict"), InputState::default());
    assert!(
        matches!(reply, Reply::Fault(Fault::BadParams { .. })),
        "{reply:?}"
    );
}

#[test]
fn handler_with_ask_and_cancel_receives_both() {
    let left = Left::default();
    let server = leaving(&left);
    let mut exchange = Client::new().exchange(&tool("t"), InputState::default());
    exchange.meta = RawObject::from_text(r#"{"then":"ask"}"#).unwrap().into();
    asked(futures::executor::block_on(server.call(exchange)));
    assert!(left.lock().unwrap().take().unwrap().is_cancelled());
}
