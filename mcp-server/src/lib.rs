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
//! | what a handler may take | `extract`; what it is found in: `context` |
//! | what a handler needs, written down before its first call | `spec` |
//! | asking the client | `ask`; one run of a handler that asks: `round`; what travels with the questions: `request_state` |
//! | what a tool, a resource, a prompt, a completion may return | `*/result.rs` |
//! | how errors reach the client | `tools/error.rs`, `failure.rs` |
//! | which URI fits a URI template | `resources/template` |
//! | arguments as values of a type | `extract/json.rs`; from strings: `extract/text.rs` |
//! | lists, their pages, who sees what of them | `listing/` |
//! | changes while the server serves | `live.rs`; the handles for them: `handles`, `notify` |
//! | which route answers a call | `live/answer.rs` |
//! | mistakes of a set-up | `check.rs` |
//! | schemas, and what they publish being checked | `schema`, `constraints` |
//! | layers around calls | [`middleware`] |
//! | panics, the end of a call | `guard.rs` |
//!
//! From the bottom up, each knowing only those before it:
//!
//! 1. values: `names`, `state`, `caller`, `checking`, `edits`, `rejection`, `constraints`, `schema`
//! 2. one call: `request_state`, `round`, `guard`, `spec`, `context`
//! 3. a handler's side: `extract`, `ask`, `failure`, and the `result.rs` of each kind of route
//! 4. routes: `handler`, `standing` with its layers, `tools`, `resources`, `prompts`, `completion`
//! 5. the whole: `routes`, `listing`, `live`, `check`, `handles`, `notify`, `server`
//!
//! Against that order, a `spec` names how what is beside tools is served (`live/others.rs`), so that programs
//! without it do not.

mod ask;
mod caller;
mod check;
mod checking;
mod completion;
#[doc(hidden)] // What is public in it is what macros write: `macro_support`.
mod constraints;
mod context;
mod edits;
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
mod names;
mod notify;
mod prompts;
mod rejection;
mod request_state;
mod resources;
mod round;
mod routes;
mod schema;
mod server;
mod spec;
mod standing;
mod state;
mod tools;
mod uri;

pub use ask::{Answer, Ask, Asking, Elicit, ElicitChoice, ElicitField, Questions, Sampling};
pub use caller::Caller;
pub use check::SetupError;
pub use completion::{CompletionRoute, IntoCompletion, Prefix};
pub use context::CallContext;
pub use extract::{
    Args, Cancel, ClientInfo, Extension, FromCall, FromHeader, Header, Headers, Identity, Log,
    Progress, RawArgs, RequestMeta, State,
};
pub use failure::{CompletionError, NotFound, PromptError, ResourceError};
pub use handler::{Async, CompletionHandler, Handler, PromptHandler, ReadHandler, Sync};
pub use handles::{EditError, Prompts, Resources, Templates, Tools};
pub use mcp_types::{
    CallToolResult, ContentBlock, Prompt, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Tool,
};
pub use notify::Notify;
pub use prompts::{IntoPrompt, PromptExt, PromptRoute, assistant, user};
pub use rejection::{ArgumentError, Rejection};
pub use request_state::{StateKeys, WeakSecret};
pub use resources::{IntoContents, ResourceExt, ResourceRoute, TemplateRoute};
pub use round::AskError;
pub use routes::Routes;
pub use server::{IntoServer, Server};
pub use spec::RouteSpec;
pub use tools::{IntoToolResult, Json, ToolError, ToolExt, ToolRoute};
