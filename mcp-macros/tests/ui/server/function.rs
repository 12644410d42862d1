//! Free functions that are not routes.

use mcp_macros::{resource, tool};
use mcp_server::Server;

#[tool(crate = mcp_server, read_onyl)]
fn misspelled() {}

#[tool(crate = mcp_server)]
fn generic<T: ToString>(value: T) -> String {
    value.to_string()
}

#[tool(crate = mcp_server)]
#[resource("a://b", crate = mcp_server)]
fn both() -> &'static str {
    ""
}

#[tool(crate = mcp_server)]
fn limited(#[arg(length = 1..)] a: u8, #[arg(pattern = "x")] b: Vec<u8>) {
    let _ = (a, b);
}

fn unmarked(a: f64) -> f64 {
    a
}

fn main() {
    let _ = Server::new("s", "1").tool(limited).tool(unmarked);
    misspelled();
    generic(1);
    both();
}
