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
//! | asking the client | `ask`; what travels with the questions: `request_state` |
//! | what a tool, a resource, a prompt, a completion may return | `*/result.rs` |
//! | how errors reach the client | `tools/error.rs`, `failure.rs` |
//! | which URI fits a URI template | `resources/template` |
//! | strings as typed arguments | `extract/text.rs` |
//! | lists, their pages, who sees what of them | `listing/` |
//! | changes while the server serves | `live.rs` |
//! | mistakes of a set-up | `check.rs` |
//! | schemas | `tools/schema.rs` |
//! | layers around calls | [`middleware`] |
//! | panics, the end of a call | `guard.rs`, `over.rs` |

mod ask;
mod caller;
mod check;
mod completion;
mod extract;
mod failure;
mod guard;
mod handler;
mod handles;
mod listing;
mod live;
#[doc(hidden)]
pub mod macro_support;
pub mod middleware;
mod notify;
mod prompts;
mod request_state;
mod resources;
mod routes;
mod server;
mod standing;
mod state;
mod tools;

pub use ask::{
    Answer, Ask, AskError, Asking, Elicit, ElicitChoice, ElicitField, Questions, Sampling,
};
pub use caller::Caller;
pub use completion::{CompletionRoute, IntoCompletion, Prefix};
pub use extract::{
    Args, ArgumentError, CallContext, Cancel, ClientInfo, Extension, FromCall, FromHeader, Header,
    Headers, Identity, Log, Progress, RawArgs, Rejection, RequestMeta, RouteSpec, State,
};
pub use failure::{CompletionError, NotFound, PromptError, ResourceError};
pub use handler::{Async, CompletionHandler, Handler, PromptHandler, ReadHandler, Sync};
pub use handles::{EditError, Prompts, Resources, Templates, Tools};
pub use mcp_types::{
    CallToolResult, ContentBlock, Prompt, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Text, Tool,
};
pub use notify::Notify;
pub use prompts::{IntoPrompt, PromptExt, PromptRoute, assistant, user};
pub use request_state::{StateKeys, WeakSecret};
pub use resources::{IntoContents, ResourceExt, ResourceRoute, TemplateRoute};
pub use routes::Routes;
pub use server::{IntoServer, Server, SetupError};
pub use tools::{IntoToolResult, Json, ToolError, ToolExt, ToolRoute};
