use mcp_macros::tools;

struct Desk;

#[tools(crate = mcp_server)]
impl Desk {
    #[tool]
    fn add(a: f64, b: f64) -> f64 {
        a + b
    }

    #[tool(name = "add")]
    fn sum(a: f64, b: f64) -> f64 {
        a + b
    }
}

fn main() {
    let _ = Desk::tools();
}
