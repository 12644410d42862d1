//! A minimal server: `cargo run -p examples --bin hello_server`, then connect to
//! <http://127.0.0.1:8000/mcp>.

use mcp::prelude::*;

/// Say hello.
#[tool]
fn hello(name: String) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let server = Server::new("hello", "1.0.0").tool(hello);
    mcp::serve_http(server, "127.0.0.1:8000").await
}
