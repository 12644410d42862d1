//! Arguments of the tools. All measured servers have the same tools, so the package `checks/bench/rmcp`
//! includes this file as well.

#![allow(
    missing_docs,
    reason = "schemars copies doc comments into the schemas; `tools/list` must be as short as in bench-limit"
)]

use schemars::JsonSchema;
use serde::Deserialize;

// Arguments of `echo`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Echo {
    pub message: String,
}

// Arguments of `add`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Add {
    pub a: f64,
    pub b: f64,
}

// Arguments of `progress`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Steps {
    // Number of notifications.
    pub n: u32,
}
