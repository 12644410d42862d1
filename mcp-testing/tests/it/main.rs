//! Servers and clients together: the same calls in one process and over HTTP.

mod calls;
mod kit;
mod limits;
