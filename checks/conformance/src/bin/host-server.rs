//! A server over standard streams whose tools have the types that agent programs and their language models
//! stumble over: results that are not objects, tuples, and documented enums.

use mcp::prelude::*;

/// The time at which the order is needed.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Term {
    /// Soon.
    ShortTerm,
    /// Some day.
    LongTerm,
}

/// Add two numbers.
#[tool(read_only)]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

/// The words of a text.
#[tool(read_only)]
fn words(text: String) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The orders within a range of prices.
#[tool(read_only)]
fn orders(prices: (u32, u32), term: Term) -> String {
    let (least, most) = prices;
    let term = match term {
        Term::ShortTerm => "soon",
        Term::LongTerm => "some day",
    };
    format!("orders from {least} to {most}, {term}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> mcp::Result<()> {
    let server = Server::new("host-server", env!("CARGO_PKG_VERSION"));
    mcp::serve_stdio(server.merge(routes![add, words, orders])).await
}
