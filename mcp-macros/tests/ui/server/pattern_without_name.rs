use mcp_macros::server;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn place(Point { x, y }: Point) -> f64 {
        x + y
    }

    #[tool]
    fn ignore(_: u32) {}
}

fn main() {
    let _ = Desk::tools();
}
