//! A server on standard streams with tools of many Rust return types, for `cargo xtask interop`: clients that check results
//! by their output schemas accept all of them. A tool's description is its number of values, and the argument `index`
//! selects one.

#[path = "../../../../integrations/mcp-testing/tests/it/returned/tools.rs"]
mod tools;

use mcp::prelude::*;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let tools = tools::tools().into_iter().chain(tools::raw_tools());
    let server = tools.fold(
        Server::new("returned-types", "1.0.0"),
        |server, (tool, _)| server.tool(tool),
    );
    mcp::serve_stdio(server).await
}
