//! The store of stream events, on Redis Streams.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use mcp_core::store::{EventStore, Replay, ReplayError, StoreError, StoredEvent, StreamId};
use redis::{Script, ScriptInvocation, ToRedisArgs, cmd};

use crate::connection::{Commands, millis, random_name, script};
use crate::error::RedisError;

/// The size of the events that [`EventStore::after`] returns at once, in bytes.
const PAGE_BYTES: usize = 256 << 10;
/// Bits of an event number that hold the position within one millisecond.
const SEQUENCE_BITS: u32 = 20;

/// A store of stream events in Redis. [`Redis::events`](crate::Redis::events) creates it.
///
/// The events of a session are one Redis Stream. It has at most 4,096 events and 4 MiB of messages, each
/// for at most 15 minutes; when a session has more, the store drops its oldest events. All nodes must
/// have the same limits.
///
/// An event is stored once, also if the connection breaks and the command is repeated.
#[derive(Debug, Clone)]
pub struct RedisEvents {
    redis: Commands,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
}

script!(APPEND: "now.lua", "stream.lua", "events/state.lua", "events/append.lua");
script!(AFTER: "now.lua", "stream.lua", "events/state.lua", "events/after.lua");

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
        }
    }

    /// Sets the maximum number of events per session. Default: 4,096.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets the maximum total size of the messages in a session, in bytes. Default: 4 MiB.
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

    /// Prepares a script for a session. Its last arguments are the limits.
    fn call<'a>(
        &self,
        script: &'a Script,
        stream: StreamId<'_>,
        arguments: impl ToRedisArgs,
    ) -> ScriptInvocation<'a> {
        let mut call = script.key(&self.session_keys(stream.session)[..]);
        call.arg(stream.stream).arg(arguments);
        call.arg(self.max_events)
            .arg(self.max_bytes)
            .arg(millis(self.max_age));
        call
    }

    fn session_keys(&self, session: &str) -> [String; 2] {
        [
            self.redis.keys.events(session),
            self.redis.keys.streams(session),
        ]
    }
}

#[async_trait]
impl EventStore for RedisEvents {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let operation = "append an event";
        let is_last = if event.is_last { "1" } else { "" };
        let arguments = (&event.text[..], is_last, random_name());
        let call = self.call(&APPEND, stream, arguments);
        let id: String = self.redis.script(operation, &call).await?;
        Ok(number(operation, &id)?)
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        // The first missed event.
        let from = after.map_or(0, |after| after.saturating_add(1));
        let call = self.call(&AFTER, stream, (redis_id(from), PAGE_BYTES));
        let page = self.redis.script("load events", &call).await;
        let page: Option<Page> = page.map_err(StoreError::from)?;
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
        Ok(self.redis.command("forget events", &delete).await?)
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
