//! Calls to a server without a transport.

use std::sync::Arc;

use futures::executor::block_on;
use mcp_core::{Call, ClientContext, Exchange, InputState, Reply, Service};
use mcp_server::Server;
use mcp_types::{ClientCapabilities, ProtocolVersion};

/// Sends a call of a client with the capability of URL elicitation.
pub(crate) fn send(server: &Server, call: Call, input: InputState) -> Reply {
    let capabilities = ClientCapabilities::default().with_url_elicitation();
    let mut facts = ClientContext::new(ProtocolVersion::LATEST);
    facts.capabilities = capabilities;
    let mut exchange = Exchange::new(call, Arc::new(facts));
    exchange.input = input.into();
    block_on(server.call(exchange))
}
