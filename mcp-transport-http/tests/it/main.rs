//! The transport over real sockets.

#[cfg(all(test, feature = "serve"))]
mod axum;
#[cfg(all(test, feature = "client"))]
mod client;
#[cfg(all(test, feature = "serve"))]
mod hostile;
#[cfg(all(test, feature = "serve"))]
mod lifecycle;
#[cfg(all(test, feature = "serve"))]
mod support;
#[cfg(all(test, feature = "serve"))]
mod wire;
