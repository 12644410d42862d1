//! The server of the tests on standard streams, or over HTTP at `SHOP_ADDRESS`.

#[path = "../tests/it/shop.rs"]
#[expect(clippy::panic, reason = "one tool panics")]
mod shop;

#[tokio::main(flavor = "current_thread")]
async fn main() -> mcp::Result<()> {
    match std::env::var("SHOP_ADDRESS") {
        Ok(address) => mcp::serve_http(shop::Shop, address).await,
        Err(_) => mcp::serve_stdio(shop::Shop).await,
    }
}
