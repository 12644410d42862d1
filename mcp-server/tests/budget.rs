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
use mcp_core::{Call, ClientFacts, Exchange, Reply, Service};
use mcp_server::middleware::{Next, RequestLog, from_fn};
use mcp_server::{Server, Tool, ToolExt};
use mcp_types::{CallToolParams, ProtocolVersion};

/// The boxed handler, the list of contents and the text in it.
const PLAIN: u64 = 3;

/// Each layer boxes its answer, once. The end of the call travels with it: the map of extensions,
/// its table, the shared end and its place in the table.
const FIRST_LAYER: u64 = 5;
const FURTHER_LAYER: u64 = 1;

/// A log that nobody reads: just the layer.
const UNREAD_LOG: u64 = FIRST_LAYER;

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
    hold("a layer around the tool", PLAIN + FIRST_LAYER, &route);
    let logged = Server::new("test", "1.0.0")
        .tool(tool())
        .layer(RequestLog::new());
    hold("a log that nobody reads", PLAIN + UNREAD_LOG, &logged);
}
