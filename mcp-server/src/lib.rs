//! A Model Context Protocol service from plain functions.
//!
//! A [`Server`] is a set of routes. A route has a description, which clients list, and a handler: a
//! function whose parameters are extractors ([`Args`], [`State`], [`Headers`], …) and whose return
//! value converts into a result ([`IntoToolResult`], …). A server knows neither transports nor
//! protocol revisions, so the same server works with all of them.
//!
//! ```
//! use mcp::prelude::*;
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
//!         .description("Add two numbers")
//!         .handler(|Args(p): Args<Add>, State(_): State<String>| async move { p.a + p.b }),
//! );
//! server.check()?;
//! # Ok::<(), mcp::SetupError>(())
//! ```
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | layer | modules | content |
//! |---|---|---|
//! | values | `caller`, `change_kinds`, `elicitation_id`, `rejection`, `state`, `uri`, `validation` | plain values |
//! | schemas | `constraints`, then `schema` | checks that a schema publishes; schemas of Rust types |
//! | input | `request_state`, then `input_round` | sealed state; one run of a handler that asks |
//! | call | `call` | a handler's requirements, a call's context, the run of the handler |
//! | handlers | `extract`, then `ask`, `result`, then `handler` | extractors, questions, results and errors, functions as handlers |
//! | broadcasts | `broadcaster`, then `notify` | extension notifications outside calls, announcements of changes |
//! | middleware | [`middleware`] | layers, the request log |
//! | routes | `routes` | tools, resources, templates, prompts, completions, routers |
//! | extensions | `extension` | extensions of the protocol: setup, custom methods |
//! | registry | `registry` | a server's routes, and changes of them |
//! | serving | `check`, `dispatch`, then `handles`, `tokens` | setup errors, a call's route, handles |
//! | server | `server` | the builder and the service |
//! | macros | `__private` | helpers for generated code |

#[doc(hidden)]
pub mod __private;
mod ask;
mod broadcaster;
mod call;
mod caller;
mod change_kinds;
mod check;
mod constraints;
mod dispatch;
mod elicitation_id;
mod extension;
mod extract;
mod handler;
mod handles;
mod input_round;
pub mod middleware;
mod notify;
mod registry;
mod rejection;
mod request_state;
mod result;
mod routes;
mod schema;
mod server;
mod state;
mod tokens;
mod uri;
mod validation;

pub use ask::{Answer, Ask, Asking, Elicit, ElicitChoice, ElicitField, Questions, Sampling};
pub use broadcaster::Broadcaster;
pub use call::{CallContext, RouteSpec};
pub use caller::Caller;
pub use check::SetupError;
pub use extension::{
    IntoServerExtension, Method, MethodHandler, RawExtension, ServerExtension, ServerSetup,
};
pub use extract::{
    Args, Async, Cancel, ClientInfo, Declared, Extension, FromCall, FromCallAsync, FromHeader,
    Header, Headers, Identity, Log, Notifier, Prefix, Progress, RawArgs, RequestMeta, State,
};
pub use handler::{CompletionHandler, Handler, ListHandler, PromptHandler, ReadHandler};
pub use handles::{EditError, Prompts, RawExtensions, Resources, Templates, Tools};
pub use input_round::AskError;
pub use mcp_types::{
    CallToolResult, ContentBlock, Prompt, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Tool,
};
pub use notify::Notify;
pub use rejection::{ArgumentError, Rejection};
pub use request_state::{StateKeys, WeakSecret};
pub use result::{
    CompletionError, IntoCompletion, IntoContents, IntoPrompt, IntoResourceList, IntoToolResult,
    Json, NotFound, PromptError, RequestError, ResourceError, ResourceList, ToolError, assistant,
    user,
};
pub use routes::{
    CompletionRoute, IntoRoute, PageCursor, PromptExt, PromptRoute, ResourceExt, ResourceRoute,
    Routes, ScopedCall, TemplateRoute, ToolExt, ToolRoute,
};
pub use server::{IntoServer, Server};
pub use tokens::TokenSealer;
