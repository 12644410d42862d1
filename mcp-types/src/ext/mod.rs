//! The types of the official extensions.
//!
//! Spec: <https://modelcontextprotocol.io/docs/extensions/overview>

pub mod tasks;
