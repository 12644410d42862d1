//! [`GatewayStatus`].

use std::sync::Arc;

use mcp_client::group::Health;

use super::counters::{CallCounts, LastFailure};

/// The servers of a running gateway, for its operator. Returned by
/// [`GatewayControl::status`](super::GatewayControl::status).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatewayStatus {
    /// The servers in the order of the settings.
    pub servers: Vec<ServerStatus>,
}

/// A server behind a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name in the settings.
    pub name: Arc<str>,
    /// The health of the connection that calls share.
    pub health: Health,
    /// The names of the tools that clients may call, also of those that only some callers see.
    pub tools: Vec<String>,
    /// The names of the tools that are held until a user approves them; see [`Gateway::pin`](super::Gateway::pin).
    pub held: Vec<String>,
    /// Number of prompts.
    pub prompts: usize,
    /// Number of resources.
    pub resources: usize,
    /// Number of resource templates.
    pub templates: usize,
    /// The calls since the gateway has opened, or since a reload has connected the server anew.
    pub calls: CallCounts,
    /// The last call or list that failed because of the connection or a time limit.
    pub last_failure: Option<LastFailure>,
}
