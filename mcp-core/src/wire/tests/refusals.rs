//! Refused requests, and faults that survive the wire.

use std::sync::Arc;

use crate::call::{Exchange, NotificationSender, Service};
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::inbound::modern;
use crate::message::{
    Call, ClientRequest, ClientResponse, Fault, ItemKind, Reply, RequestMetaObject, ServerRequest,
};
use crate::wire::{self, ReplyTarget, ServerRequestContext};
use futures_util::future::BoxFuture;
use mcp_types::{
    ClientCapabilities, ElicitUrlParams, ErrorObject, Implementation, InputRequest, Message,
    Method, MethodKind, ProtocolVersion, RawObject, ReadResourceParams, Request, RequestId, Sender,
    codes,
};

use super::messages::Side;

fn parse(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()).unwrap() {
        Message::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

/// Parameters that fit every method.
const PARAMS: &str = r#"{"name":"a","uri":"file:///a","level":"info","ref":{"type":"ref/prompt","name":"a"},
    "argument":{"name":"a","value":""},"notifications":{},"protocolVersion":"2025-11-25",
    "capabilities":{},"clientInfo":{"name":"a","version":"1"},"messages":[],"maxTokens":1,
    "message":"m","requestedSchema":{"type":"object","properties":{}}}"#;

#[test]
fn method_is_known_where_the_table_has_it() {
    // spec: LIFE-09
    for version in ProtocolVersion::ALL {
        for method in Method::ALL {
            let spec = method.spec();
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{PARAMS}}}"#);
            let request = parse(&text);
            let exists = spec.kind == MethodKind::Request && spec.exists_in(version);

            let by_client = matches!(spec.sender, Sender::Client | Sender::Both);
            let read = wire::decode_request(&request, version);
            assert_eq!(
                read.is_ok(),
                exists && by_client,
                "{version} {method}: {read:?}"
            );
            let is_unknown = matches!(read, Err(Fault::NoSuchMethod { .. }));
            assert_eq!(is_unknown, !(exists && by_client), "{version} {method}");

            let by_server =
                !version.is_modern() && matches!(spec.sender, Sender::Server | Sender::Both);
            let read = ServerRequest::decode(&request, version);
            assert_eq!(
                read.is_ok(),
                exists && by_server,
                "{version} {method}: {read:?}"
            );
            let is_unknown = matches!(read, Err(Fault::NoSuchMethod { .. }));
            assert_eq!(is_unknown, !(exists && by_server), "{version} {method}");
        }
    }
}

// spec: BASE-17, STDIO-08, HTTP-SM-13, TRN-05, STDIO-07
#[test]
fn modern_era_has_no_server_requests() {
    // spec: HTTP-C-06
    let latest = ProtocolVersion::LATEST;
    let id = RequestId::from(1);
    for ask in [ServerRequest::Ping, InputRequest::ListRoots.into()] {
        let refused = wire::write_server_request(&ask, &ServerRequestContext::new(&id), latest);
        assert!(matches!(refused, Err(Fault::NoSuchMethod { .. })));
    }
    let mut out = Vec::new();
    assert!(!wire::write_response(&ClientResponse::Pong, &id, latest, &mut out) && out.is_empty());
}

#[test]
fn invalid_parameter_is_named_by_path() {
    let version = ProtocolVersion::V2025_11_25;
    for (method, params, named) in [
        ("initialize", r#"{"protocolVersion":7}"#, "protocolVersion"),
        ("logging/setLevel", r#"{"level":"loud"}"#, "level"),
        ("resources/subscribe", "{}", "uri"),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt"}}"#,
            "ref",
        ),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let Err(Fault::BadParams { message, .. }) = wire::decode_request(&parse(&text), version)
        else {
            panic!("{method}")
        };
        assert!(message.contains(named), "{message}");
    }
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":7}],"maxTokens":1}}"#;
    let Err(Fault::BadParams { message, .. }) = ServerRequest::decode(&parse(text), version) else {
        panic!()
    };
    assert!(message.contains("messages[0].content"), "{message}");
}

#[test]
fn fault_survives_the_wire() {
    let missing = Fault::NoSuchItem {
        kind: ItemKind::Resource,
        id: "file:///a".into(),
    };
    let read = ClientRequest::Call(Call::ReadResource(ReadResourceParams::from("file:///a")));
    let url = ElicitUrlParams::new("m", "https://example.com/a").elicitation_id("e");
    let visit = Fault::UrlElicitationRequired {
        elicitations: vec![url],
    };
    let capability = Fault::MissingCapability {
        required: Arc::new(ClientCapabilities::default().with_sampling()),
    };
    let over = |version: ProtocolVersion, asked: &ClientRequest, fault: &Fault| {
        let side = Side::new(version);
        let text = side.reply(&Reply::Fault(fault.clone()));
        match side.read_reply(asked, &text) {
            Reply::Fault(fault) => fault,
            other => panic!("{other:?}"),
        }
    };
    for version in ProtocolVersion::ALL {
        assert_eq!(over(version, &read, &missing), missing, "{version}");
        let arrives = over(version, &read, &visit) == visit;
        assert_eq!(
            arrives,
            version == ProtocolVersion::V2025_11_25,
            "{version}"
        );
        let arrives = over(version, &read, &capability) == capability;
        assert_eq!(arrives, version.is_modern(), "{version}");
    }
    // Reserved codes are not written for other errors.
    for (code, written) in [
        (-32_042, codes::INTERNAL_ERROR),
        (-32_099, codes::INTERNAL_ERROR),
        (-32_002, codes::INVALID_PARAMS),
        (-32_001, -32_001),
        (7, 7),
    ] {
        let error = Fault::Protocol(ErrorObject::new(code, "x")).to_error(ProtocolVersion::LATEST);
        assert_eq!(error.code, written);
    }
    // The code of older servers for a missing resource is decoded.
    let text = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"x","data":{"uri":"file:///a"}}}"#;
    let modern = Side::new(ProtocolVersion::LATEST);
    assert!(matches!(modern.read_reply(&read, text.as_bytes()), Reply::Fault(it) if it == missing));

    let refused = Fault::UserRejected("the user said no".into());
    let ask = InputRequest::from(mcp_types::CreateMessageParams::new([], 1)).into();
    let legacy = Side::new(ProtocolVersion::V2025_11_25);
    let text = legacy.answer(&ClientResponse::Fault(refused.clone()));
    assert!(String::from_utf8_lossy(&text).contains(r#""code":-1,"#));
    assert_eq!(
        legacy.read_answer(&ask, &text),
        ClientResponse::Fault(refused)
    );
}

struct Nothing;

impl Service for Nothing {
    fn profile(&self) -> Arc<ServerProfile> {
        Arc::new(ServerProfile::new(Implementation::new("nothing", "1")))
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let fault = Fault::no_such_method(exchange.call.method_name());
        Box::pin(std::future::ready(fault.into()))
    }
}

// spec: ELIC-15
#[test]
fn url_that_no_client_may_open_is_not_sent() {
    let required = |url: &str| Fault::UrlElicitationRequired {
        elicitations: vec![ElicitUrlParams::new("Sign in", url)],
    };
    for (url, is_sent) in [
        ("https://example.com/login", true),
        ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
    ] {
        let side = Side::new(ProtocolVersion::V2025_11_25);
        let text = side.reply(&Reply::Fault(required(url)));
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert_eq!(text.contains(url), is_sent, "{text}");
    }
}

/// The metadata of a request whose `_meta` has these members beside those that are required.
fn request_meta(members: &str) -> RequestMetaObject {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{{}}{members}}}}}}}"#
    );
    let request = parse(&text);
    let read = modern::read_request(&request, None, &Nothing.profile(), false, |_| Ok(()));
    let inbound = read.unwrap().unwrap();
    let meta = inbound.meta;
    assert!(
        meta.object().unwrap().as_str().contains(members),
        "{meta:?}"
    );
    meta
}

const TRACE: &str = r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01""#;

#[test]
fn envelope_is_told_from_other_metadata() {
    let info = r#","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}"#;
    let token = r#","progressToken":"t""#;
    let level = r#","io.modelcontextprotocol/logLevel":"info""#;
    for members in ["", info, token, level, &format!("{info}{token}{level}")] {
        let meta = request_meta(members);
        assert!(meta.beyond_envelope().is_none(), "{meta:?}");
    }
    let baggage = r#","baggage":"user=ada""#;
    let escaped = format!(",{}", TRACE.replace("tr", "\\u0074r"));
    for members in [
        baggage,
        &*escaped,
        &format!("{info}{token}{level}{baggage}"),
    ] {
        let meta = request_meta(members);
        assert!(meta.beyond_envelope().is_some(), "{meta:?}");
    }
}

#[test]
fn metadata_from_a_layer_is_not_taken_for_the_envelope() {
    let call = Call::ListTools(mcp_types::Page::default());
    let facts = ClientContext::new(ProtocolVersion::LATEST);
    let mut exchange = Exchange::new(call, Arc::new(facts));
    exchange.meta = request_meta("");
    assert!(exchange.trace().is_none());
    let baggage = "user=ada".parse().unwrap();
    exchange.update_meta(|meta| meta.with_baggage(&baggage));
    assert!(exchange.trace().is_none() && exchange.baggage().is_some());
    let traced = RawObject::from_text(format!("{{{TRACE}}}"));
    exchange.meta = traced.unwrap().into();
    assert!(exchange.trace().is_some() && exchange.baggage().is_none());
}

#[test]
fn listen_is_unknown_without_changes() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},
        "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#;
    let request = parse(text);
    let read = modern::read_request(&request, None, &Nothing.profile(), false, |_| Ok(()));
    let inbound = read.unwrap().unwrap();
    assert!(matches!(inbound.request, ClientRequest::Listen(_)));

    let call = Call::ListTools(mcp_types::Page::default());
    let mut exchange = Exchange::new(call, inbound.facts.clone());
    assert!(exchange.trace().is_none() && exchange.baggage().is_none());
    exchange.meta.clone_from(&inbound.meta);
    assert!(exchange.trace().unwrap().parent.is_sampled());
    assert!(exchange.meta.beyond_envelope().is_some());

    let profile = Nothing.profile();
    let answered = inbound.serve(
        &Nothing,
        &profile,
        NotificationSender::default(),
        Extensions::default(),
    );
    let reply = futures::executor::block_on(answered);
    let to = ReplyTarget {
        id: request.id,
        profile,
        version: ProtocolVersion::LATEST,
    };
    let text = to.encode(reply, Vec::new());
    let text = String::from_utf8(text.into_bytes().to_vec()).unwrap();
    assert!(
        text.contains(&codes::METHOD_NOT_FOUND.to_string()),
        "{text}"
    );
}
