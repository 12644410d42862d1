//! Known security advisories of MCP SDKs and tools, as far as this crate decides them.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use futures::executor::block_on;
use mcp_core::legacy::{HandledRequest, Session, SessionLimits, read_stateless};
use mcp_core::{
    BoxFuture, Channel, Exchange, Fault, InProcessChannel, MirroredHeaders, OutgoingRequest,
    Principal, Reply, ResultBody, ServerProfile, Service, Subscriber,
};
use mcp_types::{
    CallToolResult, ClientCapabilities, Implementation, InitializeParams, Message, ProtocolVersion,
    Request, RequestId,
};

struct Server;

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        let info = Implementation::new("server", "1");
        let mut profile = ServerProfile::new(info);
        profile.versions = ProtocolVersion::ALL.into();
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        let result = CallToolResult::from_text("called");
        Box::pin(async { ResultBody::CallTool(result).into() })
    }
}

fn request(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn session(principal: Option<&Principal>) -> Session {
    let info = Implementation::new("client", "1");
    let capabilities = ClientCapabilities::default();
    let params = InitializeParams::new(ProtocolVersion::V2025_11_25, capabilities, info);
    let limits = SessionLimits::new(Instant::now, None);
    let opened = Session::open(None, &params, &Server, principal, limits);
    opened.unwrap().0
}

/// CVE-2026-27896: a parser that ignored the case of member names executed `"Method"`, which proxies
/// in front of it did not see as the method.
#[test]
fn cve_2026_27896_member_names_are_case_sensitive() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","METHOD":"x","params":{"name":"a","Name":"b"}}"#;
    let parsed = request(text);
    assert_eq!(parsed.method, "ping");
    assert_eq!(parsed.params.get("name").unwrap().as_str(), r#""a""#);
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
        r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"m\u0435thod":"ping"}"#,
    ] {
        let parsed = Message::parse(text.as_bytes());
        assert!(!matches!(parsed, Ok(Message::Request(_))), "{text}");
    }
    // The same member twice is ambiguous as well.
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#;
    assert!(Message::parse(twice.as_bytes()).is_err());
    let version = ProtocolVersion::V2025_11_25;
    let params =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"a","arguments":{}}}"#;
    assert!(read_stateless(&request(params), version, &Server.profile()).is_err());
}

/// CVE-2025-53365 and CVE-2025-53366: a malformed request raised an error that no code handled, and
/// ended the server for all clients.
#[test]
fn cve_2025_53365_malformed_messages_are_errors() {
    let channel = InProcessChannel::new(Server);
    let call = |body: &str| {
        let mirror = MirroredHeaders::new(ProtocolVersion::LATEST, "tools/call", None);
        let outgoing = OutgoingRequest::new(RequestId::from(1), body.to_owned(), mirror);
        let frame = block_on(channel.call(outgoing).next()).unwrap().unwrap();
        format!("{frame:?}")
    };
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let valid = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a",{meta}}}}}"#
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "\u{feff}{}".to_owned(),
        r#"{"jsonrpc":"2.0","id":1}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/call"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#.to_owned(),
        valid.replace("\"name\":\"a\"", "\"name\":{}"),
        valid.replace("\"name\":\"a\"", "\"name\":\"a\",\"arguments\":[]"),
        valid.replace("{}}}", "7}}"),
        valid.replace("2026-07-28", "1999-01-01"),
    ];
    // An unknown member is ignored, however deep it is.
    let deep = valid.replace("\"name\":\"a\"", &format!("\"name\":\"a\",\"x\":{deep}"));
    assert!(call(&deep).contains("called"));
    for body in &bodies {
        let answer = call(body);
        assert!(answer.contains("error"), "{answer}");
        // The next request is answered.
        assert!(call(&valid).contains("called"));
    }
    // The same holds for the messages of a session.
    for body in &bodies {
        let handled = catch_unwind(|| {
            let session = session(None);
            if let Ok(Message::Request(request)) = Message::parse(body.as_bytes()) {
                let _ = session.handle_request(&request, Subscriber::default);
            }
        });
        assert!(handled.is_ok(), "{body}");
    }
}

/// A second `initialize` replaced the client of a running session, with other capabilities or another
/// user.
#[test]
fn second_initialize_does_not_change_the_session() {
    let session = session(None);
    let before = session.record();
    let text = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"sampling":{}},"clientInfo":{"name":"other","version":"1"}}}"#;
    let handled = session.handle_request(&request(text), Subscriber::default);
    assert!(
        matches!(handled, Err(Fault::InvalidRequest(_))),
        "{handled:?}"
    );
    assert_eq!(session.record(), before);
    let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    let handled = session.handle_request(&request(ping), Subscriber::default);
    assert!(
        matches!(handled, Ok(HandledRequest::Reply(_))),
        "{handled:?}"
    );
}

/// CVE-2026-52869: a session served every authenticated user who knew its id.
#[test]
fn cve_2026_52869_session_belongs_to_its_principal() {
    let ada = Principal::new("https://issuer.example", "ada");
    let session = session(Some(&ada));
    assert!(session.belongs_to(Some(&ada)));
    for other in [
        Principal::new("https://issuer.example", "bob"),
        Principal::new("https://other.example", "ada"),
        Principal::new("https://issuer.examplea", "da"),
    ] {
        assert!(!session.belongs_to(Some(&other)), "{other:?}");
    }
    assert!(!session.belongs_to(None));
}

/// CVE-2025-58444: a client opened a server's URL without checking its scheme, and `javascript:`
/// ran in the client's origin.
#[test]
fn cve_2025_58444_script_urls_are_refused() {
    use mcp_types::{ElicitUrlParams, Icon};

    for url in [
        "javascript:alert(1)",
        " JavaScript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "vscode://extension/install",
        "http://localhost@attacker.example/",
    ] {
        assert!(
            ElicitUrlParams::new("m", url).checked_url().is_err(),
            "{url}"
        );
        let website = Implementation::new("s", "1").website_url(url);
        let is_web = url.starts_with("http");
        let checked = website.checked_website_url().unwrap();
        assert_eq!(checked.is_ok(), is_web, "{url}");
        let is_data = url.starts_with("data:");
        assert_eq!(Icon::new(url).checked_src().is_ok(), is_data, "{url}");
    }
}
