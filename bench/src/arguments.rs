//! Arguments of the tools of every measured server. The package `bench/rmcp` includes this file, too.

#![allow(
    missing_docs,
    reason = "doc comments would become descriptions and make the list longer than that of bench-limit"
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
