//! The server of the tests on standard streams.

#[path = "../tests/it/shop.rs"]
#[expect(clippy::panic, reason = "one tool panics")]
mod shop;

#[tokio::main(flavor = "current_thread")]
async fn main() -> mcp::Result<()> {
    mcp::serve_stdio(shop::Shop).await
}
