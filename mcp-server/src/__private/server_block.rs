//! Types with `#[mcp::server]`.

use std::sync::Arc;

use crate::server::{IntoServer, Server};

/// A type with an `impl` block that has `#[mcp::server]` without the option `routes`.
///
/// Generated code implements this trait instead of [`IntoServer`] for the type's `Arc`: the
/// orphan rule forbids the latter in the user's crate. The compiler prints the name when two blocks of a type
/// implement it.
pub trait OnlyBlockWithoutRoutes: Send + Sync + Sized + 'static {
    /// Creates the server.
    fn server(self: Arc<Self>) -> Server;
}

#[diagnostic::do_not_recommend]
impl<T: OnlyBlockWithoutRoutes> IntoServer for T {
    fn into_server(self) -> Server {
        Arc::new(self).server()
    }
}

impl<T: OnlyBlockWithoutRoutes> IntoServer for Arc<T> {
    fn into_server(self) -> Server {
        self.server()
    }
}
