//! Requests that wait for an answer, on every connection that carries many of them at once.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod ids;
mod pending;

pub use ids::Ids;
pub use pending::{OpenError, Patience, Pending};
