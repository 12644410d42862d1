//! The connection for commands.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcp_core::Backoff;
use parking_lot::Mutex;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, Pipeline, RetryMethod, ScriptInvocation,
    ServerErrorKind, ToRedisArgs,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use crate::error::RedisError;
use crate::keys::Keys;

/// Time between the first two attempts of an operation. Each further wait is twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(20);
const MAX_DELAY: Duration = Duration::from_millis(500);
/// Commands that may wait for a reply at the same time. Others wait before they are sent.
const MAX_IN_FLIGHT: usize = 4096;
/// Number of operations without an answer, one after the other, after which the connection is replaced:
/// a connection through a dead router looks open for minutes.
const MAX_SILENT: u32 = 3;
/// While Redis does not answer, one operation waits for the whole time limit and the others for this part of it, so that
/// their clients can soon ask another node.
const SILENT_PART: u32 = 8;
/// The longest time that Redis is asked to keep a key: 10 years.
const MAX_TTL: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// A connection that is shared by all parts of this node, and restored when it breaks.
pub(crate) struct Connection {
    client: Client,
    manager: Mutex<ConnectionManager>,
    /// Operations without an answer since the last one with an answer.
    silent: AtomicU32,
    /// Held by the operation that waits while Redis does not answer.
    waits: tokio::sync::Mutex<()>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// Returns [`RedisError`] when the URL is invalid, or when Redis cannot be reached in time.
    pub(crate) async fn open(url: &str, limit: Duration) -> Result<Self, RedisError> {
        let client = Client::open(url).map_err(|_| RedisError::Url)?;
        let connect = |error: redis::RedisError| RedisError::Connect(reason(&error));
        let manager = ConnectionManager::new_with_config(client.clone(), config(limit));
        let manager = match tokio::time::timeout(limit, manager).await {
            Ok(manager) => manager.map_err(connect)?,
            Err(_) => {
                let reason = format!("no answer within {limit:?}");
                return Err(RedisError::Connect(reason));
            }
        };
        Ok(Self {
            client,
            manager: Mutex::new(manager),
            silent: AtomicU32::new(0),
            waits: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Counts an operation without an answer, and replaces a connection that never answers.
    fn count_silence(&self) {
        let silent = self.silent.fetch_add(1, Ordering::Relaxed) + 1;
        if !silent.is_multiple_of(MAX_SILENT) {
            return;
        }
        let new =
            ConnectionManager::new_lazy_with_config(self.client.clone(), config(MAX_DELAY * 4));
        if let Ok(new) = new {
            *self.manager.lock() = new;
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// One attempt of an operation.
type Attempt<'a, T> = Pin<Box<dyn Future<Output = redis::RedisResult<T>> + Send + 'a>>;

fn config(limit: Duration) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_connection_timeout(Some(limit))
        // The caller limits the time of each operation.
        .set_response_timeout(None)
        .set_number_of_retries(2)
        .set_min_delay(FIRST_DELAY)
        .set_max_delay(MAX_DELAY)
        .set_concurrency_limit(MAX_IN_FLIGHT)
}

/// Defines a script that consists of files.
macro_rules! script {
    ($name:ident: $($file:literal),+) => {
        static $name: std::sync::LazyLock<redis::Script> = std::sync::LazyLock::new(|| {
            redis::Script::new(concat!($(include_str!($file)),+))
        });
    };
}
pub(crate) use script;

pub(crate) fn to_json(
    operation: &'static str,
    value: &impl Serialize,
) -> Result<Vec<u8>, RedisError> {
    serde_json::to_vec(value).map_err(|error| RedisError::malformed(operation, error))
}

pub(crate) fn from_json<T: DeserializeOwned>(
    operation: &'static str,
    json: &[u8],
) -> Result<T, RedisError> {
    serde_json::from_slice(json).map_err(|error| RedisError::malformed(operation, error))
}

/// Returns a new name for a node, a write or an epoch.
pub(crate) fn random_name() -> String {
    Uuid::new_v4().as_simple().to_string()
}

/// Returns a lifetime that Redis accepts, in milliseconds.
pub(crate) fn millis(ttl: Duration) -> u64 {
    let millis = ttl.min(MAX_TTL).as_millis().max(1);
    u64::try_from(millis).unwrap_or(u64::MAX)
}

/// Returns true for errors that end by themselves: Redis restarts, or loads its data.
fn is_temporary(error: &redis::RedisError) -> bool {
    error.kind() != ErrorKind::AuthenticationFailed
        && matches!(
            error.retry_method(),
            RetryMethod::Reconnect | RetryMethod::RetryImmediately | RetryMethod::WaitAndRetry
        )
        || error.kind() == ErrorKind::Server(ServerErrorKind::BusyLoading)
}

/// Returns the reason of an error. Errors of the crate `redis` contain no URL and no argument.
pub(crate) fn reason(error: &redis::RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    }
}

/// The commands of one prefix.
#[derive(Debug, Clone)]
pub(crate) struct Commands {
    pub(crate) connection: Arc<Connection>,
    pub(crate) keys: Keys,
    /// Time limit of each operation.
    pub(crate) timeout: Duration,
}

impl Commands {
    /// Sends a command, and again after failures of the connection, for at most the time limit.
    ///
    /// # Errors
    ///
    /// Returns [`RedisError`] when Redis refuses the command or does not answer in time.
    pub(crate) async fn command<T: FromRedisValue>(
        &self,
        operation: &'static str,
        command: &Cmd,
    ) -> Result<T, RedisError> {
        let send = |mut manager: ConnectionManager| -> Attempt<'_, T> {
            Box::pin(async move { command.query_async(&mut manager).await })
        };
        self.run(operation, send).await
    }

    /// Sets a key for a time. `condition`: only if it exists (`XX`) or does not exist (`NX`). Returns false when
    /// it was not written.
    pub(crate) async fn set(
        &self,
        operation: &'static str,
        key: String,
        value: impl ToRedisArgs,
        ttl: Duration,
        condition: Option<&str>,
    ) -> Result<bool, RedisError> {
        let mut set = redis::cmd("SET");
        set.arg(key).arg(value).arg(condition);
        set.arg("PX").arg(millis(ttl));
        let written: Option<String> = self.command(operation, &set).await?;
        Ok(written.is_some())
    }

    /// Sends several commands like [`command`](Self::command).
    pub(crate) async fn pipeline<T: FromRedisValue>(
        &self,
        operation: &'static str,
        commands: &Pipeline,
    ) -> Result<T, RedisError> {
        let send = |mut manager: ConnectionManager| -> Attempt<'_, T> {
            Box::pin(async move { commands.query_async(&mut manager).await })
        };
        self.run(operation, send).await
    }

    /// Runs a script like [`command`](Self::command). The script must be safe to run twice.
    pub(crate) async fn script<T: FromRedisValue + Send>(
        &self,
        operation: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, RedisError> {
        let send = |mut manager: ConnectionManager| -> Attempt<'_, T> {
            Box::pin(async move { script.invoke_async(&mut manager).await })
        };
        self.run(operation, send).await
    }

    async fn run<'a, T>(
        &self,
        operation: &'static str,
        send: impl Fn(ConnectionManager) -> Attempt<'a, T>,
    ) -> Result<T, RedisError> {
        let connection = &self.connection;
        let is_silent = connection.silent.load(Ordering::Relaxed) > 0;
        let waits = is_silent.then(|| connection.waits.try_lock());
        let limit = if matches!(waits, Some(Err(_))) {
            self.timeout / SILENT_PART
        } else {
            self.timeout
        };
        let deadline = Instant::now() + limit;
        let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
        loop {
            let manager = connection.manager.lock().clone();
            let Ok(result) = timeout_at(deadline, send(manager)).await else {
                if limit == self.timeout {
                    connection.count_silence();
                }
                return Err(RedisError::Timeout { operation, limit });
            };
            connection.silent.store(0, Ordering::Relaxed);
            let error = match result {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let delay = backoff.next_delay();
            if !is_temporary(&error) || Instant::now() + delay >= deadline {
                let reason = reason(&error);
                return Err(RedisError::Command { operation, reason });
            }
            sleep(delay).await;
        }
    }
}
