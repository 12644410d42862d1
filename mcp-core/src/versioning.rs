//! The era and the message revision. Decided here once per message; other code calls named
//! predicates of [`ProtocolVersion`](mcp_types::ProtocolVersion).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod classify;
mod select;

pub(crate) use classify::{RequestEra, classify};
pub use select::newest_common;
pub(crate) use select::{check_offered, check_stateless, session_version, unsupported_legacy};
