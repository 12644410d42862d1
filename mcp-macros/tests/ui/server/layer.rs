//! Functions that are not middleware.

use mcp_server::Server;
use mcp_server::middleware::{Exchange, Next, Reply, from_fn};

async fn without_next(exchange: Exchange) -> Reply {
    panic!("{exchange:?}")
}

async fn number(_: Exchange, _: Next) -> u32 {
    1
}

fn main() {
    let server = Server::new("test", "1.0.0").layer(from_fn(without_next));
    let _ = server.layer(from_fn(number));
}
