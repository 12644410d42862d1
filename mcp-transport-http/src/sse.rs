//! Server-sent events: encoding for servers, decoding for clients.

#[cfg(feature = "client")]
mod decode;
#[cfg(feature = "server")]
pub(crate) mod encode;

#[cfg(feature = "client")]
pub use decode::{Decoder, SseError, SseEvent, SseItem, SseLimits, SseStream, SseStreamError};
