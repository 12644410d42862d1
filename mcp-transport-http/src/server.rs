//! The MCP endpoint as a tower service.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `request_body`, `response`, `running_calls`, `service_source`, `store_guard`, `counters` | parts without rules of the protocol |
//! | 2 | `rejection` | requests that are answered with an error |
//! | 3 | `guard` | checks of a request head |
//! | 4 | `config`, `route` | settings; classification of a message |
//! | 5 | `keep_alive`, `lifetime`, `call` | pings; stream ends; a running call |
//! | 6 | `event_stream` | the event stream of a call |
//! | 7 | `replay` | stored event streams |
//! | 8 | `exchange` | the response to a call |
//! | 9 | `session` | legacy clients |
//! | 10 | `sse_2024` | HTTP+SSE of 2024-11-05 |
//! | 11 | `endpoint` | state of an endpoint |
//! | 12 | `handle` | one request from head to response |
//! | 13 | `service` | the tower service |
//! | 14 | `authorization` | the trait of what protects an endpoint |
//! | 15 | `card` | documents about the server, beside it (feature `serve`) |
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
mod guard;
mod handle;
mod keep_alive;
mod lifetime;
mod rejection;
mod replay;
mod request_body;
mod response;
mod route;
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
pub(crate) use request_body::discard;
pub use response::Body;
pub use service::StreamableHttp;

#[cfg(test)]
mod tests;
