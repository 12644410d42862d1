use std::sync::Arc;

use mcp::stdio::StdioServer;
use mcp::{IntoServer, Routes, Server, StreamableHttp};

struct Desk;

#[mcp::server]
impl Desk {}

fn serve(server: impl IntoServer) {
    let _ = Server::of(server);
}

fn main() {
    // A value with `#[mcp::server]` is not yet a server.
    let _ = StreamableHttp::new(Desk);
    let _ = StdioServer::new(Desk);
    // These take what becomes a server.
    serve(7);
    serve(Arc::new(Server::new("s", "1.0.0")));
    serve(Routes::new());
}
