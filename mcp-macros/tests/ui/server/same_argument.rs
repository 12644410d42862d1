//! Two arguments of one name.

use mcp_macros::{server, tool};

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn add(a: f64, #[arg(name = "a")] b: f64) -> f64 {
        a + b
    }

    #[prompt]
    fn review(#[arg(name = "file")] one: String, #[arg(name = "file")] two: String) -> String {
        one + &two
    }
}

#[tool(crate = mcp_server)]
fn sum(a: f64, #[arg(name = "a")] b: f64) -> f64 {
    a + b
}

fn main() {
    let _ = Desk::tools();
    let _ = sum(1.0, 2.0);
}
