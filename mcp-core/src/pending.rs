//! The table of requests that wait for an answer.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use mcp_types::RequestId;

mod ids;

pub use ids::RequestIds;

/// The requests of one side of a connection that wait for an answer.
///
/// Every request leaves the table exactly once, with what its caller waits on (`T`): by its answer
/// or because nobody waits any more ([`remove`](Self::remove)), by its deadline
/// ([`pop_expired`](Self::pop_expired)), or with the connection ([`close`](Self::close)).
///
/// The table knows no clock: `now` is an argument.
///
/// ```
/// use std::time::{Duration, Instant};
/// use mcp_core::pending::{RequestTimeouts, PendingRequests};
///
/// let now = Instant::now();
/// let mut pending = PendingRequests::new(100);
/// let timeouts = RequestTimeouts::idle(Duration::from_secs(60));
/// let id = pending.insert(now, timeouts, "who asked")?;
/// assert_eq!(pending.next_deadline(), Some(now + Duration::from_secs(60)));
/// assert_eq!(pending.remove(&id), Some("who asked"));
/// assert_eq!(pending.remove(&id), None);
/// # Ok::<(), mcp_core::pending::InsertError>(())
/// ```
#[derive(Debug)]
pub struct PendingRequests<T> {
    entries: HashMap<RequestId, Entry<T>>,
    deadlines: Deadlines,
    ids: RequestIds,
    capacity: usize,
    closed: bool,
}

#[derive(Debug)]
struct Entry<T> {
    slot: T,
    idle: Option<Duration>,
    /// The latest that the deadline can become.
    last: Option<Instant>,
    deadline: Option<Instant>,
}

/// How long a request waits for its answer.
// spec: LIFE-12, LIFE-14
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestTimeouts {
    /// Since it was sent, or since its latest progress.
    pub idle: Option<Duration>,
    /// In all, whatever progress is reported.
    pub total: Option<Duration>,
}

impl RequestTimeouts {
    /// As long as the connection lives: whoever waits has a clock of its own.
    pub const fn none() -> Self {
        Self {
            idle: None,
            total: None,
        }
    }

    /// So long since it was sent, or since its latest progress.
    pub const fn idle(time: Duration) -> Self {
        Self {
            idle: Some(time),
            total: None,
        }
    }

    /// Sets how long in all, whatever progress is reported.
    #[must_use]
    pub const fn total(mut self, time: Duration) -> Self {
        self.total = Some(time);
        self
    }
}

/// A request cannot wait for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// As many wait as may.
    #[error("{limit} requests wait for an answer already; let some of them end first")]
    Full {
        /// How many may wait at a time.
        limit: usize,
    },
    /// A request with this id waits already.
    #[error("a request with this id waits for an answer already")]
    DuplicateId,
    /// The connection has ended.
    #[error("the connection is closed")]
    Closed,
}

impl<T> PendingRequests<T> {
    /// A table for so many requests at a time.
    pub fn new(capacity: usize) -> Self {
        Self {
            entries: HashMap::new(),
            deadlines: Deadlines::default(),
            ids: RequestIds::new(),
            capacity,
            closed: false,
        }
    }

    /// Makes other ids.
    #[must_use]
    pub(crate) fn with_ids(mut self, ids: RequestIds) -> Self {
        self.ids = ids;
        self
    }

    /// Enters a request under an id that is made here.
    ///
    /// # Errors
    ///
    /// [`InsertError`]; the slot is dropped then.
    pub fn insert(
        &mut self,
        now: Instant,
        timeouts: RequestTimeouts,
        slot: T,
    ) -> Result<RequestId, InsertError> {
        let id = self.ids.next_id();
        self.insert_with_id(id.clone(), now, timeouts, slot)?;
        Ok(id)
    }

    /// Enters a request under an id that the caller has made. One table takes ids from one maker:
    /// this one, or the caller.
    ///
    /// # Errors
    ///
    /// [`InsertError`]; the slot is dropped then.
    // spec: BASE-04
    pub fn insert_with_id(
        &mut self,
        id: RequestId,
        now: Instant,
        timeouts: RequestTimeouts,
        slot: T,
    ) -> Result<(), InsertError> {
        if self.closed {
            return Err(InsertError::Closed);
        }
        if self.entries.contains_key(&id) {
            return Err(InsertError::DuplicateId);
        }
        if self.entries.len() >= self.capacity {
            let limit = self.capacity;
            return Err(InsertError::Full { limit });
        }
        // A time that is too far away to be told never comes.
        let last = timeouts.total.and_then(|total| now.checked_add(total));
        let mut entry = Entry {
            slot,
            idle: timeouts.idle,
            last,
            deadline: None,
        };
        entry.deadline = entry.deadline_from(now);
        if let Some(deadline) = entry.deadline {
            self.deadlines.insert(deadline, id.clone());
        }
        self.entries.insert(id, entry);
        Ok(())
    }

    /// What waits under an id.
    pub fn get(&self, id: &RequestId) -> Option<&T> {
        self.entries.get(id).map(|entry| &entry.slot)
    }

    /// The one request that waits, among those that `counts` tells.
    pub fn single(&self, counts: impl Fn(&T) -> bool) -> Option<(&RequestId, &T)> {
        let mut entries = self.entries.iter().filter(|(_, entry)| counts(&entry.slot));
        let (id, entry) = entries.next()?;
        entries.next().is_none().then_some((id, &entry.slot))
    }

    /// Takes a request out: it was answered, or nobody waits for it any more. `None` for a
    /// request that was never entered, or has left the table.
    // spec: BASE-06, CAN-06
    pub fn remove(&mut self, id: &RequestId) -> Option<T> {
        let (id, entry) = self.entries.remove_entry(id)?;
        if let Some(deadline) = entry.deadline {
            self.deadlines.remove(deadline, &id);
        }
        Some(entry.slot)
    }

    /// A request has made progress: it may be idle anew. Tells what waits there.
    pub fn touch(&mut self, id: &RequestId, now: Instant) -> Option<&T> {
        let entry = self.entries.get_mut(id)?;
        let deadline = entry.deadline_from(now);
        if deadline != entry.deadline {
            if let Some(before) = entry.deadline {
                self.deadlines.remove(before, id);
            }
            if let Some(deadline) = deadline {
                self.deadlines.insert(deadline, id.clone());
            }
            entry.deadline = deadline;
        }
        Some(&entry.slot)
    }

    /// Takes one request out whose time is up; call it until there is none.
    pub fn pop_expired(&mut self, now: Instant) -> Option<(RequestId, T)> {
        if self.deadlines.next()? > now {
            return None;
        }
        let (_, id) = self.deadlines.0.pop_front()?;
        let entry = self.entries.remove(&id)?;
        Some((id, entry.slot))
    }

    /// When the next request has waited long enough.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    /// Ends the table: takes every request out, and no other comes in.
    pub fn close(&mut self) -> impl Iterator<Item = (RequestId, T)> + use<T> {
        self.closed = true;
        self.deadlines.0.clear();
        let entries = std::mem::take(&mut self.entries);
        entries.into_iter().map(|(id, entry)| (id, entry.slot))
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No request waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The ids that [`insert`](Self::insert) has made.
    pub fn ids(&self) -> &RequestIds {
        &self.ids
    }
}

/// When timeouts with whom ends, soonest first. What is opened last ends last as a rule, so that it
/// goes to the end; a tree would be ten times the code.
#[derive(Debug, Default)]
struct Deadlines(VecDeque<(Instant, RequestId)>);

impl Deadlines {
    fn next(&self) -> Option<Instant> {
        self.0.front().map(|(deadline, _)| *deadline)
    }

    fn insert(&mut self, deadline: Instant, id: RequestId) {
        let place = self.find(deadline, &id);
        self.0.insert(place.unwrap_or_else(|at| at), (deadline, id));
    }

    fn remove(&mut self, deadline: Instant, id: &RequestId) {
        if let Ok(at) = self.find(deadline, id) {
            self.0.remove(at);
        }
    }

    fn find(&self, deadline: Instant, id: &RequestId) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(at, other)| at.cmp(&deadline).then_with(|| other.cmp(id)))
    }
}

impl<T> Entry<T> {
    fn deadline_from(&self, now: Instant) -> Option<Instant> {
        let idle = self.idle.and_then(|idle| now.checked_add(idle));
        match (idle, self.last) {
            (Some(idle), Some(last)) => Some(idle.min(last)),
            (idle, last) => idle.or(last),
        }
    }
}

#[cfg(test)]
mod tests;
