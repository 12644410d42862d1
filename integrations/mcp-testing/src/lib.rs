//! Unstable: test kit for Model Context Protocol servers and clients.
//!
//! | task | item |
//! |---|---|
//! | connect a client to a server without a transport | [`connect`] |
//! | test tools that take `Identity` or `Extension` | [`connect_as`] |
//! | connect them over a pipe or HTTP, with transport faults and paused time | [`Pair`], [`WireFault`] |
//! | compare the exchanged messages | [`Transcript`] |
//! | replace a server in tests of clients and agents | [`mock`] |
//! | detect changed tools, resources and prompts | [`snapshot!`] |
//! | make arguments and results for a schema | [`samples`] |
//!
//! ```
//! use serde_json::json;
//!
//! # #[derive(Clone)]
//! struct Calculator;
//!
//! #[mcp::server]
//! impl Calculator {
//!     /// Add two numbers.
//!     #[tool]
//!     fn add(&self, a: f64, b: f64) -> f64 {
//!         a + b
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> mcp::Result<()> {
//! let client = mcp_testing::connect(Calculator).await?;
//! assert_eq!(client.call("add", json!({"a": 1, "b": 2})).await?.text(), "3");
//! # Ok(())
//! # }
//! ```

mod connect;
mod mock;
mod pair;
mod samples;
mod snapshot;

pub use connect::{connect, connect_as, connect_with};
pub use mcp::catalog::Snapshot;
pub use mock::{Mock, mock};
pub use pair::{Connected, Pair, Transcript, WireFault};
pub use samples::samples;
pub use snapshot::assert_snapshot;
