//! The example `calculator_stdio` of rmcp: two tools over standard input and output.
//!
//! `cargo run -p examples --bin ported_calculator`

struct Calculator;

#[mcp::server]
impl Calculator {
    /// Adds two numbers.
    #[tool(read_only)]
    fn sum(a: i32, b: i32) -> i64 {
        i64::from(a) + i64::from(b)
    }

    /// Subtracts a number from another.
    #[tool(read_only)]
    fn sub(
        /// the number to subtract from
        a: i32,
        /// the number to subtract
        b: i32,
    ) -> i64 {
        i64::from(a) - i64::from(b)
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    mcp::serve_stdio(Calculator).await
}
