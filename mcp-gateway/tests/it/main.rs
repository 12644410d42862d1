//! Tests of the relay, over HTTP on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test helpers"
)]

mod authorization;
mod gateway;
mod hostile;
mod kit;
mod relay;
mod settings;
