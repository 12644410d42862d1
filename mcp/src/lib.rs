#![doc = include_str!("docs/crate.md")]

#[cfg(feature = "http-client")]
mod connect;
mod error;
pub mod guide;
pub mod prelude;
#[cfg(feature = "http-server")]
mod serve;

pub use mcp_core as core;
pub use mcp_core::schema;
pub use mcp_types as types;

pub use error::{Error, Result};

#[cfg(feature = "client")]
pub use mcp_client as client;
#[cfg(feature = "client")]
pub use mcp_client::{
    Cache, Change, Client, ConnectMode, ElicitRequest, InputError, Rejected, SampleRequest,
    Subscription, Turn, UrlRequest,
};
#[cfg(feature = "macros")]
pub use mcp_macros::{Elicit, Output, completion, prompt, resource, server, tool, tools};
#[cfg(feature = "server")]
#[doc(hidden)]
pub use mcp_server::macro_support;
#[cfg(feature = "server")]
pub use mcp_server::middleware;
#[cfg(feature = "server")]
pub use mcp_server::{
    Answer, Args, ArgumentError, Ask, AskError, Asking, CallContext, Caller, Cancel, ClientInfo,
    CompletionError, CompletionRoute, EditError, Elicit, ElicitChoice, ElicitField, Extension,
    FromCall, FromHeader, Header, Headers, Identity, IntoCompletion, IntoContents, IntoPrompt,
    IntoServer, IntoToolResult, Json, Log, NotFound, Notify, Prefix, Progress, PromptError,
    PromptExt, PromptRoute, Prompts, Questions, RawArgs, Rejection, RequestMeta, ResourceError,
    ResourceExt, ResourceRoute, Resources, RouteSpec, Routes, Sampling, Server, SetupError, State,
    StateKeys, TemplateRoute, Templates, ToolError, ToolExt, ToolRoute, Tools, WeakSecret,
    assistant, user,
};
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub use mcp_transport_http as http;
#[cfg(feature = "http-server")]
pub use mcp_transport_http::StreamableHttp;
pub use mcp_types::{
    CacheHint, CallToolResult, ContentBlock, CreateMessageResult, ElicitResult, Implementation,
    Prompt, PromptMessage, ProtocolVersion, Resource, ResourceContents, ResourceTemplate, Tool,
};

#[cfg(feature = "http-client")]
pub use connect::{Connect, ConnectWith, Target};
#[cfg(feature = "http-server")]
pub use serve::{Address, serve_http};
