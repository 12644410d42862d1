//! Middleware: layers around all calls of a server, or around those of one route.

mod layers;
mod log;

pub use mcp_core::tower::{
    BoxError, FromFn, FromFnService, Middleware, Next, ReplyFuture, from_fn,
};
pub use mcp_core::{Call, Exchange, Fault, Reply};

pub use log::RequestLog;

pub(crate) use layers::{Layers, Shared};
