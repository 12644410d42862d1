//! Skills over the public API.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

mod client;
mod dynamic;
mod folder;
mod hostile;
mod kit;
mod server;
