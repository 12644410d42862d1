//! Tests against an authorization server and an MCP endpoint on loopback addresses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

mod advisories;
mod binding;
mod facts;
mod host;
mod hostile;
mod issuer;
mod login;
mod machine;
mod processes;
mod protected;
mod providers;
mod redirected;
mod refresh;
mod rules;
mod scopes;
mod second_day;
mod secrets;
mod settings;
mod threats;
mod world;
