use mcp_macros::tool;

struct Desk;

impl Desk {
    #[tool]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}

#[tool(read_only)]
async fn now() -> &'static str {
    "half past"
}

fn main() {
    let _ = Desk.add(1.0, 2.0);
    let _ = now();
}
