//! Helpers that generated code of `mcp-macros` calls. Not part of the public interface: any release
//! may change them.
//!
//! A function with plain parameters becomes a route in two steps. When the route is created, each
//! parameter is classified by its type ([`Probe`]) and describes itself to [`Parameters`]. Calls use
//! the resulting [`ParameterPlan`], which splits the arguments once; each parameter then decodes its
//! own.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `doc` | doc comments as descriptions |
//! | `optional` | arguments that may be absent |
//! | `plan` | arguments of a call: missing, unknown and repeated ones |
//! | `parameters` | the published schema |
//! | `probe` | parameter classification: extractor, argument or neither |
//! | `output` | conversion of return values |
//! | `routes` | the route of a function |
//! | `form` | `#[derive(Elicit)]` |
//! | `server_block` | `#[mcp::server]` |

mod doc;
pub mod form;
mod optional;
mod output;
mod parameters;
mod plan;
mod probe;
mod routes;
mod server_block;
#[cfg(test)]
mod tests;

pub use mcp_core::TaskMode;
pub use mcp_types::{
    CacheHint, CallToolResult, Choices, CompletionReference, EnumSchema, FormError, FormSchema,
    Icon, Implementation, JsonObject, Prompt, Resource, ResourceTemplate, Tool,
};
pub use schemars::JsonSchema;
pub use serde::Serialize;
pub use serde_json::Value;

pub use crate::ask::{Elicit, ElicitChoice, ElicitField};
pub use crate::constraints::range::{Range, Ranged};
pub use crate::constraints::text::{Length, Measured, Patterned};
pub use crate::extract::Prefix;
pub use crate::result::{IntoToolResult, Json, ToolError};
pub use crate::routes::{
    CompletionRoute, PromptRoute, ResourceRoute, Routes, TemplateRoute, ToolRoute,
};
pub use crate::server::Server;
pub use doc::doc;
pub use output::{
    HandlerOutput, IsCompletion, IsContents, IsPrompt, IsToolResult, NotCompletion, NotContents,
    NotPrompt, NotToolResult,
};
pub use parameters::{ParameterInfo, Parameters};
pub use plan::{ParameterPlan, ParameterReader};
pub use probe::{
    AcceptsOptions, Argument, CompletionParameter, Extractor, GenericExtractor, InvalidParameter,
    IsArgument, IsExtractor, IsGenericExtractor, NamedParameter, Probe, ResourceParameter,
    RouteParameter,
};
pub use routes::{completion, prompt, resource, template, tool};
pub use server_block::OnlyBlockWithoutRoutes;
