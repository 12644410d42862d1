//! Several processes of `everything-server` behind one address: a Redis server, the nodes, and a proxy
//! that sends each request to the next node.

mod node;
mod proxy;
mod redis;

use std::io;

pub use node::Node;
pub use proxy::Proxy;
pub use redis::RedisServer;

/// Returns a loopback port that is free at the moment.
///
/// # Errors
///
/// Returns an error of the operating system.
pub fn free_port() -> io::Result<u16> {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(free.local_addr()?.port())
}
