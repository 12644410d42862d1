//! JSON Schemas of tools: what holds what, what clients make of them, how values are checked.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage>

mod walk;

pub(crate) use walk::{Subschema, subschemas};
