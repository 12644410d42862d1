use mcp_macros::tools;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

struct Desk;

#[tools(crate = mcp_server)]
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
