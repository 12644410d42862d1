//! A minimal server: `cargo run -p examples --bin hello_server`, then connect to
//! <http://127.0.0.1:8000/mcp>.

struct Hello;

#[mcp::server]
impl Hello {
    /// Say hello.
    #[tool]
    fn hello(&self, name: String) -> String {
        format!("Hello, {name}!")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    mcp::serve_http(Hello, "127.0.0.1:8000").await
}
