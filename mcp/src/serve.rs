//! Functions that serve a server with the default settings.

#[cfg(feature = "http-server")]
mod address;
#[cfg(feature = "http-server")]
mod http;
#[cfg(feature = "stdio")]
mod stdio;

#[cfg(feature = "http-server")]
pub use address::Address;
#[cfg(feature = "http-server")]
pub use http::{Serve, serve_http};
#[cfg(feature = "stdio")]
pub use stdio::serve_stdio;
