//! Patterns that take more than one message, as machines: no IO, no clock.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns>

pub mod mrtr;
pub mod subscriptions;
