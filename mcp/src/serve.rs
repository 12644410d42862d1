//! Functions that serve a server with the default settings.

#[cfg(feature = "http-server")]
mod http;
#[cfg(feature = "stdio")]
mod stdio;

#[cfg(feature = "http-server")]
pub use http::{Address, serve_http};
#[cfg(feature = "stdio")]
pub use stdio::serve_stdio;
