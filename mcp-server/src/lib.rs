//! Functions in, a Model Context Protocol service out.
//!
//! A [`Server`] is a set of routes; a route is plain data: what is listed, and a function that is
//! called. A function's parameters are extractors ([`Args`], [`State`], [`Headers`], …), its result
//! is any value that becomes a result ([`IntoToolResult`]). Nothing here knows a transport or an
//! era, so the same server runs everywhere.
//!
//! ```
//! use mcp_server::{Args, Server, State, Tool, ToolExt};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     /// first addend
//!     a: f64,
//!     b: f64,
//! }
//!
//! let server = Server::new("calculator", "1.0.0").state("carry".to_owned()).tool(
//!     Tool::new("add")
//!         .describe("Add two numbers")
//!         .handler(|Args(p): Args<Add>, State(_): State<String>| async move { p.a + p.b }),
//! );
//! server.check()?;
//! # Ok::<(), mcp_server::SetupError>(())
//! ```
//!
//! | you look for | module |
//! |---|---|
//! | what a handler may take | `extract` |
//! | what a tool may return | `tools/result.rs` |
//! | how errors reach the client | `tools/error.rs` |
//! | schemas | `tools/schema.rs` |
//! | panics | `guard.rs` |

mod extract;
mod guard;
mod handler;
#[doc(hidden)]
pub mod macro_support;
mod server;
mod state;
mod tools;

pub use extract::{
    Args, ArgumentError, CallContext, Extension, FromCall, FromHeader, Header, Headers, Log,
    Progress, RawArgs, Rejection, RouteSpec, State,
};
pub use handler::{Async, Handler, Sync};
pub use mcp_types::{CallToolResult, ContentBlock, Tool};
pub use server::{IntoServer, Routes, Server, SetupError};
pub use tools::{IntoToolResult, Json, ToolError, ToolExt, ToolRoute};
