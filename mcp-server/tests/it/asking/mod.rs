//! Handlers that ask their client, re-entered by hand.

mod client;
mod extracting;
mod refusing;
mod running;
