//! Tests of gateways and of the relay.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test helpers"
)]

mod advisories;
mod answers;
mod authorization;
mod broadcasts;
mod callers;
mod exchange;
mod gateway;
mod hostile;
mod kit;
mod lazy;
mod logs;
mod matrix;
mod nodes;
mod openapi;
mod pins;
mod raw;
mod relay;
mod rewritten;
mod roots;
mod search;
mod settings;
mod starting;
mod status;
mod stored;
mod tasks;
mod updates;
mod visits;
