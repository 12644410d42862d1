//! Macros in a library with strict lints.
#![deny(
    missing_docs,
    missing_debug_implementations,
    unnameable_types,
    unreachable_pub,
    unused,
    unused_qualifications
)]
#![forbid(unsafe_code)]
#![allow(clippy::exhaustive_structs, reason = "a library may do so")]

use std::sync::Arc;

use mcp_macros::{Output, server};
use mcp_server::{IntoServer, Routes, Server};
use schemars::JsonSchema;
use serde::Serialize;

/// A server.
#[derive(Debug)]
pub struct Desk;

/// A sum.
#[derive(Debug, Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
pub struct Sum {
    /// all together
    pub total: f64,
}

/// A desk.
#[server(crate = mcp_server)]
impl Desk {
    /// Add.
    #[tool]
    pub fn add(
        &self,
        /** one */
        a: f64,
        #[arg(default = 1.0)] b: f64,
    ) -> Sum {
        Sum { total: a + b }
    }
}

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    async fn none() {}
}

/// Tools for other servers.
pub fn routes() -> Routes {
    Desk::tools()
}

macro_rules! desk {
    ($name:ident, $add:ident, $number:ty) => {
        struct $name;

        #[server(crate = mcp_server)]
        impl $name {
            #[tool]
            fn $add(&self, a: $number, b: Option<$number>) -> $number {
                a + b.unwrap_or_default()
            }
        }
    };
}

desk!(Small, add_small, u8);
desk!(Large, add_large, u64);

#[test]
fn servers_in_a_strict_library_have_no_mistake() {
    let servers: [Server; 3] = [
        Arc::new(Desk).into_server(),
        Small.into_server(),
        Large.into_server(),
    ];
    for server in servers {
        server.merge(routes()).check().unwrap();
    }
}
