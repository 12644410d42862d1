//! The store of stream events, on Redis Streams.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use mcp_core::store::{EventStore, Replay, ReplayError, StoreError, StoredEvent, StreamId};
use redis::{Script, cmd};

use crate::RedisError;
use crate::connection::{Commands, ScriptCall};
use crate::writer::Writer;

/// The size of the events that [`EventStore::after`] returns at once, in bytes.
const PAGE_BYTES: usize = 256 << 10;
/// Bits of an event number for the position within one millisecond.
const SEQUENCE_BITS: u32 = 20;

/// A store of stream events in Redis. [`Redis::events`](crate::Redis::events) creates it.
///
/// The events of a session are one Redis Stream. It has at most 4,096 events and 4 MiB of messages, each
/// for at most 15 minutes; when a session has more, the store drops its oldest events. All nodes must
/// have the same limits.
///
/// An event is stored once, also if the connection breaks and the command is repeated.
#[derive(Clone)]
pub struct RedisEvents {
    redis: Commands,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
    writer: Arc<Writer>,
    scripts: Arc<Scripts>,
}

struct Scripts {
    append: Script,
    after: Script,
}

impl Scripts {
    fn new() -> Self {
        let script = |body| Script::new(&format!("{}{body}", include_str!("events/trim.lua")));
        Self {
            append: script(include_str!("events/append.lua")),
            after: script(include_str!("events/after.lua")),
        }
    }
}

/// The reply of the script `after`: base, floor, ended, more, events.
type Page = (
    String,
    String,
    String,
    String,
    Vec<(String, Vec<u8>, String)>,
);

impl RedisEvents {
    pub(crate) fn new(redis: Commands) -> Self {
        Self {
            redis,
            max_events: 4_096,
            max_bytes: 4 << 20,
            max_age: Duration::from_secs(15 * 60),
            writer: Arc::new(Writer::new()),
            scripts: Arc::new(Scripts::new()),
        }
    }

    /// Sets the maximum number of events per session. Default: 4,096.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets the maximum total size of a session's messages in bytes. Default: 4 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the time for which an event is kept. Default: 15 minutes.
    #[must_use]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.max_age = time;
        self
    }

    /// Returns the limits as arguments of the scripts.
    fn limits(&self) -> [String; 3] {
        let age = self.max_age.as_millis().clamp(1, 1 << 40);
        [
            self.max_events.to_string(),
            self.max_bytes.to_string(),
            age.to_string(),
        ]
    }

    fn session_keys(&self, session: &str) -> [String; 2] {
        [
            self.redis.keys.events(session),
            self.redis.keys.streams(session),
        ]
    }

    async fn page(&self, stream: StreamId<'_>, from: u64) -> Result<Option<Page>, RedisError> {
        let from = redis_id(from);
        let page = PAGE_BYTES.to_string();
        let limits = self.limits();
        let call = ScriptCall {
            script: &self.scripts.after,
            keys: &self.session_keys(stream.session),
            arguments: &[
                stream.stream.as_bytes(),
                from.as_bytes(),
                page.as_bytes(),
                limits[0].as_bytes(),
                limits[1].as_bytes(),
                limits[2].as_bytes(),
            ],
        };
        self.redis.script("load events", &call).await
    }
}

#[async_trait]
impl EventStore for RedisEvents {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let nonce = self.writer.next();
        let limits = self.limits();
        let call = ScriptCall {
            script: &self.scripts.append,
            keys: &self.session_keys(stream.session),
            arguments: &[
                stream.stream.as_bytes(),
                &event.text,
                if event.is_last { b"1" } else { b"" },
                nonce.as_bytes(),
                limits[0].as_bytes(),
                limits[1].as_bytes(),
                limits[2].as_bytes(),
            ],
        };
        let script = self.redis.script("append an event", &call);
        let id: String = script.await?;
        Ok(number("append an event", &id)?)
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        // The first missed event.
        let from = after.map_or(0, |after| after.saturating_add(1));
        let page = self.page(stream, from).await.map_err(StoreError::from)?;
        let Some((base, floor, over, more, events)) = page else {
            return Err(ReplayError::Unknown);
        };
        let parse = |id: &str| number("load events", id).map_err(StoreError::from);
        // Events before the base were lost together with the data of Redis.
        let is_lost = after.is_some() && !base.is_empty() && from <= parse(&base)?;
        if is_lost || !floor.is_empty() && from <= parse(&floor)? {
            return Err(ReplayError::TooOld);
        }
        let mut found = Vec::with_capacity(events.len());
        for (id, text, last) in events {
            let mut event = StoredEvent::new(Bytes::from(text));
            event.is_last = !last.is_empty();
            found.push((parse(&id)?, event));
        }
        let mut replay = Replay::new(found, more.is_empty() && !over.is_empty());
        replay.has_more = !more.is_empty();
        Ok(replay)
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let mut delete = cmd("DEL");
        delete.arg(&self.session_keys(session)[..]);
        let deleted = self.redis.command("forget events", &delete);
        let _: i64 = deleted.await?;
        Ok(())
    }
}

/// Returns the number of an event: the time of its id in milliseconds, and its position within that
/// millisecond.
///
/// # Errors
///
/// Returns [`RedisError::Malformed`] for an id that Redis did not make.
fn number(operation: &'static str, id: &str) -> Result<u64, RedisError> {
    let parse = || {
        let (time, sequence) = id.split_once('-')?;
        let (time, sequence): (u64, u64) = (time.parse().ok()?, sequence.parse().ok()?);
        let is_valid = time < 1 << (64 - SEQUENCE_BITS) && sequence < 1 << SEQUENCE_BITS;
        is_valid.then_some(time << SEQUENCE_BITS | sequence)
    };
    parse().ok_or_else(|| RedisError::malformed(operation, "an event id"))
}

/// Returns the id of the event with this number.
fn redis_id(number: u64) -> String {
    let sequence = number & ((1 << SEQUENCE_BITS) - 1);
    format!("{}-{sequence}", number >> SEQUENCE_BITS)
}

impl fmt::Debug for RedisEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisEvents")
            .field("keys", &self.redis.keys)
            .field("max_events", &self.max_events)
            .field("max_bytes", &self.max_bytes)
            .field("max_age", &self.max_age)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{number, redis_id};

    #[test]
    fn numbers_and_ids_are_converted_without_loss() {
        for id in ["0-0", "0-1", "1700000000000-0", "1700000000000-1048575"] {
            assert_eq!(redis_id(number("test", id).unwrap()), id);
        }
        assert!(number("test", "2-0").unwrap() > number("test", "1-1048575").unwrap());
        for id in ["", "1", "1-", "x-1", "1-1048576", "99999999999999-0"] {
            assert!(number("test", id).is_err(), "{id}");
        }
    }
}
