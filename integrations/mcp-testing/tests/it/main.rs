//! Tests of clients and servers together, in process, over HTTP and over pipes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

mod asking;
mod calls;
mod changes;
mod client_layers;
mod copied;
mod extensions;
mod host_errors;
mod kit;
mod layers;
mod limits;
mod lists;
mod mocks;
mod pairs;
mod probing;
mod returned;
mod revisions;
mod samples;
mod schemas;
mod visits;
