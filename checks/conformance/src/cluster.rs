//! Several processes of `everything-server` behind one address: a Redis server, the nodes, and a proxy
//! that sends each request to the next node.

mod link;
mod node;
mod proxy;
mod redis;

use std::io;

pub use link::Link;
pub use node::Node;
pub use proxy::Proxy;
pub use redis::RedisServer;
use tokio::process::{Child, Command};

/// Returns a loopback port that is free at the moment.
///
/// # Errors
///
/// Returns an error of the operating system.
pub fn free_port() -> io::Result<u16> {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(free.local_addr()?.port())
}

/// Sends a signal, such as `TERM`, to a process that has not ended.
async fn send_signal(process: &Child, signal: &str) -> io::Result<()> {
    let id = process.id();
    let id = id.ok_or_else(|| io::Error::other("the process has ended"))?;
    let mut send = Command::new("kill");
    let sent = send.args([&format!("-{signal}"), &id.to_string()]).status();
    if sent.await?.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("no signal {signal} to {id}")))
    }
}
