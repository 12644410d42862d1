//! Tests of tasks: the engine behind a server, and a client that follows tasks.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod advisories;
mod client;
mod input;
mod kit;
mod lifecycle;
mod limits;
mod nodes;
mod rejections;
mod subscriptions;
mod wire;
