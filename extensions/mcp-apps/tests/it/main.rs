//! Tests of apps on servers, and of hosts with a scripted view.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test helpers"
)]

mod csp;
mod document;
mod hostile;
mod kit;
mod order;
mod requests;
mod server;
