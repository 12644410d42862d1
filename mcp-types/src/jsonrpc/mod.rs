//! JSON-RPC 2.0 as the protocol uses it.

mod batch;
mod error;
mod id;
mod message;
mod params;
mod parse;

pub use error::ErrorObject;
pub use id::RequestId;
pub use message::{Message, Notification, Request, Response};
pub use params::{ParamError, Params};
pub use parse::ParseError;
