//! Handlers that ask their client.

mod client;
mod extracting;
mod refusing;
mod running;
