//! The MCP endpoint as a tower service.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `response`, `running_calls`, `service_source`, `store_guard` | parts without rules of the protocol |
//! | 2 | `request` | a request before its call: head, body, kind; rejections |
//! | 3 | `counters`, `config` | what an endpoint holds and has refused; settings |
//! | 4 | `keep_alive`, `lifetime`, `call` | pings; stream ends; a running call |
//! | 5 | `event_stream` | the event stream of a call |
//! | 6 | `replay` | stored event streams |
//! | 7 | `exchange` | the response to a call |
//! | 8 | `session` | legacy clients |
//! | 9 | `sse_2024` | HTTP+SSE of 2024-11-05 |
//! | 10 | `endpoint` | state of an endpoint |
//! | 11 | `handle` | one request from head to response |
//! | 12 | `service` | the tower service |
//! | 13 | `authorization` | the trait of what protects an endpoint |
//! | 14 | `card` | documents about the server, beside it (feature `serve`) |
//!
//! A module uses only modules of lower layers.

pub(crate) mod authorization;
mod call;
#[cfg(feature = "serve")]
mod card;
mod config;
mod counters;
mod endpoint;
mod event_stream;
mod exchange;
mod handle;
mod keep_alive;
mod lifetime;
mod replay;
mod request;
mod response;
mod running_calls;
mod service;
mod service_source;
mod session;
mod sse_2024;
mod store_guard;

#[cfg(feature = "serve")]
pub use card::CardService;
pub use config::{AnswerMode, SessionEnd, SessionEvent, Sessions};
#[cfg(feature = "serve")]
pub(crate) use request::body::discard;
pub use response::Body;
pub use service::StreamableHttp;

#[cfg(test)]
mod tests;
