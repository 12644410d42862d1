//! JSON-RPC 2.0 messages: ids, requests, notifications, responses, errors, batches.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#messages>

mod batch;
mod envelope;
mod error;
mod id;
mod message;
mod params;
mod parse;
mod parse_error;
mod problem;
mod read_params;
mod split;

pub use error::ErrorObject;
pub use id::RequestId;
pub use message::{Message, Notification, Request, Response};
pub use params::{ParamError, Params};
pub use parse_error::ParseError;
pub use split::is_plain;
