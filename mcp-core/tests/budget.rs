//! Allocations of a call, from its JSON to the JSON of its reply. A change that needs more raises the
//! number here, with a reason.

#![expect(clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::Instant;

use allocation_counter::{AllocationInfo, measure};
use mcp_core::legacy::{HandledRequest, Session, SessionLimits};
use mcp_core::{
    BoxFuture, Call, ClientRequest, Exchange, Fault, Reply, ReplyTarget, ServerProfile, Service,
    Subscriber, modern,
};
use mcp_types::{
    CallToolResult, ClientCapabilities, Implementation, InitializeParams, Message, ProtocolVersion,
    Request,
};

/// Parsing, classifying and decoding a modern `tools/call`. One allocation each: the members, the name, the raw JSON for the arguments, the client's identity and
/// `_meta`, and the shared facts about the client.
const READ_MODERN: u64 = 6;

/// Parsing, classifying and decoding a `tools/call` of a session: the members, the name,
/// the raw JSON of the arguments and `_meta`, and the progress token.
const READ_LEGACY: u64 = 5;

/// Encoding a small text result: one buffer, large enough from the start.
const WRITE: u64 = 1;

const MODERN_CALL: &str = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}},"name":"add","arguments":{"a":1,"b":2}}}"#;

const LEGACY_CALL: &str = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"progressToken":"a-token-of-some-length"},"name":"search_the_documents","arguments":{"query":"how many allocations does a call make","limit":10,"sources":["handbook","mail","tickets"],"since":"2026-01-01","verbose":false,"language":"en"}}}"#;

fn request(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

/// Checks that `work` allocates no more often than `budget`, and prints the count.
#[track_caller]
fn check(what: &str, budget: u64, work: impl FnOnce()) {
    let AllocationInfo {
        count_total,
        bytes_total,
        ..
    } = measure(work);
    println!("{what}: {count_total} allocations, {bytes_total} bytes");
    assert!(
        count_total <= budget,
        "{what}: {count_total} allocations, {budget} allowed"
    );
}

struct Server;

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        let mut profile = ServerProfile::new(Implementation::new("calc", "1.0.0"));
        profile.versions = ProtocolVersion::ALL.to_vec();
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(async { Fault::internal("not called").into() })
    }
}

fn session() -> Session {
    let info = Implementation::new("agent", "1.0.0");
    let capabilities = ClientCapabilities::default();
    let params = InitializeParams::new(ProtocolVersion::V2025_11_25, capabilities, info);
    let limits = SessionLimits::new(Instant::now, None);
    let opened = Session::open(None, &params, &Server, None, limits);
    opened.unwrap_or_else(|fault| panic!("{fault}")).0
}

#[test]
fn reading_a_call_stays_within_its_budget() {
    let profile = ServerProfile::new(Implementation::new("calc", "1.0.0"));
    assert!((280..=340).contains(&MODERN_CALL.len()) && (280..=340).contains(&LEGACY_CALL.len()));
    check("modern call", READ_MODERN, || {
        let request = request(MODERN_CALL);
        let read = modern::read_request(&request, None, &profile, true, |_| Ok(()));
        assert!(matches!(
            read.map(|read| read.map(|read| read.request)),
            Ok(Some(ClientRequest::Call(Call::CallTool(_))))
        ));
    });
    let session = session();
    check("legacy call", READ_LEGACY, || {
        let request = request(LEGACY_CALL);
        let read = modern::read_request(&request, None, &profile, true, |_| Ok(()));
        assert!(matches!(read, Ok(None)));
        let read = session.handle_request(&request, Subscriber::default);
        let Ok(HandledRequest::Call(read)) = read else {
            panic!("not a call")
        };
        assert!(matches!(
            read.request,
            ClientRequest::Call(Call::CallTool(_))
        ));
    });
}

#[test]
fn writing_a_result_stays_within_its_budget() {
    for version in [ProtocolVersion::LATEST, ProtocolVersion::V2025_11_25] {
        let reply: Reply = CallToolResult::from_text("3").into();
        let target = ReplyTarget {
            id: 17.into(),
            profile: Server.profile(),
            version,
        };
        check("result", WRITE, || {
            let text = target.encode(reply, Vec::new());
            assert!(text.shared.is_empty() && text.head.len() < 256);
        });
    }
}
