//! Functions that serve a server with the default settings.

#[cfg(feature = "http-server")]
mod address;
#[cfg(feature = "http-server")]
mod http;
#[cfg(all(feature = "http-server", feature = "auth"))]
mod protected;
#[cfg(feature = "stdio")]
mod stdio;

#[cfg(feature = "http-server")]
pub use address::Address;
#[cfg(feature = "http-server")]
pub use http::{IntoServe, Serve, serve_http};
#[cfg(all(feature = "http-server", feature = "auth"))]
pub use protected::{Authorize, AuthorizedServer};
#[cfg(feature = "stdio")]
pub use stdio::serve_stdio;
