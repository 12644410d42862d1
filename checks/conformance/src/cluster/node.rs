//! One process of `everything-server`.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::send_signal;

const START_LIMIT: Duration = Duration::from_secs(30);

/// A process of `everything-server`. It is killed with this value.
#[derive(Debug)]
pub struct Node {
    process: Child,
    address: String,
}

impl Node {
    /// Starts a node with its sessions, events, changes and tasks in Redis; without a URL, in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the program does not print its address within 30 s.
    pub async fn start(program: &Path, redis: Option<&str>) -> io::Result<Self> {
        match redis {
            Some(url) => Self::start_with(program, &["--redis", url, "--prefix", "cluster"]).await,
            None => Self::start_with(program, &[]).await,
        }
    }

    /// Starts a server with these arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if the program does not print its address within 30 s.
    pub async fn start_with(program: &Path, arguments: &[&str]) -> io::Result<Self> {
        let mut process = Command::new(program)
            .args(arguments)
            .env("PORT", "0")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stderr = process.stderr.take();
        let stderr = stderr.ok_or_else(|| io::Error::other("the node has no stderr"))?;
        let mut lines = BufReader::new(stderr).lines();
        let line = timeout(START_LIMIT, lines.next_line()).await??;
        let line = line.unwrap_or_default();
        let address = line.strip_prefix("listening on http://");
        let address = address.and_then(|address| address.strip_suffix("/mcp"));
        let address = address.ok_or_else(|| io::Error::other(format!("no address: {line}")))?;
        // The pipe must be drained, or the node blocks on it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self {
            process,
            address: address.to_owned(),
        })
    }

    /// The host and the port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the resident memory in bytes, where the system has `/proc`.
    pub fn memory(&self) -> Option<u64> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id()?)).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kibibytes << 10)
    }

    /// Kills the process (`SIGKILL`).
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub async fn kill(mut self) -> io::Result<()> {
        self.process.kill().await
    }

    /// Asks the process to end (`SIGTERM`).
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub async fn terminate(&self) -> io::Result<()> {
        send_signal(&self.process, "TERM").await
    }

    /// Stops the process (`SIGSTOP`), or lets it continue.
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub async fn set_paused(&self, is_paused: bool) -> io::Result<()> {
        let signal = if is_paused { "STOP" } else { "CONT" };
        send_signal(&self.process, signal).await
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub async fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }
}
