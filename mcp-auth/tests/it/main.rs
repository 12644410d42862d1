//! Tests against an authorization server and an MCP endpoint on loopback addresses.

#![allow(missing_docs, reason = "tests")]

mod hostile;
mod login;
mod machine;
mod refresh;
mod scopes;
mod secrets;
mod world;
