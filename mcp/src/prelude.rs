//! The items that most programs use: `use mcp::prelude::*;`.
//!
//! Traits whose names are not needed are imported as `_`.

pub use crate::{
    CacheHint, CallToolResult, ContentBlock, CreateMessageResult, ElicitResult, Prompt,
    PromptMessage, ProtocolVersion, Resource, ResourceContents, ResourceTemplate, Tool,
};

#[cfg(all(feature = "client", feature = "stdio"))]
pub use crate::Io;
#[cfg(all(feature = "http", feature = "server"))]
pub use crate::StreamableHttp;
#[cfg(feature = "server")]
pub use crate::{
    Answer, Args, Ask, Async, Cancel, ClientInfo, Elicit, Extension, FromHeader, Header, Headers,
    Identity, Json, Log, NotFound, Notify, PageCursor, Prefix, Progress, PromptError,
    PromptExt as _, Prompts, RawArgs, RequestMeta, ResourceError, ResourceExt as _, ResourceList,
    Resources, Routes, Sampling, Server, State, Templates, ToolError, ToolExt as _, Tools,
    assistant, routes, user,
};
#[cfg(feature = "client")]
pub use crate::{
    Change, Client, ConnectMode, ElicitRequest, Rejected, SampleRequest, Step, UrlRequest,
};
#[cfg(feature = "macros")]
pub use crate::{completion, prompt, resource, tool};
