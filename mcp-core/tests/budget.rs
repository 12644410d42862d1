//! What a call costs in allocations, from its text to the text of its answer. Who makes it cost
//! more has to raise a number here and say why.

#![expect(clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use allocation_counter::{AllocationInfo, measure};
use mcp_core::wire::{self, MODERN, ReplyContext};
use mcp_core::{Call, ClientRequest, Reply, ServerProfile, modern, versioning};
use mcp_types::{CallToolResult, Implementation, Message, ProtocolVersion, Request, RequestId};

/// Parse, classify and decode a modern `tools/call`. One allocation each: the lists of the members
/// of `params` and of `_meta`; the name; the arguments, the client's identity and `_meta` as raw
/// text; the shared facts about the client.
const READ_MODERN: u64 = 7;

/// Parse, classify and decode a `tools/call` of a session: the two lists of members, the name, the
/// arguments and `_meta` as raw text, and the progress token.
const READ_LEGACY: u64 = 6;

/// Write a small text result: one buffer, large enough from the start.
const WRITE: u64 = 1;

const MODERN_CALL: &str = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}},"name":"add","arguments":{"a":1,"b":2}}}"#;

const LEGACY_CALL: &str = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"progressToken":"a-token-of-some-length"},"name":"search_the_documents","arguments":{"query":"how many allocations does a call make","limit":10,"sources":["handbook","mail","tickets"],"since":"2026-01-01","verbose":false,"language":"en"}}}"#;

fn request(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

/// Holds what `work` allocates against a budget, exactly: what costs less lowers the number.
#[track_caller]
fn hold(what: &str, budget: u64, work: impl FnOnce()) {
    let AllocationInfo {
        count_total,
        bytes_total,
        ..
    } = measure(work);
    println!("{what}: {count_total} allocations, {bytes_total} bytes");
    assert_eq!(count_total, budget, "{what}");
}

#[test]
fn reading() {
    let profile = ServerProfile::new(Implementation::new("calc", "1.0.0"));
    assert!((280..=340).contains(&MODERN_CALL.len()) && (280..=340).contains(&LEGACY_CALL.len()));
    hold("modern call", READ_MODERN, || {
        let request = request(MODERN_CALL);
        let versioning::RequestEra::Modern(envelope) = versioning::classify(&request, None) else {
            panic!("no modern request")
        };
        let read = modern::read_request(&request, envelope, &profile);
        assert!(matches!(
            read.map(|it| it.request),
            Ok(ClientRequest::Call(Call::CallTool(_)))
        ));
    });
    let wire = wire::for_version(ProtocolVersion::V2025_11_25);
    hold("legacy call", READ_LEGACY, || {
        let request = request(LEGACY_CALL);
        let route = versioning::classify(&request, None);
        assert!(matches!(route, versioning::RequestEra::Legacy));
        let read = wire.decode_request(&request);
        assert!(matches!(
            read.map(|it| it.request),
            Ok(ClientRequest::Call(Call::CallTool(_)))
        ));
    });
}

#[test]
fn writing() {
    let profile = ServerProfile::new(Implementation::new("calc", "1.0.0"));
    let id = RequestId::from(17);
    for wire in [MODERN, wire::for_version(ProtocolVersion::V2025_11_25)] {
        let reply: Reply = CallToolResult::from_text("3").into();
        let to = ReplyContext::new(&id, &profile);
        hold("result", WRITE, || {
            let text = wire.encode_reply(reply, &to, Vec::new());
            assert!(text.shared.is_empty() && text.len() < 256);
        });
    }
}
