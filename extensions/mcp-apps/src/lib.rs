//! Unstable: user interfaces of tools, MCP Apps (extension `io.modelcontextprotocol/ui`), for servers and for
//! the hosts that display them.
//!
//! A server has [`App`]s, which are HTML documents at `ui://` URIs, and tools that name them. A host
//! shows the document in a sandboxed frame, the view, and speaks JSON-RPC with it: [`HostBridge`] is
//! its half of that conversation, over any duplex channel for JSON messages.
//!
//! ```
//! use mcp::apps::{App, Apps, Csp};
//! use mcp::prelude::*;
//!
//! let html = "<!doctype html><title>Chart</title><canvas></canvas>";
//! let chart = App::new("ui://chart", html).csp(Csp::new().connect("https://api.example.com"));
//! let server = Server::new("charts", "1.0.0")
//!     .tool(Tool::new("chart").app("ui://chart").handler(|| "3 series, all of them rising"))
//!     .extension(Apps::new().app(chart));
//! server.check()?;
//! # Ok::<(), mcp::SetupError>(())
//! ```
//!
//! Specification version 2026-01-26, with the draft parts that version 2.0.4
//! of its TypeScript package implements.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-apps>
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `ui` | client settings, an app's display requirements |
//! | `csp` | the header `Content-Security-Policy` |
//! | `access` | parties that may call a tool |
//! | `document` | an app's document as a host receives it |
//! | `extension` | the extension's definition, a server's apps |
//! | `host` | the host's half of the conversation with a view |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod csp;
mod document;
mod extension;
mod host;
mod ui;

pub use access::{ToolAccess, model_tools};
pub use csp::{InvalidSource, content_security_policy};
pub use document::{AppDocument, DocumentError};
#[cfg(feature = "server")]
pub use extension::App;
pub use extension::Apps;
pub use host::{
    AppCapabilities, AppServer, ContainerSize, DisplayMode, Download, HostBridge, HostContext,
    ModelContext, Platform, Refusal, Theme, View, ViewError, ViewLimits, ViewMessage, ViewSize,
};
pub use mcp_types::ext::apps::{ToolUi, Visibility};
pub use ui::{AppsSettings, Csp, MIME_TYPE, Permissions, ResourceUi};
