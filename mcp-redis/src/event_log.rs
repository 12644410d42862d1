//! The log of published events, on Redis Streams.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::StoreError;
use mcp_events::{EventLog, LogPage, LoggedEvent};
use mcp_types::RawObject;
use redis::{FromRedisValue, Script, cmd};
use tokio::time::timeout;
use uuid::Uuid;

use crate::RedisError;
use crate::connection::{Commands, ScriptCall, millis};
use crate::pub_sub::{PubSub, Receiver};
use crate::watchers::Watchers;

/// The size of the payloads that [`EventLog::read`] returns at once, in bytes.
const PAGE_BYTES: usize = 1 << 20;
/// The longest wait for a message about an event. Afterwards the log is read again.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The time after the limit of an operation in which a repeated event is recognized.
const REPEAT_TIME: Duration = Duration::from_secs(10);

/// A log of published events in Redis. [`Redis::event_log`](crate::Redis::event_log) creates it.
///
/// The events of one type are one Redis Stream. It has at most 10,000 events and 16 MiB of payloads, each
/// for at most 24 hours; when a type has more, the log drops its oldest events. All nodes must have the
/// same limits.
///
/// An event is stored once, also if the connection breaks and the command is repeated. All nodes read all
/// events, in one order. A cursor whose events were dropped or lost is reported as a gap.
///
/// # Examples
///
/// ```no_run
/// use mcp::events::Events;
/// use mcp::redis::Redis;
///
/// # async fn run() -> Result<(), mcp::redis::RedisError> {
/// let redis = Redis::connect("redis://cache:6379").await?.prefix("shop");
/// let events = Events::with_log(redis.event_log());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisEventLog {
    redis: Commands,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
    scripts: Arc<LogScripts>,
    watchers: Arc<Watchers>,
    /// Keeps the subscription.
    _pub_sub: Arc<PubSub>,
}

struct LogScripts {
    append: Script,
    end: Script,
    read: Script,
}

impl LogScripts {
    fn new() -> Self {
        let script = |body| Script::new(&format!("{}{body}", include_str!("event_log/log.lua")));
        Self {
            append: script(include_str!("event_log/append.lua")),
            end: script(include_str!("event_log/end.lua")),
            read: script(include_str!("event_log/read.lua")),
        }
    }
}

/// The reply of the script `read`: epoch, truncated, more, events (id, event id, time, payload).
type EventPage = (String, String, String, Vec<(String, String, u64, String)>);

impl RedisEventLog {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>) -> Self {
        let watchers = Arc::new(Watchers::default());
        let receiver: Arc<dyn Receiver> = watchers.clone();
        pub_sub.subscribe(redis.keys.published_events(), &receiver);
        Self {
            redis,
            max_events: 10_000,
            max_bytes: 16 << 20,
            max_age: Duration::from_secs(24 * 3600),
            scripts: Arc::new(LogScripts::new()),
            watchers,
            _pub_sub: pub_sub,
        }
    }

    /// Sets the maximum number of events per type. Default: 10,000.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets the maximum total size of a type's payloads in bytes. Default: 16 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the time for which an event is kept. Default: 24 hours.
    #[must_use]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.max_age = time;
        self
    }

    /// Returns the limits as arguments of the scripts.
    fn limits(&self) -> [String; 3] {
        [
            self.max_events.to_string(),
            self.max_bytes.to_string(),
            millis(self.max_age).to_string(),
        ]
    }

    async fn run<T: FromRedisValue + Send>(
        &self,
        operation: &'static str,
        script: &Script,
        keys: &[String],
        arguments: &[&str],
    ) -> Result<T, RedisError> {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        let call = ScriptCall {
            script,
            keys,
            arguments: &arguments,
        };
        self.redis.script(operation, &call).await
    }

    /// Returns the cursor of the newest event, or `None` for a log that was never used.
    async fn newest(&self, name: &str) -> Result<Option<String>, RedisError> {
        let mut read = cmd("HMGET");
        read.arg(self.redis.keys.event_log(name)[1].as_str());
        read.arg(&["epoch", "last"]);
        let (epoch, last): (Option<String>, Option<String>) =
            self.redis.command("wait for an event", &read).await?;
        Ok(epoch.map(|epoch| format!("{epoch}-{}", last.as_deref().unwrap_or("0-0"))))
    }
}

/// Splits a cursor into its epoch and the id of its event. `None`: no cursor of such a log.
fn parse_cursor(cursor: &str) -> Option<(&str, &str)> {
    let (epoch, id) = cursor.split_once('-')?;
    let (time, number) = id.split_once('-')?;
    // An id that Redis or a script cannot read is refused here.
    let is_number = |text: &str| {
        (1..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    (is_number(time) && is_number(number)).then_some((epoch, id))
}

#[async_trait]
impl EventLog for RedisEventLog {
    async fn append(&self, event: LoggedEvent) -> Result<String, StoreError> {
        let [log, meta] = self.redis.keys.event_log(&event.name);
        let mark = self.redis.keys.event_mark(&event.name, &event.id);
        let limits = self.limits();
        let (timestamp, epoch) = (event.timestamp.to_string(), new_epoch());
        let mark_time = millis(self.redis.timeout.saturating_add(REPEAT_TIME)).to_string();
        let channel = self.redis.keys.published_events();
        let arguments = [
            event.id.as_str(),
            &timestamp,
            event.data.as_str(),
            &epoch,
            &mark_time,
            &event.name,
            &channel,
            &limits[0],
            &limits[1],
            &limits[2],
        ];
        let keys = [log, meta, mark];
        let appended = self.run("publish an event", &self.scripts.append, &keys, &arguments);
        Ok(appended.await?)
    }

    async fn end(&self, name: &str) -> Result<String, StoreError> {
        let keys = self.redis.keys.event_log(name);
        let operation = "find the newest event";
        let epoch = new_epoch();
        let found = self
            .run(operation, &self.scripts.end, &keys, &[&epoch])
            .await;
        Ok(found?)
    }

    async fn read(&self, name: &str, after: &str, limit: usize) -> Result<LogPage, StoreError> {
        let operation = "read events";
        let (epoch, id) = parse_cursor(after).unwrap_or(("", "0-0"));
        let limits = self.limits();
        let (limit, bytes) = (limit.to_string(), PAGE_BYTES.to_string());
        let arguments = [
            epoch, id, &limit, &bytes, &limits[0], &limits[1], &limits[2],
        ];
        let keys = self.redis.keys.event_log(name);
        let (epoch, truncated, more, events): EventPage = self
            .run(operation, &self.scripts.read, &keys, &arguments)
            .await?;
        let mut page = LogPage::default();
        for (id, event, timestamp, data) in events {
            let data = RawObject::from_text(data);
            let data = data.map_err(|error| RedisError::malformed(operation, error))?;
            let event = LoggedEvent::new(event, name, timestamp, data);
            page.events.push((format!("{epoch}-{id}"), event));
        }
        page.truncated = !truncated.is_empty();
        page.has_more = !more.is_empty();
        Ok(page)
    }

    async fn wait(&self, name: &str, after: &str) -> Result<(), StoreError> {
        let watch = self.watchers.watch(name);
        let mut published = std::pin::pin!(watch.changed.notified());
        // An event after this line wakes the wait. One before it is the newest event.
        published.as_mut().enable();
        if self.newest(name).await?.as_deref() == Some(after) {
            // Early is allowed: the caller reads the log again.
            let _ = timeout(MAX_WAIT, published).await;
        }
        Ok(())
    }
}

/// Returns the epoch of a log that does not exist.
fn new_epoch() -> String {
    Uuid::new_v4().as_simple().to_string()
}

impl fmt::Debug for RedisEventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisEventLog")
            .field("keys", &self.redis.keys)
            .field("max_events", &self.max_events)
            .field("max_bytes", &self.max_bytes)
            .field("max_age", &self.max_age)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::parse_cursor;

    #[test]
    fn cursor_is_an_epoch_and_an_id() {
        assert_eq!(parse_cursor("a-17-0"), Some(("a", "17-0")));
        for cursor in [
            "",
            "a",
            "a-1",
            "a-1-",
            "a--1",
            "a-1-x",
            "a-1-2-3",
            "a-1-1234567890123456",
        ] {
            assert_eq!(parse_cursor(cursor), None, "{cursor}");
        }
    }
}
