#![doc = include_str!("docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(
        feature = "macros",
        feature = "stdio",
        feature = "http",
        feature = "json-schema",
        feature = "auth",
        feature = "keychain",
        feature = "redis",
        feature = "tasks",
        feature = "skills",
        feature = "toolset",
        feature = "apps",
        feature = "events",
        feature = "gateway",
        feature = "gen",
        feature = "telemetry"
    )),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "pages link to items of other features; a build with all features checks every link"
    )
)]

#[cfg(all(feature = "macros", any(feature = "http", feature = "stdio")))]
mod blocking;
mod error;
pub mod extension;
pub mod guide;
pub mod prelude;
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
#[cfg(all(feature = "server", any(feature = "http", feature = "stdio")))]
mod serve;
pub mod typed;

/// Helpers that generated code calls. Any release may change them.
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod __private {
    pub use mcp_server::__private::*;

    #[cfg(all(feature = "macros", any(feature = "http", feature = "stdio")))]
    pub use crate::blocking::run_blocking;
}

pub use mcp_core as core;
pub use mcp_core::schema;
pub use mcp_types as types;

pub use error::{Error, Result};

/// Authorization: OAuth for clients, and servers that demand access tokens.
#[cfg(feature = "auth")]
pub use mcp_auth as auth;

/// Unstable: user interfaces of tools (MCP Apps).
#[cfg(feature = "apps")]
pub use mcp_apps as apps;

/// Unstable: server events, by poll, stream and webhook (draft of 5 October 2026).
#[cfg(feature = "events")]
pub use mcp_events as events;

/// Unstable: typed Rust code from a server catalog.
#[cfg(feature = "gen")]
pub use mcp_gen as generate;

/// Unstable: programs between clients and servers.
#[cfg(feature = "gateway")]
pub use mcp_gateway as gateway;

/// Tool calls that become tasks.
#[cfg(feature = "tasks")]
pub use mcp_tasks as tasks;

/// Unstable: skills, folders of instructions for language models.
#[cfg(feature = "skills")]
pub use mcp_skills as skills;

/// Unstable: what a language model sees of the tools on any number of servers.
#[cfg(any(feature = "gateway", feature = "toolset"))]
pub use mcp_toolset as toolset;

/// Unstable: traces and metrics by the OpenTelemetry conventions.
#[cfg(feature = "telemetry")]
pub use mcp_telemetry as telemetry;

#[cfg(feature = "client")]
pub use mcp_client as client;
/// A client of one server: [`Client::connect`] opens it, and [`Client::builder`] with
/// [`connect`](ClientBuilder::connect) opens one with settings and handlers.
#[cfg(feature = "client")]
pub use mcp_client::Client;
/// Settings of a [`Client`]: [`connect`](ClientBuilder::connect) opens it with them.
#[cfg(feature = "client")]
pub use mcp_client::ClientBuilder;
#[cfg(all(feature = "client", feature = "stdio"))]
pub use mcp_client::Io;
#[cfg(feature = "client")]
pub use mcp_client::Verdict;
/// A group of servers: [`Group::load`] reads them from an `mcp.json`,
/// [`target`](group::GroupBuilder::target) of a [builder](Group::builder) adds one.
#[cfg(feature = "client")]
pub use mcp_client::group::Group;
#[cfg(feature = "client")]
pub use mcp_client::{
    Cache, Change, ConnectMode, ElicitRequest, InProcess, InputError, Negotiation, Over,
    PreparedCall, PreparedNotification, Rejected, SampleRequest, Step, Subscription, Target,
    TaskHandle, UrlRequest,
};
#[cfg(feature = "client")]
pub use mcp_client::{catalog, group};
#[cfg(all(feature = "http", feature = "server"))]
pub use mcp_core::store::{EventStore, MemoryEventStore, MemorySessionStore, SessionStore};
#[cfg(feature = "server")]
pub use mcp_core::{ChangeBus, Gate, Principal, StreamControl, SubscribedResources};
#[cfg(feature = "macros")]
pub use mcp_macros::{Elicit, Output, completion, prompt, resource, server, tool};
/// Unstable: sessions, events and changes on Redis, for several nodes behind one address.
#[cfg(feature = "redis")]
pub use mcp_redis as redis;
#[cfg(feature = "server")]
pub use mcp_server::middleware;
#[cfg(feature = "server")]
pub use mcp_server::{
    Answer, Args, ArgumentError, Ask, AskError, Asking, Async, CallContext, Caller, Cancel,
    ClientInfo, CompletionError, CompletionHandler, CompletionRoute, EditError, Elicit,
    ElicitChoice, ElicitField, Extension, FromCall, FromCallAsync, FromHeader, Handler, Header,
    Headers, Identity, IntoCompletion, IntoContents, IntoPrompt, IntoResourceList, IntoRoute,
    IntoServer, IntoToolResult, Json, ListHandler, Log, NotFound, Notify, PageCursor, Prefix,
    Progress, PromptError, PromptExt, PromptHandler, PromptRoute, Prompts, Questions, RawArgs,
    ReadHandler, Rejection, RequestMeta, ResourceError, ResourceExt, ResourceList, ResourceRoute,
    Resources, RouteSpec, Routes, Sampling, ScopedCall, Server, SetupError, State, StateKeys,
    TemplateRoute, Templates, TokenSealer, ToolError, ToolExt, ToolRoute, Tools, WeakSecret,
    assistant, routes, user,
};
#[cfg(feature = "http")]
pub use mcp_transport_http as http;
#[cfg(all(feature = "http", feature = "server"))]
pub use mcp_transport_http::StreamableHttp;
#[cfg(all(feature = "client", feature = "http"))]
pub use mcp_transport_http::client::{HttpChannel, HttpClient};
#[cfg(all(feature = "http", feature = "server"))]
pub use mcp_transport_http::server::{AnswerMode, SessionEnd, SessionEvent, Sessions};
#[cfg(feature = "stdio")]
pub use mcp_transport_stdio as stdio;
#[cfg(all(feature = "client", feature = "stdio"))]
pub use mcp_transport_stdio::ServerCommand;
#[cfg(all(feature = "server", feature = "stdio"))]
pub use mcp_transport_stdio::StdioServer;
/// A prompt: [`handler`](PromptExt::handler) adds its function, [`Server::prompt`] adds it to a server,
/// [`Client::list_prompts`] lists those of a server.
pub use mcp_types::Prompt;
/// A resource: [`read`](ResourceExt::read) adds its function, [`Server::resource`] adds it to a server,
/// [`Client::list_resources`] lists those of a server.
pub use mcp_types::Resource;
/// A URI template: [`read`](ResourceExt::read) adds its function, [`Server::template`] adds it to a
/// server.
pub use mcp_types::ResourceTemplate;
/// A tool: [`handler`](ToolExt::handler) adds its function, [`Server::tool`] adds it to a server,
/// [`Client::list_tools`] lists those of a server.
pub use mcp_types::Tool;
pub use mcp_types::{
    CacheHint, CallToolResult, ContentBlock, CreateMessageResult, ElicitResult, Implementation,
    PromptMessage, ProtocolVersion, ResourceContents,
};

#[cfg(all(feature = "http", feature = "server"))]
pub use serve::serve_http;
#[cfg(all(feature = "server", feature = "stdio"))]
pub use serve::serve_stdio;
