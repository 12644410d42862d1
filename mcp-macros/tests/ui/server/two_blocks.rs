//! Two blocks of one type that are servers: a second block gives its routes to the first one.

struct Desk;

#[mcp::server]
impl Desk {
    #[tool]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}

#[mcp::server]
impl Desk {
    #[tool]
    fn name(&self) -> String {
        "desk".to_owned()
    }
}

fn main() {
    let _ = mcp::Server::of(Desk);
}
