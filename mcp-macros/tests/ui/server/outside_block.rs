//! Attributes on functions that are neither free nor in a block with `#[mcp::server]`.

use mcp_macros::{prompt, tool};

struct Desk;

impl Desk {
    #[tool]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}

#[prompt]
struct Review;

fn main() {
    let _ = Desk.add(1.0, 2.0);
    let _ = Review;
}
