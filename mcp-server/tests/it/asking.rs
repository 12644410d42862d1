//! Handlers that ask their client.

pub(crate) mod client;
mod extracting;
mod refusing;
mod repeating;
mod running;
