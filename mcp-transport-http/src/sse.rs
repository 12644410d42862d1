//! Server-sent events: encoding for servers, decoding for clients.

#[cfg(feature = "client")]
mod decode;
#[cfg(feature = "server")]
pub(crate) mod encode;
#[cfg(feature = "client")]
mod event;
#[cfg(feature = "client")]
mod stream;

#[cfg(feature = "client")]
pub use decode::{Decoder, SseError, SseLimits};
#[cfg(feature = "client")]
pub use event::{SseEvent, SseItem};
#[cfg(feature = "client")]
pub(crate) use stream::{SseStream, SseStreamError};
