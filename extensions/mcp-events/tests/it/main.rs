//! Tests of events: reading them, webhooks, and hostile URLs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test helpers"
)]

mod egress;
mod kit;
mod leases;
mod log;
mod methods;
mod receiver;
mod streams;
mod webhooks;
