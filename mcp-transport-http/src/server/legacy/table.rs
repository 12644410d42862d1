//! The live sessions of an endpoint: found by id, and counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::ClientFacts;
use parking_lot::Mutex;

use super::super::kept::Leave;
use super::super::sessions::SessionEnd;
use super::connection::Connection;
use super::live::Live;
use super::slots::Slots;

/// The live sessions of an endpoint. They end with it.
#[derive(Default)]
pub(in super::super) struct Table {
    state: Mutex<State>,
    /// Of clients that speak HTTP+SSE.
    connections: Mutex<HashMap<Arc<str>, Arc<Connection>>>,
    pub(super) slots: Slots,
}

#[derive(Default)]
struct State {
    /// Only this server makes their ids, so a fast hash is safe.
    sessions: HashMap<Arc<str>, Arc<Live>, foldhash::fast::RandomState>,
    /// A reaper walks about.
    is_tended: bool,
    /// Of the newest session's client. Most clients are of few kinds.
    facts: Option<Arc<ClientFacts>>,
}

/// Another session has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdTaken;

impl Table {
    /// Enters a session, unless its id is taken. Tells whether a reaper is wanted.
    pub(super) fn enter(&self, live: &Arc<Live>) -> Result<bool, IdTaken> {
        let mut state = self.state.lock();
        match state.sessions.entry(Arc::clone(&live.id)) {
            Entry::Occupied(_) => return Err(IdTaken),
            Entry::Vacant(place) => place.insert(Arc::clone(live)),
        };
        live.machine.share_facts(&mut state.facts);
        Ok(!std::mem::replace(&mut state.is_tended, true))
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Live>> {
        self.state.lock().sessions.get(id).cloned()
    }

    /// Ends a session, if it has not ended yet.
    pub(super) fn end(&self, id: &str, reason: SessionEnd) {
        let removed = self.state.lock().sessions.remove(id);
        if let Some(live) = removed {
            live.end(reason);
        }
    }

    pub(super) fn connect(&self, connection: &Arc<Connection>) {
        let id = Arc::clone(&connection.id);
        self.connections.lock().insert(id, Arc::clone(connection));
    }

    pub(super) fn find_connection(&self, id: &str) -> Option<Arc<Connection>> {
        self.connections.lock().get(id).cloned()
    }

    /// The connection has ended, and the session that it was.
    pub(super) fn disconnect(&self, id: &str) {
        self.connections.lock().remove(id);
        self.end(id, SessionEnd::Disconnected);
    }

    /// Ends them all.
    pub(in super::super) fn end_all(&self) {
        let sessions = std::mem::take(&mut self.state.lock().sessions);
        for live in sessions.into_values() {
            live.end(SessionEnd::Closed);
        }
        let connections = std::mem::take(&mut *self.connections.lock());
        for connection in connections.into_values() {
            connection.place.dismiss(Leave::Ended);
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.state.lock().sessions.values().cloned().collect()
    }

    /// How many sessions there are.
    pub(in super::super) fn len(&self) -> usize {
        self.state.lock().sessions.len()
    }

    /// Lets the reaper go when there is no session: the next one that is entered wants another.
    pub(super) fn let_reaper_go(&self) -> bool {
        let mut state = self.state.lock();
        state.is_tended = !state.sessions.is_empty();
        !state.is_tended
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.end_all();
    }
}
