//! A Redis server of a test.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcp_redis::Redis;
use redis::{Cmd, FromRedisValue};

/// A running `redis-server` with its own port and folder. It ends with this value.
pub(crate) struct RedisServer {
    process: Option<Child>,
    folder: PathBuf,
    port: u16,
    options: Vec<String>,
}

impl RedisServer {
    /// Starts a server without persistence. Returns `None` where Redis is not installed, except if
    /// `REQUIRE_REDIS` is set.
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(&["--save", "", "--appendonly", "no"]).await
    }

    /// Starts a server that keeps its data over a restart.
    pub(crate) async fn start_persistent() -> Option<Self> {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"]).await
    }

    async fn start_with(options: &[&str]) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);

        let found = Command::new("redis-server").arg("--version").output();
        if found.is_err() {
            assert!(
                std::env::var_os("REQUIRE_REDIS").is_none(),
                "redis-server is not installed"
            );
            eprintln!("skipped: redis-server is not installed");
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-redis-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let options = options.iter().map(|option| (*option).to_owned());
        let mut server = Self {
            process: None,
            folder,
            port: 0,
            options: options.collect(),
        };
        // Another program may take the free port first.
        for _ in 0..5 {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            server.port = free.local_addr().unwrap().port();
            drop(free);
            if server.try_run().await {
                return Some(server);
            }
        }
        panic!("redis-server does not start");
    }

    /// Starts the process, at the same port and with the same data.
    pub(crate) async fn run(&mut self) {
        assert!(self.try_run().await, "redis-server does not start again");
    }

    async fn try_run(&mut self) -> bool {
        let process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .arg("--dir")
            .arg(&self.folder)
            .args(["--logfile", "redis.log", "--enable-debug-command", "yes"])
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut process = process.unwrap();
        let client = redis::Client::open(self.url()).unwrap();
        for _ in 0..500 {
            if process.try_wait().unwrap().is_some() {
                return false;
            }
            if let Ok(mut connection) = client.get_multiplexed_async_connection().await {
                let pong: redis::RedisResult<String> =
                    redis::cmd("PING").query_async(&mut connection).await;
                if pong.is_ok() {
                    self.process = Some(process);
                    return true;
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _ = process.kill();
        let _ = process.wait();
        false
    }

    /// Kills the process (`SIGKILL`).
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Connects a node.
    pub(crate) async fn connect(&self) -> Redis {
        let redis = Redis::connect(&self.url()).await.unwrap();
        redis.prefix("test")
    }

    /// Sends a command over a connection of its own.
    pub(crate) async fn command<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        command.query_async(&mut connection).await.unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits until `check` returns true.
pub(crate) async fn eventually(what: &str, mut check: impl AsyncFnMut() -> bool) {
    for _ in 0..1_000 {
        if check().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen within 10 s");
}
