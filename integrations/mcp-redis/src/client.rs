//! A handle to a Redis server.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_core::store::StoreError;
use mcp_core::{BoxFuture, CallerKey};
use tokio::runtime::Handle;

use crate::changes::RedisBus;
use crate::connection::{Commands, Connection};
use crate::error::RedisError;
use crate::event_log::RedisEventLog;
use crate::events::RedisEvents;
use crate::keys::Keys;
use crate::pub_sub::PubSub;
use crate::relay::RedisRelay;
use crate::sessions::RedisSessions;
use crate::tasks::RedisTasks;
use crate::webhooks::RedisWebhooks;

/// Longest time for an operation: 34 years, which every clock can represent.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(1 << 30);

/// A Redis server that the nodes of an endpoint share. Clones share the connections: one for commands,
/// and one for subscriptions.
///
/// # Examples
///
/// ```no_run
/// use mcp::redis::Redis;
///
/// # async fn run() -> Result<(), mcp::redis::RedisError> {
/// let redis = Redis::connect("redis://cache:6379").await?.prefix("shop");
/// redis.ping().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Redis {
    commands: Commands,
    subscriptions: Arc<OnceLock<Arc<PubSub>>>,
    runtime: Handle,
}

/// Default limit of one operation.
const TIMEOUT: Duration = Duration::from_secs(2);

impl Redis {
    /// Connects to the server at a URL such as `redis://cache:6379/0`. A URL with a user and a password
    /// is never printed.
    ///
    /// # Errors
    ///
    /// Returns [`RedisError::Url`] for an invalid URL, and [`RedisError::Connect`] when the server
    /// cannot be reached within 5 s or refuses the login.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub async fn connect(url: &str) -> Result<Self, RedisError> {
        const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

        let connection = Connection::open(url, CONNECT_TIMEOUT).await?;
        Ok(Self {
            commands: Commands {
                connection: Arc::new(connection),
                keys: Keys::new("mcp"),
                timeout: TIMEOUT,
            },
            subscriptions: Arc::default(),
            runtime: Handle::current(),
        })
    }

    /// Sets the prefix of all keys and channels, `mcp` by default. Each server that uses the same Redis
    /// needs its own prefix, also for another database of it: channels are common to all databases.
    #[must_use]
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.commands.keys = Keys::new(prefix.as_ref());
        self
    }

    /// Sets the maximum time of one operation, 2 s by default. In this time, an operation whose connection
    /// breaks is repeated. While Redis does not answer, one operation waits so long and the others an eighth of it: their
    /// clients can soon ask another node. An endpoint's time for its stores (`StreamableHttp::store_timeout`, 5 s)
    /// should be longer.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.commands.timeout = time.min(LONGEST_TIMEOUT);
        self
    }

    /// Checks that the server answers, for readiness checks.
    ///
    /// # Errors
    ///
    /// Returns [`RedisError`] when the server does not answer in time.
    pub async fn ping(&self) -> Result<(), RedisError> {
        let ping = redis::cmd("PING");
        self.commands.command("check the connection", &ping).await
    }

    /// Creates the session store, for `Sessions::shared`. It connects the endpoint with the relay of
    /// all nodes, so create one for each endpoint.
    pub fn sessions(&self) -> RedisSessions {
        RedisSessions::new(self.commands.clone(), self.relay())
    }

    /// Creates the store of stream events, for `StreamableHttp::events`.
    pub fn events(&self) -> RedisEvents {
        RedisEvents::new(self.commands.clone())
    }

    /// Creates the bus of changes, for `Server::change_bus`.
    pub fn bus(&self) -> RedisBus {
        RedisBus::new(self.commands.clone(), self.pub_sub(), &self.runtime)
    }

    /// Creates the task store, for `Tasks::with_store`.
    pub fn tasks(&self) -> RedisTasks {
        RedisTasks::new(self.commands.clone(), self.pub_sub())
    }

    /// Creates the store of used request states, for `Gateway::used_states`. Redis expires the states by itself.
    pub fn used_states(
        &self,
    ) -> impl Fn(&CallerKey, &str, Duration) -> BoxFuture<'static, Result<bool, StoreError>>
    + Send
    + Sync
    + use<> {
        let redis = self.commands.clone();
        move |_, id, ttl| {
            let (redis, key) = (redis.clone(), redis.keys.used_state(id));
            Box::pin(async move {
                let set = redis.set("count a used state", key, "", ttl, Some("NX"));
                Ok(set.await?)
            })
        }
    }

    /// Creates the log of published events, for `Events::with_log`.
    pub fn event_log(&self) -> RedisEventLog {
        RedisEventLog::new(self.commands.clone(), self.pub_sub())
    }

    /// Creates the webhook store, for `Webhooks::store`.
    pub fn webhooks(&self) -> RedisWebhooks {
        RedisWebhooks::new(self.commands.clone())
    }

    /// Joins the relay between the nodes. [`sessions`](Self::sessions) does it by itself; call it to
    /// combine the relay with another store of sessions.
    pub fn relay(&self) -> RedisRelay {
        RedisRelay::new(self.commands.clone(), self.pub_sub(), &self.runtime)
    }

    fn pub_sub(&self) -> Arc<PubSub> {
        let connection = &self.commands.connection;
        let start = || Arc::new(PubSub::start(connection.clone(), &self.runtime));
        self.subscriptions.get_or_init(start).clone()
    }
}
