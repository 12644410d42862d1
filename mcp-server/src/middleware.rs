//! Middleware: tower layers and async functions around the calls of a server or of single routes.

mod log;
mod rate_limit;

pub use mcp_core::tower::{
    BoxError, FromFn, FromFnService, Middleware, Next, ReplyFuture, from_fn,
};
pub use mcp_core::{Call, Exchange, Fault, Reply};

pub use log::RequestLog;
pub(crate) use mcp_core::tower::{Layers, SharedLayer};
pub use rate_limit::RateLimit;
