//! What the macros of `mcp-macros` write calls to. Not part of the public interface: it may change
//! in every release.
//!
//! A function with plain parameters becomes a [`Params`] when its route is made: each parameter is
//! asked what it is ([`Slot`]) and describes itself. What a call needs of that stays in a
//! [`Plan`], which splits the arguments once and lets each parameter take its own.
//!
//! | you look for | module |
//! |---|---|
//! | extractor, argument or neither | `probe` |
//! | the published schema | `params` |
//! | missing, unknown and repeated arguments | `plan` |
//! | what may be left out | `absent` |
//! | the route of a function | `routes` |
//! | what a function returned | `returned` |
//! | doc comments | `doc` |
//! | `#[derive(Elicit)]` | `form` |

mod absent;
mod doc;
pub mod form;
mod params;
mod plan;
mod probe;
mod returned;
mod routes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use mcp_types::{
    CacheHint, CallToolResult, Choices, CompletionReference, EnumSchema, FormError, FormSchema,
    Icon, Implementation, JsonObject, Prompt, Resource, ResourceTemplate, Tool,
};
pub use schemars::JsonSchema;
pub use serde::Serialize;
pub use serde_json::Value;

pub use crate::completion::Prefix;
pub use crate::constraints::range::{Limit, Range, Ranged};
pub use doc::doc;
pub use params::{About, Params};
pub use plan::{Input, Plan};
pub use probe::{
    Argument, ByCall, ByValue, ByWrapper, CompletionParameter, Extractor, NamedParameter, Neither,
    ResourceParameter, RouteParameter, Slot, Values, Wrapper,
};

pub use returned::{
    ByCompletion, ByContents, ByPrompt, ByResult, NoCompletion, NoContents, NoPrompt, NoResult,
    Returned,
};
pub use routes::{completion, prompt, resource, template, tool};

use crate::server::{IntoServer, Server};

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
