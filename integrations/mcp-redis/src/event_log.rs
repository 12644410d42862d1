//! The log of published events, on Redis Streams.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::StoreError;
use mcp_events::{EventLog, LogPage, LoggedEvent};
use mcp_types::RawObject;
use redis::cmd;

use crate::connection::{Commands, millis, random_name, script};
use crate::error::RedisError;
use crate::pub_sub::PubSub;
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
#[derive(Debug, Clone)]
pub struct RedisEventLog {
    redis: Commands,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
    watchers: Arc<Watchers>,
    /// Keeps the subscription.
    _pub_sub: Arc<PubSub>,
}

script!(APPEND: "now.lua", "stream.lua", "event_log/log.lua", "event_log/append.lua");
script!(END: "now.lua", "stream.lua", "event_log/log.lua", "event_log/end.lua");
script!(READ: "now.lua", "stream.lua", "event_log/log.lua", "event_log/read.lua");

/// The reply of the script `read`: epoch, truncated, more, events (id, event id, time, payload).
type EventPage = (String, String, String, Vec<(String, String, u64, String)>);

impl RedisEventLog {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>) -> Self {
        let watchers = Arc::new(Watchers::default());
        pub_sub.subscribe(redis.keys.published_events(), &watchers);
        Self {
            redis,
            max_events: 10_000,
            max_bytes: 16 << 20,
            max_age: Duration::from_secs(24 * 3600),
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
    fn limits(&self) -> (usize, usize, u64) {
        (self.max_events, self.max_bytes, millis(self.max_age))
    }

    /// Returns the newest event's cursor, or `None` for a log that was never used.
    async fn newest(&self, name: &str) -> Result<Option<String>, RedisError> {
        let mut read = cmd("HMGET");
        read.arg(&self.redis.keys.event_log(name)[1]);
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
        let keys = &self.redis.keys;
        let mut append = APPEND.key(&keys.event_log(&event.name)[..]);
        append.key(keys.event_mark(&event.name, &event.id));
        append.arg((event.id, event.timestamp, event.data.as_str()));
        append.arg(random_name());
        append.arg(millis(self.redis.timeout.saturating_add(REPEAT_TIME)));
        append.arg((event.name, keys.published_events()));
        append.arg(self.limits());
        Ok(self.redis.script("publish an event", &append).await?)
    }

    async fn end(&self, name: &str) -> Result<String, StoreError> {
        let mut end = END.key(&self.redis.keys.event_log(name)[..]);
        end.arg(random_name());
        Ok(self.redis.script("find the newest event", &end).await?)
    }

    async fn read(&self, name: &str, after: &str, limit: usize) -> Result<LogPage, StoreError> {
        let operation = "read events";
        let (epoch, id) = parse_cursor(after).unwrap_or(("", "0-0"));
        let mut read = READ.key(&self.redis.keys.event_log(name)[..]);
        read.arg((epoch, id, limit, PAGE_BYTES)).arg(self.limits());
        let (epoch, truncated, more, events): EventPage =
            self.redis.script(operation, &read).await?;
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
        let check = async {
            let newest = self.newest(name).await?;
            Ok((newest.as_deref() == Some(after)).then_some(MAX_WAIT))
        };
        self.watchers.wait(name, check).await
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
