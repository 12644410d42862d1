//! The event log in memory.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::StoreError;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::unique::unique_id;
use crate::event_log::{EventLog, LogPage, LoggedEvent};

/// The size of the payloads that [`EventLog::read`] returns at once, in bytes.
const PAGE_BYTES: usize = 1 << 20;

/// An event log in memory, for one process. After a restart it is empty, and clients learn that they
/// have missed events.
///
/// Each event type keeps its last 10,000 events, and at most 16 MiB of payloads, for 24 hours.
#[derive(Debug)]
pub struct MemoryEventLog {
    /// Distinguishes this log's cursors from those of another process.
    epoch: String,
    limits: Limits,
    logs: Mutex<HashMap<String, TypeLog>>,
    appended: watch::Sender<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
}

/// The log of one event type.
#[derive(Debug, Default)]
struct TypeLog {
    events: VecDeque<(Instant, LoggedEvent)>,
    bytes: usize,
    /// The number of the last event. The first one has the number 1.
    last: u64,
}

impl TypeLog {
    /// The number before the oldest event.
    fn start(&self) -> u64 {
        self.last - self.events.len() as u64
    }

    fn push(&mut self, event: LoggedEvent) {
        self.bytes += event.data.as_str().len();
        self.events.push_back((Instant::now(), event));
        self.last += 1;
    }

    /// Drops the oldest events beyond the limits.
    fn trim(&mut self, limits: Limits) {
        let now = Instant::now();
        while let Some((since, oldest)) = self.events.front() {
            let is_kept = self.events.len() <= limits.max_events
                && self.bytes <= limits.max_bytes
                && now.duration_since(*since) <= limits.max_age;
            if is_kept {
                return;
            }
            self.bytes -= oldest.data.as_str().len();
            self.events.pop_front();
        }
    }
}

impl MemoryEventLog {
    /// A log of the default size.
    pub fn new() -> Self {
        Self {
            epoch: unique_id(),
            limits: Limits {
                max_events: 10_000,
                max_bytes: 16 << 20,
                max_age: Duration::from_secs(24 * 3600),
            },
            logs: Mutex::default(),
            appended: watch::Sender::new(0),
        }
    }

    /// Sets how many events each type keeps. Default: 10,000.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.limits.max_events = events;
        self
    }

    /// Sets how many bytes of payloads each type keeps. Default: 16 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_bytes = bytes;
        self
    }

    /// Sets the time for which an event is kept. Default: 24 hours.
    #[must_use]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.limits.max_age = time;
        self
    }

    fn cursor(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number in a cursor of this log.
    fn number(&self, cursor: &str) -> Option<u64> {
        let (epoch, number) = cursor.split_once('-')?;
        (epoch == self.epoch).then(|| number.parse().ok()).flatten()
    }
}

impl Default for MemoryEventLog {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl EventLog for MemoryEventLog {
    async fn append(&self, event: LoggedEvent) -> Result<String, StoreError> {
        let number = {
            let mut logs = self.logs.lock();
            let log = logs.entry(event.name.clone()).or_default();
            log.push(event);
            log.trim(self.limits);
            log.last
        };
        self.appended.send_modify(|count| *count += 1);
        Ok(self.cursor(number))
    }

    async fn end(&self, name: &str) -> Result<String, StoreError> {
        let logs = self.logs.lock();
        Ok(self.cursor(logs.get(name).map_or(0, |log| log.last)))
    }

    async fn read(&self, name: &str, after: &str, limit: usize) -> Result<LogPage, StoreError> {
        let mut page = LogPage::default();
        let number = self.number(after);
        let mut logs = self.logs.lock();
        let Some(log) = logs.get_mut(name) else {
            page.truncated = number != Some(0);
            return Ok(page);
        };
        log.trim(self.limits);
        let (start, last) = (log.start(), log.last);
        let known = number.filter(|number| (start..=last).contains(number));
        page.truncated = known.is_none();
        let skipped = known.unwrap_or(start) - start;
        let mut bytes = 0;
        for ((_, event), number) in log.events.iter().zip(start + 1..).skip(skipped as usize) {
            bytes += event.data.as_str().len();
            let is_full = bytes > PAGE_BYTES && !page.events.is_empty();
            if is_full || page.events.len() >= limit {
                break;
            }
            page.events.push((self.cursor(number), event.clone()));
        }
        page.has_more = (skipped as usize) + page.events.len() < log.events.len();
        Ok(page)
    }

    async fn wait(&self, name: &str, after: &str) -> Result<(), StoreError> {
        let mut appended = self.appended.subscribe();
        let number = self.number(after);
        loop {
            let last = self.logs.lock().get(name).map_or(0, |log| log.last);
            if number.is_none_or(|number| number != last) {
                return Ok(());
            }
            if appended.changed().await.is_err() {
                return Ok(());
            }
        }
    }
}
