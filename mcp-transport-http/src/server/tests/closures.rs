//! Closures and services of the user: the order in which they are asked, and panics.

use mcp_core::{Extensions, HeaderMismatch, ParamHeaders, ServerIdentity};

use super::*;

/// A service with the tool `t`, whose argument `a` has a header. It reports mismatches.
struct Mirrored;

impl Service for Mirrored {
    fn profile(&self) -> Arc<ServerProfile> {
        Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0")))
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let is_hidden = exchange.extensions.get::<Principal>().is_none();
        let mismatch = exchange.extensions.get::<HeaderMismatch>();
        let reply = match (is_hidden, mismatch) {
            (true, _) => Fault::no_such_tool("t").into(),
            (false, Some(mismatch)) => mismatch.0.clone().into(),
            (false, None) => text("called"),
        };
        Box::pin(std::future::ready(reply))
    }

    fn admit(
        &self,
        _: &Call,
        _: &ClientContext,
        _: &Extensions,
    ) -> Result<Option<Arc<ParamHeaders>>, Fault> {
        let schema = json!({
            "type": "object", "properties": {"a": {"type": "integer", "x-mcp-header": "Secret"}},
        });
        let plan = ParamHeaders::from_schema(&serde_json::from_value(schema).unwrap());
        Ok(plan.unwrap().map(Arc::new))
    }
}

#[test]
fn argument_headers_are_compared_after_the_gate_and_the_visibility() {
    // spec: XHDR-17, HTTP-SM-22
    struct Guests;
    impl Gate for Guests {
        fn admit(&self, _: &Call, _: &ClientContext, who: Option<&Principal>) -> Result<(), Fault> {
            match who {
                Some(who) if who.subject == "refused" => Err(Fault::Refused("no".into())),
                _ => Ok(()),
            }
        }
    }
    let endpoint = StreamableHttp::new(Mirrored).gate(Guests);
    let header = HeaderName::from_static("mcp-param-secret");
    let send = |who: Option<&str>, value: Option<&str>| {
        let mut request = tool_call(false);
        if let Some(who) = who {
            let principal = Principal::new("issuer", who);
            request.extensions_mut().insert(principal);
        }
        if let Some(value) = value {
            request = set(request, header.clone(), value);
        }
        let response = call_now(&endpoint, request);
        let body = json_of(&response);
        (response.status().as_u16(), body["error"].clone())
    };
    for value in [None, Some("2"), Some("1")] {
        for who in [Some("refused"), None] {
            let (_, error) = send(who, value);
            assert_ne!(error["code"], codes::HEADER_MISMATCH, "{who:?} {value:?}");
            assert!(error.is_object() && !error.to_string().contains("secret"));
        }
    }
    for value in [None, Some("2")] {
        let (status, error) = send(Some("ann"), value);
        assert_eq!(
            (status, &error["code"]),
            (400, &json!(codes::HEADER_MISMATCH))
        );
    }
    assert_eq!(send(Some("ann"), Some("1")), (200, Value::Null));
}

#[test]
fn services_at_one_endpoint_share_its_identity() {
    let identity = |endpoint: &StreamableHttp| {
        let response = call_now(endpoint, tool_call(false));
        json_of(&response)["result"]["content"][0]["text"].to_string()
    };
    let service = || Scripted {
        profile: Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0"))),
        script: Box::new(|exchange| -> BoxFuture<'static, Reply> {
            let identity = exchange.extensions.get::<ServerIdentity>();
            Box::pin(std::future::ready(text(&format!("{identity:?}"))))
        }),
    };
    let endpoint = || StreamableHttp::per_request(move |_| service());
    let (one, two) = (endpoint(), endpoint());
    assert_eq!(identity(&one), identity(&one.clone()));
    assert_ne!(identity(&one), identity(&two));
    // A shared server has an identity of its own.
    assert_eq!(identity(&StreamableHttp::new(service())), "\"None\"");
}

#[test]
fn panic_in_a_closure_is_answered_with_500() {
    let service = |head: &http::request::Parts| -> Scripted {
        assert!(!head.headers.contains_key("panic"), "as told: hunter2");
        let profile = Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0")));
        let script = Box::new(|exchange| -> BoxFuture<'static, Reply> { Box::pin(echo(exchange)) });
        Scripted { profile, script }
    };
    let endpoint = StreamableHttp::per_request(service);
    for method in [Method::POST, Method::GET, Method::DELETE, Method::PUT] {
        let mut request = set(tool_call(false), HeaderName::from_static("panic"), "now");
        *request.method_mut() = method.clone();
        let response = call_now(&endpoint, request);
        assert_eq!(response.status(), 500, "{method}");
        let error = &json_of(&response)["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32603), &json!("internal error"))
        );
    }
    assert_eq!(call_now(&endpoint, tool_call(false)).status(), 200);
    let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    profile.versions = ProtocolVersion::ALL.to_vec();
    let legacy = Scripted {
        profile: Arc::new(profile),
        script: Box::new(|exchange| -> BoxFuture<'static, Reply> { Box::pin(echo(exchange)) }),
    };
    let endpoint = StreamableHttp::new(legacy).session_id(|_| panic!("as told"));
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "peer", "version": "1" },
        },
    });
    assert_eq!(
        call_now(&endpoint, raw_post(initialize.to_string())).status(),
        500
    );
    assert_eq!(endpoint.session_count(), 0);
}
