//! What the macros of `mcp-macros` write calls to. Not part of the public interface: it may change
//! in every release.
//!
//! A tool with plain parameters becomes a [`Params`] when its route is made: each parameter is
//! asked what it is ([`Slot`]) and describes itself. What a call needs of that stays in a
//! [`Plan`], which splits the arguments once and lets each parameter take its own.
//!
//! | you look for | module |
//! |---|---|
//! | extractor, argument or neither | `probe` |
//! | the published schema | `params` |
//! | missing, unknown and repeated arguments | `plan` |
//! | what may be left out | `absent` |
//! | `#[arg(range = …)]` | `range` |
//! | what a tool returned | `returned` |
//! | doc comments | `doc` |

mod absent;
mod doc;
mod params;
mod plan;
mod probe;
mod range;
mod returned;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

pub use mcp_types::{CallToolResult, Implementation, JsonObject, Tool};
pub use schemars::JsonSchema;
pub use serde::Serialize;

pub use doc::doc;
pub use params::{About, Params};
pub use plan::{Input, Plan};
pub use probe::{
    Argument, ByCall, ByValue, ByWrapper, Extractor, NamedParameter, Neither, Slot, ToolParameter,
    Values, Wrapper,
};
pub use range::{Limit, Range, Ranged};
pub use returned::{ByResult, NoResult, Returned};

use crate::extract::CallContext;
use crate::server::{IntoServer, Server};
use crate::tools::{IntoToolResult, ToolError, ToolRoute};

/// Makes the route of a tool whose parameters were described.
pub fn tool<Output, F, Fut>(tool: Tool, params: Params, handler: F) -> ToolRoute
where
    Output: IntoToolResult,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
{
    let (spec, plan) = params.finish();
    let plan = Arc::new(plan);
    ToolRoute::new::<Output, _, _>(tool, spec, move |call| handler(plan.clone(), call))
}

/// A type whose `impl` block has `#[mcp::server]`.
///
/// The block cannot implement [`IntoServer`] for an `Arc` itself: neither is its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a server",
    note = "put `#[mcp::server]` on its `impl` block, or build a `Server` by hand"
)]
pub trait ServerBlock: Send + Sync + Sized + 'static {
    /// Makes the server.
    fn server(self: Arc<Self>) -> Server;
}

impl<T: ServerBlock> IntoServer for Arc<T> {
    fn into_server(self) -> Server {
        self.server()
    }
}
