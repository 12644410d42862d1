//! Plain functions and closures where a route belongs.

use mcp::prelude::*;

fn add(a: f64, b: f64) -> f64 {
    a + b
}

fn main() {
    let _ = Server::new("s", "1").tool(add);
    let _ = Server::new("s", "1").tool(|a: f64| a);
    let _ = Server::new("s", "1").tool(Tool::new("add"));
    let _ = Server::new("s", "1").resource(add);
    let _ = Server::new("s", "1").template(add);
    let _ = Server::new("s", "1").prompt(add);
    let _ = Server::new("s", "1").completion(add);
}
