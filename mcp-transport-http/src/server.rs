//! The MCP endpoint as a tower service.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `response`, `running_calls`, `store_guard` | parts without rules of the protocol |
//! | 2 | `request` | a request before its call: checks of its head, its body, its kind; rejections |
//! | 2 | `call` | a running call, which its client can cancel |
//! | 3 | `config` | settings, and counters of what the endpoint holds and has refused |
//! | 4 | `event_stream` | the event stream of a call; pings and ends of all event streams |
//! | 5 | `replay` | stored event streams |
//! | 6 | `exchange` | the response to a call: JSON or an event stream |
//! | 7 | `session` | legacy clients |
//! | 8 | `sse_2024` | HTTP+SSE of 2024-11-05 |
//! | 9 | `service` | the tower service; one request from head to response |
//! | 10 | `authorization` | the trait of what protects an endpoint |
//! | 10 | `card` | documents about the server, beside it (feature `serve`) |
//!
//! A module uses only modules of lower layers.

pub(crate) mod authorization;
mod call;
#[cfg(feature = "serve")]
mod card;
mod config;
mod event_stream;
mod exchange;
mod replay;
mod request;
mod response;
mod running_calls;
mod service;
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
