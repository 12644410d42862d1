//! Servers and clients together: the same calls in one process and over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod asking;
mod calls;
mod changes;
mod kit;
mod layers;
mod limits;
mod pairs;
mod schemas;
