//! Access to the vendored schemas and examples of the specification.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

/// Returns the folder with one folder per revision.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/spec/schema"))
}

pub(crate) fn read_json(path: &PathBuf) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a `_meta` as every request of 2026-07-28 carries it.
pub(crate) fn request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 7,
    })
}
