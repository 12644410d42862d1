//! The arguments of the tools that every measured server has. The server on rmcp, a package of its
//! own, reads this file, too.

#![allow(
    missing_docs,
    reason = "docs would become descriptions, which make a list longer than that of the bare server"
)]

use schemars::JsonSchema;
use serde::Deserialize;

// Those of `echo`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Echo {
    // What is said.
    pub message: String,
}

// Those of `add`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Add {
    // The first number.
    pub a: f64,
    // The second one.
    pub b: f64,
}

// Those of `progress`.
#[non_exhaustive]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Steps {
    // How often.
    pub n: u32,
}
