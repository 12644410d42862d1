//! What a call of a tool costs a server in allocations. Who makes it cost more has to raise a
//! number here and say why.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::sync::Arc;

use allocation_counter::measure;
use futures::executor::block_on;
use mcp_core::wire::{MODERN, ReplyContext};
use mcp_core::{Call, ClientFacts, Exchange, Reply, Service};
use mcp_server::middleware::{Next, RequestLog, from_fn};
use mcp_server::{Args, Server, Tool, ToolExt};
use mcp_types::{CallToolParams, Page, ProtocolVersion, RawObject};

/// The exchange, boxed since it moves through several futures, which costs less than copying it and
/// having them larger; the boxed handler, the list of contents and the text in it.
const PLAIN: u64 = 4;

/// Each layer boxes its answer, and a function as a layer boxes the call of what it wraps. The end of the
/// call travels with it: the map of extensions, its table, the shared end and its place in the table.
const FIRST_LAYER: u64 = 6;
const FURTHER_LAYER: u64 = 2;

/// A log that nobody reads: just the layer.
const UNREAD_LOG: u64 = FIRST_LAYER;

/// The list of all tools, however many: the boxed answer, and its head and its tail.
const LIST: u64 = 3;

/// Bytes that a call with a large string allocates in addition to its argument and its response.
const BESIDE_LARGE: u64 = 4096;

/// Holds a call of a tool against a budget, exactly: what costs less lowers the number.
#[track_caller]
fn hold(what: &str, budget: u64, server: &Server) {
    let facts = Arc::new(ClientFacts::new(ProtocolVersion::LATEST));
    let exchange = || {
        let call = Call::CallTool(CallToolParams::new("hello", None));
        Exchange::new(call, facts.clone())
    };
    // The first call makes what all calls share.
    assert!(matches!(
        block_on(server.call(exchange())),
        Reply::Complete { .. }
    ));
    let exchange = exchange();
    let mut reply = None;
    let cost = measure(|| reply = Some(block_on(server.call(exchange))));
    println!(
        "{what}: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    match reply.unwrap() {
        Reply::Complete { .. } => assert_eq!(cost.count_total, budget, "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn layers() {
    let layer = || from_fn(|exchange, next: Next| async move { next.run(exchange).await });
    let tool = || Tool::new("hello").handler(|| "hello");
    let plain = Server::new("test", "1.0.0").tool(tool());
    hold("no layer", PLAIN, &plain);
    let one = plain.layer(layer());
    hold("one layer", PLAIN + FIRST_LAYER, &one);
    hold(
        "two layers",
        PLAIN + FIRST_LAYER + FURTHER_LAYER,
        &one.layer(layer()),
    );
    let route = Server::new("test", "1.0.0").tool(tool().layer(layer()));
    // Behind the layer the exchange is boxed again.
    hold("a layer around the tool", PLAIN + FIRST_LAYER + 1, &route);
    let logged = Server::new("test", "1.0.0")
        .tool(tool())
        .layer(RequestLog::new());
    hold("a log that nobody reads", PLAIN + UNREAD_LOG, &logged);
}

/// The text of a list is written once for everybody, and anew once the list has changed.
#[test]
fn lists() {
    let tools = (0..1000).map(|n| Tool::new(format!("tool_{n}")).handler(|| "hello"));
    let server = Server::new("test", "1.0.0").merge(tools.collect());
    let handle = server.tools();
    let profile = server.profile();
    let id = 1.into();
    let facts = Arc::new(ClientFacts::new(ProtocolVersion::LATEST));
    let list = || {
        let call = Call::ListTools(Page::first());
        let reply = block_on(server.call(Exchange::new(call, facts.clone())));
        MODERN.encode_reply(reply, &ReplyContext::new(&id, &profile), Vec::new())
    };
    let first = list();
    let mut again = None;
    let cost = measure(|| again = Some(list()));
    let again = again.unwrap();
    println!(
        "a list of 1,000: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    assert_eq!(cost.count_total, LIST);
    assert_eq!(first.shared.as_ptr(), again.shared.as_ptr());

    let new = Tool::new("new").handler(|| "hello");
    let change = measure(|| handle.add(new).unwrap());
    println!("a change of it: {} allocations", change.count_total);
    let after = list().into_bytes();
    assert!(String::from_utf8_lossy(&after).contains(r#""name":"new""#));
    assert!(!first.shared.windows(5).any(|part| part == b"\"new\""));
}

/// A large string is copied twice: out of the arguments, and into the response.
#[test]
fn large_texts() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Echo {
        text: String,
    }

    const LENGTH: usize = 1 << 20;
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("echo").handler(|Args(echo): Args<Echo>| echo.text));
    let (profile, id) = (server.profile(), 1.into());
    let facts = Arc::new(ClientFacts::new(ProtocolVersion::LATEST));
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(LENGTH));
    let exchange = || {
        let arguments = RawObject::from_text(text.clone()).unwrap();
        let call = Call::CallTool(CallToolParams::new("echo", Some(arguments)));
        Exchange::new(call, facts.clone())
    };
    drop(block_on(server.call(exchange())));
    let exchange = exchange();
    let mut answer = None;
    let cost = measure(|| {
        let reply = block_on(server.call(exchange));
        answer = Some(MODERN.encode_reply(reply, &ReplyContext::new(&id, &profile), Vec::new()));
    });
    println!(
        "a text of 1 MiB: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    let answer = answer.unwrap().into_bytes();
    assert!(answer.windows(3).filter(|part| part == b"xxx").count() == LENGTH - 2);
    assert!(cost.bytes_total < 2 * LENGTH as u64 + BESIDE_LARGE);
}
