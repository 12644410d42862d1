//! Three nodes of `everything-server` on one Redis server, behind a proxy without stickiness. Their
//! programs must be built.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

const NODES: usize = 3;
const START_LIMIT: Duration = Duration::from_secs(30);

/// The running processes. They end with this value: the proxy first, Redis last.
#[derive(Debug)]
pub(crate) struct Cluster {
    proxy: Server,
    nodes: Vec<Server>,
    redis: Server,
}

/// Returns true if `redis-server` is installed.
pub(crate) fn has_redis() -> bool {
    process::available("redis-server", &["--version"])
}

impl Cluster {
    /// Starts the processes, with their logs in a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if a program is not installed or does not start.
    pub(crate) fn start(workspace: &Workspace, profile: &str, logs: &Path) -> Result<Self> {
        let folder = logs.join("redis");
        fs::create_dir_all(&folder)?;
        let port = free_port()?;
        let mut redis = Command::new("redis-server");
        redis.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        redis.args(["--save", "", "--dir"]).arg(&folder);
        let url = format!("redis://127.0.0.1:{port}");
        let log = logs.join("redis.log");
        let redis = Server::start_at(&mut redis, &url, port, &log, START_LIMIT)?;
        let mut nodes = Vec::new();
        for number in 0..NODES {
            let mut node = Command::new(workspace.binary(profile, "everything-server"));
            node.args(["--redis", &url, "--prefix", "conformance"]);
            process::clean_environment(&mut node).env("PORT", "0");
            let log = logs.join(format!("node-{number}.log"));
            nodes.push(Server::start(&mut node, &log, START_LIMIT)?);
        }
        let mut proxy = Command::new(workspace.binary(profile, "round-robin"));
        process::clean_environment(&mut proxy);
        for node in &nodes {
            let address = node.url().trim_start_matches("http://");
            proxy.arg(address.trim_end_matches("/mcp"));
        }
        let proxy = Server::start(&mut proxy, &logs.join("proxy.log"), START_LIMIT)?;
        Ok(Self {
            proxy,
            nodes,
            redis,
        })
    }

    /// The URL of the proxy.
    pub(crate) fn url(&self) -> &str {
        self.proxy.url()
    }

    /// Returns true if no process has ended.
    pub(crate) fn is_running(&mut self) -> bool {
        let is_running = self.redis.is_running() && self.proxy.is_running();
        is_running && self.nodes.iter_mut().all(Server::is_running)
    }
}
