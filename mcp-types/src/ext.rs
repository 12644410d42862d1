//! Types of the official extensions. Their identifiers are in [`meta::keys`](crate::meta::keys).
//!
//! Spec: <https://modelcontextprotocol.io/docs/extensions/overview>

pub mod apps;
pub mod events;
pub mod server_card;
pub mod tasks;
