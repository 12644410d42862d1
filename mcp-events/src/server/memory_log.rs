//! The event log in memory.

use std::collections::{HashMap, VecDeque};

use async_trait::async_trait;
use mcp_core::store::{EventLog, LogPage, LoggedEvent, StoreError};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::secret::random_hex;

/// An event log in memory, for one process. After a restart it is empty, and clients learn that they
/// have missed events.
///
/// Each event type keeps its last 10,000 events, and at most 16 MiB of payloads.
#[derive(Debug)]
pub struct MemoryEventLog {
    /// Distinguishes the cursors of this log from those of another process.
    epoch: String,
    max_events: usize,
    max_bytes: usize,
    logs: Mutex<HashMap<String, TypeLog>>,
    appended: watch::Sender<u64>,
}

/// The log of one event type.
#[derive(Debug, Default)]
struct TypeLog {
    events: VecDeque<LoggedEvent>,
    bytes: usize,
    /// The number of the last event. The first one has the number 1.
    last: u64,
}

impl TypeLog {
    /// The number before the oldest event.
    fn start(&self) -> u64 {
        self.last - self.events.len() as u64
    }

    fn push(&mut self, event: LoggedEvent, max_events: usize, max_bytes: usize) {
        self.bytes += event.data.as_str().len();
        self.events.push_back(event);
        self.last += 1;
        while self.events.len() > max_events || self.bytes > max_bytes {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.data.as_str().len();
        }
    }
}

impl MemoryEventLog {
    /// A log of the default size.
    pub fn new() -> Self {
        Self {
            epoch: random_hex::<4>(),
            max_events: 10_000,
            max_bytes: 16 << 20,
            logs: Mutex::default(),
            appended: watch::Sender::new(0),
        }
    }

    /// Sets how many events each type keeps.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets how many bytes of payloads each type keeps.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
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
            log.push(event, self.max_events, self.max_bytes);
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
        let logs = self.logs.lock();
        let Some(log) = logs.get(name) else {
            page.truncated = number != Some(0);
            return Ok(page);
        };
        let (start, last) = (log.start(), log.last);
        let known = number.filter(|number| (start..=last).contains(number));
        page.truncated = known.is_none();
        let skipped = known.unwrap_or(start) - start;
        let events = log.events.iter().zip(start + 1..).skip(skipped as usize);
        let events = events
            .take(limit)
            .map(|(event, number)| (self.cursor(number), event.clone()));
        page.events = events.collect();
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
