//! Modern messages, byte by byte.

use std::sync::Arc;
use std::time::Duration;

use mcp_types::{
    CacheHint, CallToolParams, CallToolResult, ClientCapabilities, ContentBlock, ErrorObject,
    Implementation, ListToolsResult, LogMessage, LoggingLevel, Message, Meta, Page, ProgressUpdate,
    ProtocolVersion, RawObject, RequestId, TextContent, Tool,
};
use serde_json::{Value, json};

use super::constants::VERSION;
use crate::connection::{ClientProfile, ServerProfile};
use crate::inbound::{InboundRequest, modern};
use crate::message::{
    Call, ClientRequest, Fault, InputState, ItemKind, Listing, Reply, ResultBody,
    ServerNotification,
};
use crate::wire::{self, ClientRequestContext, EncodedReply, ReplyTarget};

fn server() -> ServerProfile {
    ServerProfile::new(Implementation::new("calc", "1.0.0"))
}

fn client() -> ClientProfile {
    let mut profile = ClientProfile::new(Implementation::new("agent", "2.0.0"));
    profile.capabilities = ClientCapabilities::default().with_sampling();
    profile
}

fn encode(reply: impl Into<Reply>) -> EncodedReply {
    encode_for(VERSION, reply)
}

fn encode_for(version: ProtocolVersion, reply: impl Into<Reply>) -> EncodedReply {
    let to = ReplyTarget {
        id: RequestId::from(7),
        profile: Arc::new(server()),
        version,
    };
    to.encode(reply.into(), Vec::new())
}

#[track_caller]
fn text(encoded: EncodedReply) -> String {
    let bytes = encoded.into_bytes();
    serde_json::from_slice::<Value>(&bytes).unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"calc","version":"1.0.0"}"#;

// spec: BASE-21, META-12
#[test]
fn result_has_type_and_server_info() {
    assert_eq!(
        text(encode(CallToolResult::from_text("hi"))),
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete","_meta":{{{INFO}}},"content":[{{"type":"text","text":"hi"}}]}}}}"#
        )
    );
    let empty = ResultBody::Other(RawObject::default());
    assert_eq!(
        text(encode(empty)),
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete","_meta":{{{INFO}}}}}}}"#
        )
    );
}

#[test]
fn meta_in_a_result_is_merged() {
    let result = CallToolResult::from_text("hi").meta("a/b", 1).meta("c", 2);
    let text = text(encode(result));
    assert!(
        text.contains(&format!(r#""_meta":{{{INFO},"a/b":1,"c":2}}"#)),
        "{text}"
    );
    assert_eq!(text.matches("_meta").count(), 1, "{text}");

    let own = Meta::default().with(
        "io.modelcontextprotocol/serverInfo",
        json!({"name": "other"}),
    );
    let mut proxied = CallToolResult::from_text("hi");
    proxied.meta = Some(own);
    let text = self::text(encode(proxied));
    assert!(
        text.contains(r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"other"}}"#),
        "{text}"
    );
}

// spec: CACHE-01, CACHE-12
#[test]
fn list_shares_its_json_and_has_a_cache_hint() {
    let page = Arc::new(Listing::new(ListToolsResult::from(vec![Tool::new("add")])));
    let body = || ResultBody::ListTools(page.clone());
    let cache = Some(CacheHint::public(Duration::from_secs(60)));
    let first = encode(Reply::Complete {
        body: body(),
        cache,
    });
    let second = encode(body());
    assert_eq!(first.shared.as_ptr(), second.shared.as_ptr());
    assert!(first.tail.is_empty(), "a part more is a write more");
    let (first, second) = (text(first), text(second));
    assert!(
        first.contains(r#""ttlMs":60000,"cacheScope":"public""#),
        "{first}"
    );
    assert!(
        second.contains(r#""ttlMs":0,"cacheScope":"private""#),
        "{second}"
    );
    assert!(second.contains(r#""tools":[{"name":"add""#), "{second}");

    let mut with_meta = ListToolsResult::from(vec![]);
    with_meta.meta = Some(Meta::default().with("x", 1));
    let text = text(encode(ResultBody::ListTools(Arc::new(Listing::new(
        with_meta,
    )))));
    assert!(
        text.contains(&format!(r#""_meta":{{{INFO},"x":1}},"tools":[]"#)),
        "{text}"
    );
}

// spec: BASE-10, VER-02, VER-15, ERR-02, ERR-04, ERR-06, RSRC-05
#[test]
fn fault_has_code_and_data() {
    // spec: HTTP-SM-10
    let sampling = Arc::new(ClientCapabilities::default().with_sampling());
    let visit = || Fault::UrlElicitationRequired {
        elicitations: Vec::new(),
    };
    let protocol = |code| Fault::Protocol(ErrorObject::new(code, "x"));
    for (fault, code, data) in [
        (Fault::bad_params("x"), -32602, Value::Null),
        (Fault::InvalidRequest("x".into()), -32600, Value::Null),
        (Fault::no_such_method("x"), -32601, Value::Null),
        (Fault::no_such_tool("x"), -32602, Value::Null),
        (
            Fault::NoSuchItem {
                kind: ItemKind::Resource,
                id: "a:b".into(),
            },
            -32602,
            json!({"uri": "a:b"}),
        ),
        (Fault::HeaderMismatch("x".into()), -32020, Value::Null),
        (
            Fault::MissingCapability { required: sampling },
            -32021,
            json!({"requiredCapabilities": {"sampling": {}}}),
        ),
        (
            Fault::UnsupportedVersion {
                requested: "9".into(),
                supported: vec!["2026-07-28".into()],
            },
            -32022,
            json!({"supported": ["2026-07-28"], "requested": "9"}),
        ),
        (Fault::Refused("x".into()), 403, Value::Null),
        (
            Fault::rate_limited("x", Duration::from_millis(1500)),
            429,
            json!({"retryAfter": 2}),
        ),
        (
            Fault::overloaded("x", Duration::ZERO),
            503,
            json!({"retryAfter": 1}),
        ),
        (Fault::Deadline, -32603, Value::Null),
        (Fault::internal("x"), -32603, Value::Null),
        // Codes of other revisions, and reserved ones without a meaning.
        (visit(), -32603, Value::Null),
        (protocol(-32002), -32602, Value::Null),
        (protocol(-32042), -32603, Value::Null),
        (protocol(-32050), -32603, Value::Null),
        (protocol(-32700), -32700, Value::Null),
        (protocol(7), 7, Value::Null),
    ] {
        let value: Value = serde_json::from_str(&text(encode(fault))).unwrap();
        assert_eq!(value["id"], 7);
        assert_eq!(value["error"]["code"], code, "{value}");
        assert_eq!(value["error"]["data"], data, "{value}");
        assert!(value.get("result").is_none(), "{value}");
    }
    let out = Fault::InvalidRequest("x".into()).encode(None, VERSION);
    let value: Value = serde_json::from_slice(&out).unwrap();
    assert!(value.get("id").is_none(), "{value}");
}

/// Encodes a call as a client and decodes it as a server.
fn over_the_wire<'a>(
    asked: &ClientRequest,
    from: impl FnOnce(&mut ClientRequestContext<'a>),
) -> InboundRequest {
    let id: &RequestId = Box::leak(Box::new("a".into()));
    let profile = Box::leak(Box::new(client()));
    let mut outgoing = ClientRequestContext::new(id, profile);
    from(&mut outgoing);
    let text = wire::encode_request(asked, &outgoing, VERSION);
    let Ok(Message::Request(request)) = Message::parse(&text) else {
        panic!()
    };
    assert_eq!(&request.id, id);
    assert_eq!(request.method, asked.method_name());
    let read = modern::read_request(&request, None, &server(), false, |_| Ok(()));
    read.unwrap().unwrap()
}

// spec: BASE-01, VER-01, META-07, META-08
#[test]
fn request_carries_its_envelope() {
    // spec: VER-13, MRTR-11
    let arguments = RawObject::from_text(r#"{"a": [1]}"#).unwrap();
    let call = Call::CallTool(CallToolParams::new("add", Some(arguments.clone())));
    let input = InputState {
        responses: Some(arguments.clone()),
        state: Some("s".into()),
    };
    let token = "t".into();
    let extra = Meta::default()
        .with("traceparent", "00-1")
        .with("progressToken", "mine");
    let inbound = over_the_wire(&ClientRequest::Call(call), |from| {
        from.progress_token = Some(&token);
        from.log_level = Some(LoggingLevel::Notice);
        from.input = Some(&input);
        from.meta = Some(&extra);
    });
    let ClientRequest::Call(Call::CallTool(params)) = &inbound.request else {
        panic!()
    };
    assert_eq!(
        (params.name.as_str(), params.arguments.as_ref()),
        ("add", Some(&arguments))
    );
    assert!(matches!(inbound.input, crate::call::Input::Recorded(Some(sent)) if *sent == input));
    assert_eq!(inbound.progress_token, Some(token.clone()));
    assert_eq!(inbound.facts.log_level, Some(LoggingLevel::Notice));
    assert_eq!(inbound.facts.capabilities, client().capabilities);
    assert_eq!(inbound.facts.client_info(), Some(client().info));
    let meta: Meta = inbound.meta.object().unwrap().parse().unwrap();
    assert_eq!(meta.get::<String>("traceparent").as_deref(), Some("00-1"));
}

#[test]
fn request_without_parameters_reads_back() {
    for asked in [
        ClientRequest::Discover,
        ClientRequest::Call(Call::ListTools(Page::default())),
    ] {
        let inbound = over_the_wire(&asked, |_| {});
        assert_eq!(inbound.request.method(), asked.method());
    }
    let other = Call::Other {
        method: "x/y".into(),
        params: None,
    };
    let inbound = over_the_wire(&ClientRequest::Call(other), |_| {});
    assert!(
        matches!(inbound.request, ClientRequest::Call(Call::Other { method, .. }) if &*method == "x/y")
    );
}

fn read(text: &str) -> Result<InboundRequest, Fault> {
    let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
        panic!()
    };
    let read = modern::read_request(&request, None, &server(), false, |_| Ok(()));
    read.map(|inbound| inbound.unwrap())
}

#[test]
fn invalid_requests_are_refused() {
    // spec: META-09
    let request = |version: &str, method: &str, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}{params}}}}}"#
        )
    };
    for (text, code) in [
        (request("v999.0.0", "nope", ""), -32022),
        (request("2025-11-25", "tools/list", ""), -32022),
        (request("2026-07-28", "initialize", ""), -32601),
        (request("2026-07-28", "ping", ""), -32601),
        (request("2026-07-28", "sampling/createMessage", ""), -32601),
        (request("2026-07-28", "notifications/progress", ""), -32601),
        (request("2026-07-28", "tools/call", ""), -32602),
        (request("2026-07-28", "tools/call", r#","name":7"#), -32602),
        (
            request("2026-07-28", "tools/call", r#","name":"a","arguments":[]"#),
            -32602,
        ),
        (
            request("2026-07-28", "tools/list", r#","cursor":1"#),
            -32602,
        ),
    ] {
        let fault = read(&text).unwrap_err();
        assert_eq!(fault.to_error(VERSION).code, code, "{text}: {fault}");
    }
    let whole = request("2026-07-28", "tools/list", "");
    assert!(read(&whole).is_ok());
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for (with, without) in [
        (format!(",{capabilities}"), ""),
        (
            capabilities.to_owned(),
            r#""io.modelcontextprotocol/clientCapabilities":[]"#,
        ),
        (r#""2026-07-28""#.to_owned(), "7"),
    ] {
        let text = whole.replacen(&with, without, 1);
        let fault = read(&text).unwrap_err();
        assert_eq!(fault.to_error(VERSION).code, -32602, "{text}: {fault}");
    }
    let fault = read(&request(
        "2026-07-28",
        "tools/call",
        r#","name":"a","arguments":[]"#,
    ));
    let message = fault.unwrap_err().to_string();
    assert!(
        message.contains("params.arguments") && message.contains("array"),
        "{message}"
    );
    assert!(
        read(&request(
            "2026-07-28",
            "tools/call",
            r#","name":"a","arguments":null"#
        ))
        .is_ok()
    );
}

fn decode(asked: &ClientRequest, text: &str) -> Result<Reply, wire::DecodeError> {
    let Ok(Message::Response(response)) = Message::parse(text.as_bytes()) else {
        panic!()
    };
    Reply::decode(asked, &response, VERSION)
}

#[test]
fn reply_is_decoded_by_the_request_method() {
    let call = ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
    let list = ClientRequest::Call(Call::ListTools(Page::default()));
    let answered = text(encode(CallToolResult::from_text("hi")));
    let Ok(Reply::Complete {
        body: ResultBody::CallTool(result),
        cache: None,
    }) = decode(&call, &answered)
    else {
        panic!()
    };
    assert_eq!(result.text(), "hi");
    // The same JSON does not fit another method.
    let error = decode(&list, &answered).unwrap_err().to_string();
    assert!(
        error.contains("tools/list") && error.contains("tools"),
        "{error}"
    );

    let page = Listing::new(ListToolsResult::from(vec![Tool::new("add")]));
    let cache = Some(CacheHint::public(Duration::from_millis(5)));
    let body = ResultBody::ListTools(Arc::new(page));
    let listed = text(encode(Reply::Complete { body, cache }));
    let Ok(Reply::Complete {
        body: ResultBody::ListTools(page),
        cache: read,
    }) = decode(&list, &listed)
    else {
        panic!()
    };
    assert_eq!((page.tools[0].name.as_str(), read), ("add", cache));
}

// spec: BASE-23, BASE-24
#[test]
fn result_type_decides_the_reply() {
    let call = ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
    let answer = |members: &str| {
        decode(
            &call,
            &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{members}"content":[]}}}}"#),
        )
    };
    assert!(matches!(answer(""), Ok(Reply::Complete { .. })));
    assert!(matches!(
        answer(r#""resultType":"complete","#),
        Ok(Reply::Complete { .. })
    ));
    let asks = answer(r#""resultType":"input_required","requestState":"s","inputRequests":{},"#);
    assert!(
        matches!(asks, Ok(Reply::InputRequired(asked)) if asked.request_state.as_deref() == Some("s"))
    );
    let error = answer(r#""resultType":"hologram","#)
        .unwrap_err()
        .to_string();
    assert!(error.contains("hologram"), "{error}");
}

// spec: ERR-03
#[test]
fn error_becomes_the_fault_it_was() {
    let supported = vec!["2026-07-28".to_owned()];
    let sampling = Arc::new(ClientCapabilities::default().with_sampling());
    for fault in [
        Fault::UnsupportedVersion {
            requested: "9".into(),
            supported,
        },
        Fault::MissingCapability { required: sampling },
        Fault::HeaderMismatch("x".into()),
    ] {
        let text = text(encode(fault.clone()));
        let reply = decode(&ClientRequest::Discover, &text).unwrap();
        assert!(
            matches!(&reply, Reply::Fault(read) if *read == fault),
            "{reply:?}"
        );
    }
    let text = text(encode(Fault::no_such_tool("x")));
    let reply = decode(&ClientRequest::Discover, &text).unwrap();
    assert!(matches!(reply, Reply::Fault(Fault::Protocol(error)) if error.code == -32602));
    for code in (-32019..=-32000).filter(|code| *code != -32002) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"x"}}}}"#);
        let reply = decode(&ClientRequest::Discover, &text).unwrap();
        assert!(
            matches!(&reply, Reply::Fault(Fault::Protocol(error)) if error.code == code),
            "{reply:?}"
        );
    }
}

#[test]
fn notifications_read_back() {
    let mut log = LogMessage::new(LoggingLevel::Alert, json!({"a": 1}));
    log.logger = Some("db".to_owned());
    for note in [
        ServerNotification::Progress {
            token: 3.into(),
            progress: ProgressUpdate::new(1.0).of(2.0).message("x"),
        },
        ServerNotification::Progress {
            token: "t".into(),
            progress: ProgressUpdate::new(0.5),
        },
        ServerNotification::Log(log),
    ] {
        let mut text = Vec::new();
        assert!(wire::write_server(&note, (None, None), VERSION, &mut text));
        let Ok(Message::Notification(read)) = Message::parse(&text) else {
            panic!()
        };
        assert_eq!(ServerNotification::decode(&read, VERSION), Some(note));
    }
}

// spec: STDIO-02
#[test]
fn encoded_message_has_no_line_break() {
    let laid_out = "{\n  \"a\": \"x\\ny\",\r\n  \"b\": [\n]\n}";
    let body = ResultBody::Other(RawObject::from_text(laid_out).unwrap());
    let text = text(encode(body));
    assert!(!text.contains(['\n', '\r']), "{text}");
    assert!(text.contains(r#""x\ny""#), "{text}");
}

/// Results that contain only text are written without the serializer.
#[test]
fn plain_tool_result_is_written_like_its_type() {
    let plain = || CallToolResult::from_text("a \"b\"\n\u{1}é");
    let several = CallToolResult::new(vec![ContentBlock::text("a"), ContentBlock::text("b")]);
    let mut with_meta = TextContent::default();
    with_meta.text = "a".to_owned();
    with_meta.meta = Some(Meta::default().with("com.example/b", 2));
    let mut success = plain();
    success.is_error = Some(false);
    for result in [
        CallToolResult::default(),
        plain(),
        several,
        success,
        CallToolResult::error("no"),
        plain().meta("com.example/a", 1),
        CallToolResult::from_json(&json!({"a": [1]})).unwrap(),
        CallToolResult::new(vec![with_meta.into()]),
        CallToolResult::new(vec![ContentBlock::image(&b"x"[..], "image/png")]),
    ] {
        let said = serde_json::to_value(&result).unwrap();
        for version in [VERSION, ProtocolVersion::V2025_11_25] {
            let encoded = encode_for(version, result.clone());
            let mut message: Value = serde_json::from_str(&text(encoded)).unwrap();
            let members = message["result"].as_object_mut().unwrap();
            if version.is_modern() {
                members.remove("resultType");
                let meta = members["_meta"].as_object_mut().unwrap();
                assert!(meta.remove("io.modelcontextprotocol/serverInfo").is_some());
                if meta.is_empty() {
                    members.remove("_meta");
                }
            }
            assert_eq!(message["result"], said);
        }
    }
}

// spec: META-13
#[test]
fn notification_carries_observer_keys_beside_subscription_id() {
    let meta = Meta::default().with("traceparent", "t");
    let id = RequestId::from(7);
    let update = ServerNotification::ResourceUpdated {
        uri: "a://b".into(),
    };
    let log = LogMessage::new(LoggingLevel::Info, "x");
    let other = ServerNotification::Other {
        method: "shop/sold".into(),
        params: None,
    };
    for (note, subscription) in [
        (ServerNotification::ToolsChanged, Some(&id)),
        (update, Some(&id)),
        (other, Some(&id)),
        (ServerNotification::Log(log), None),
    ] {
        let mut text = Vec::new();
        assert!(wire::write_server(
            &note,
            (subscription, Some(&meta)),
            VERSION,
            &mut text
        ));
        let value: Value = serde_json::from_slice(&text).unwrap();
        let meta = &value["params"]["_meta"];
        assert_eq!(meta["traceparent"], "t", "{value}");
        assert_eq!(
            meta.as_object().unwrap().len(),
            1 + usize::from(subscription.is_some())
        );
        let named = &meta["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*named, json!(subscription), "{value}");
    }
}
