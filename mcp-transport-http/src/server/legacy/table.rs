//! The live sessions of an endpoint: found by id, and counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::locks::Mutex;
use mcp_core::{ClientFacts, Principal};

use super::super::sessions::{SessionEnd, Sessions};
use super::live::Live;
use super::place::Leave;
use super::sse_2024::Connection;

/// The live sessions of an endpoint. They end with it.
#[derive(Default)]
pub(in super::super) struct Table {
    state: Mutex<State>,
    /// Of clients that speak HTTP+SSE.
    connections: Mutex<HashMap<Arc<str>, Arc<Connection>>>,
    counts: Arc<Mutex<Counts>>,
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

/// Sessions, and those that are being opened.
#[derive(Default)]
struct Counts {
    all: usize,
    by_owner: HashMap<Owner, usize>,
}

/// Issuer and subject.
type Owner = (String, String);

/// There is no room for another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("this server has as many sessions as it may; come back later")]
    Total,
    #[error("you have as many sessions as you may; end one, or come back later")]
    OfPrincipal,
}

/// Another session has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdTaken;

impl Table {
    /// Reserves the place of a session before anything else is done for it. Only who holds a slot
    /// can make a session, so however many clients come at once, there are never more.
    // spec: SESS-13
    pub(super) fn reserve(
        &self,
        limits: &Sessions,
        principal: Option<&Principal>,
    ) -> Result<Slot, Full> {
        let mut counts = self.counts.lock();
        if counts.all >= limits.max {
            return Err(Full::Total);
        }
        let owner = principal.map(|it| (it.issuer.clone(), it.subject.clone()));
        if let Some(owner) = &owner {
            let of_owner = counts.by_owner.get(owner).copied().unwrap_or(0);
            if of_owner >= limits.max_per_principal {
                return Err(Full::OfPrincipal);
            }
            counts.by_owner.insert(owner.clone(), of_owner + 1);
        }
        counts.all += 1;
        Ok(Slot {
            counts: Arc::clone(&self.counts),
            owner: owner.map(Box::new),
        })
    }

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

/// The place of a session in the counts. Whoever drops it gives it back.
pub(super) struct Slot {
    counts: Arc<Mutex<Counts>>,
    owner: Option<Box<Owner>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        counts.all = counts.all.saturating_sub(1);
        if let Some(owner) = self.owner.take()
            && let Entry::Occupied(mut count) = counts.by_owner.entry(*owner)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
