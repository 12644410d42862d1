//! A Redis server with its own port and folder.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::{free_port, send_signal};

/// A `redis-server` that keeps its data over restarts. It ends with this value.
#[derive(Debug)]
pub struct RedisServer {
    process: Child,
    folder: PathBuf,
    port: u16,
}

impl RedisServer {
    /// Starts a server. Returns `None` where Redis is not installed, except if `REQUIRE_REDIS` is set.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start, or if it is required and not installed.
    pub async fn start() -> io::Result<Option<Self>> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);

        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-cluster-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        let port = free_port()?;
        match spawn(&folder, port).await {
            Ok(process) => Ok(Some(Self {
                process,
                folder,
                port,
            })),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&folder);
                let is_required = std::env::var_os("REQUIRE_REDIS").is_some();
                if error.kind() == io::ErrorKind::NotFound && !is_required {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Kills the server and starts it again, with its data.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.kill().await?;
        self.start_again().await
    }

    /// Kills the server (`SIGKILL`). [`start_again`](Self::start_again) continues with its data.
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.process.kill().await
    }

    /// Starts the server again after it was killed.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub async fn start_again(&mut self) -> io::Result<()> {
        self.process = spawn(&self.folder, self.port).await?;
        Ok(())
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

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns a section of the report `INFO`.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not answer.
    pub async fn info(&self, section: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let command = format!("INFO {section}\r\nQUIT\r\n");
        stream.write_all(command.as_bytes()).await?;
        let mut report = String::new();
        stream.read_to_string(&mut report).await?;
        Ok(report)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

async fn spawn(folder: &PathBuf, port: u16) -> io::Result<Child> {
    let mut process = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "yes", "--dir"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    for _ in 0..1_000 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok(process);
        }
        if let Some(status) = process.try_wait()? {
            return Err(io::Error::other(format!("redis-server ended: {status}")));
        }
        sleep(Duration::from_millis(10)).await;
    }
    Err(io::Error::other("redis-server does not accept connections"))
}
