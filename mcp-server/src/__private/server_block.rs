//! Types with `#[mcp::server]`.

use std::sync::Arc;

use crate::server::{IntoServer, Server};

/// A type whose `impl` block has `#[mcp::server]`.
///
/// Generated code implements this trait instead of [`IntoServer`] for the type's `Arc`: the
/// orphan rule forbids the latter in the user's crate.
#[diagnostic::on_unimplemented(
    message = "`Arc<{Self}>` does not become a server",
    label = "`{Self}` has no `#[mcp::server]`",
    note = "a type of yours needs `#[mcp::server]` on its `impl` block",
    note = "pass a `Server` itself; only `StreamableHttp`, `Serve`, `StdioServer` and `InProcess` take an `Arc<Server>`"
)]
pub trait ServerBlock: Send + Sync + Sized + 'static {
    /// Creates the server.
    fn server(self: Arc<Self>) -> Server;
}

impl<T: ServerBlock> IntoServer for Arc<T> {
    fn into_server(self) -> Server {
        self.server()
    }
}
