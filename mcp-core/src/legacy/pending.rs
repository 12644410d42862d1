//! Requests that wait for a response, on a connection that carries many at once.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod ids;

use std::time::{Duration, Instant};

use mcp_types::RequestId;

pub(crate) use ids::RequestIds;

use crate::time::Expiring;

/// Requests of one side that wait for a response.
///
/// Every request leaves the table exactly once, with the value `T` that its caller waits on: by its
/// response or a cancellation ([`remove`](Self::remove)), by its deadline
/// ([`pop_expired`](Self::pop_expired)), or with the connection ([`close`](Self::close)).
///
/// The table has no clock: `now` is an argument.
#[derive(Debug)]
pub(crate) struct PendingRequests<T> {
    entries: Expiring<RequestId, Entry<T>>,
    ids: RequestIds,
    capacity: usize,
    closed: bool,
}

#[derive(Debug)]
struct Entry<T> {
    value: T,
    idle: Duration,
    /// The latest value that progress can move the deadline to.
    last_deadline: Option<Instant>,
}

/// Request timeouts.
// spec: LIFE-12, LIFE-14
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTimeouts {
    /// The time since the request was sent, or since its latest progress.
    pub(crate) idle: Duration,
    /// The total time, whatever progress is reported.
    pub(crate) total: Duration,
}

/// A request that cannot be inserted into [`PendingRequests`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsertError {
    /// The table is full.
    Full,
    /// The table is closed.
    Closed,
}

impl<T> PendingRequests<T> {
    /// A table with space for `capacity` requests.
    pub(crate) fn new(capacity: usize, ids: RequestIds) -> Self {
        Self {
            entries: Expiring::default(),
            ids,
            capacity,
            closed: false,
        }
    }

    /// Inserts a request under a new id, and returns the id.
    ///
    /// # Errors
    ///
    /// Returns [`InsertError`] and drops `value` when the table is full or closed.
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        timeouts: RequestTimeouts,
        value: T,
    ) -> Result<RequestId, InsertError> {
        if self.closed {
            return Err(InsertError::Closed);
        }
        if self.entries.len() >= self.capacity {
            return Err(InsertError::Full);
        }
        let id = self.ids.next_id();
        let entry = Entry {
            value,
            idle: timeouts.idle,
            // An instant that cannot be represented is never reached.
            last_deadline: now.checked_add(timeouts.total),
        };
        let deadline = entry.deadline_after(now);
        self.entries.insert(id.clone(), entry, deadline);
        Ok(id)
    }

    /// Removes a request because it was answered or cancelled. Returns `None` for a request that is
    /// not pending.
    // spec: BASE-06, CAN-06
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<T> {
        self.entries.remove(id).map(|entry| entry.value)
    }

    /// Restarts the idle timeout of a request because it has made progress. Returns its value.
    pub(crate) fn touch(&mut self, id: &RequestId, now: Instant) -> Option<&T> {
        let entry = self.entries.renew(id, |entry| entry.deadline_after(now))?;
        Some(&entry.value)
    }

    /// Removes one request whose deadline has passed. Call it until it returns `None`.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<(RequestId, T)> {
        let (id, entry) = self.entries.pop_expired(now)?;
        Some((id, entry.value))
    }

    /// Returns the earliest deadline.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.entries.next_expiry()
    }

    /// Closes the table: removes all requests, and lets no other one in.
    pub(crate) fn close(&mut self) -> impl Iterator<Item = (RequestId, T)> + use<T> {
        self.closed = true;
        let entries = self.entries.take();
        entries.map(|(id, entry)| (id, entry.value))
    }

    /// Returns the number of pending requests.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the ids that [`insert`](Self::insert) has made.
    pub(crate) fn ids(&self) -> &RequestIds {
        &self.ids
    }
}

impl<T> Entry<T> {
    fn deadline_after(&self, now: Instant) -> Option<Instant> {
        let deadlines = [now.checked_add(self.idle), self.last_deadline];
        deadlines.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
