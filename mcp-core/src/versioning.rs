//! The era and the revision of messages. Decided here once per message; other code calls named
//! predicates of [`ProtocolVersion`](mcp_types::ProtocolVersion).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod classify;
mod select;

pub use classify::{RequestEra, classify, is_modern_version};
pub use select::{check_offered, newest_common, revisions_in, unsupported_legacy};
pub(crate) use select::{check_stateless, session_version};
