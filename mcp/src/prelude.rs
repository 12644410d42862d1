//! What most programs use: `use mcp::prelude::*;`.

pub use crate::types::ContentBlock as Content;
pub use crate::{CallToolResult, ProtocolVersion, Tool};

#[cfg(feature = "http-server")]
pub use crate::StreamableHttp;
#[cfg(feature = "macros")]
pub use crate::tool;
#[cfg(feature = "server")]
pub use crate::{
    Args, Extension, FromHeader, Header, Headers, Json, Log, Progress, RawArgs, Server, State,
    ToolError, ToolExt as _,
};
#[cfg(feature = "client")]
pub use crate::{Client, ConnectMode};
#[cfg(feature = "http-client")]
pub use crate::{Connect as _, ConnectWith as _};
