//! Changed server lists, which the gateway requests again.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_client::Change;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Kinds of lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl Kinds {
    pub(super) const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(super) fn add(&mut self, other: Self) {
        *self = self.with(other);
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools && other.tools,
            prompts: self.prompts && other.prompts,
            resources: self.resources && other.resources,
        }
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self {
            tools: self.tools && !other.tools,
            prompts: self.prompts && !other.prompts,
            resources: self.resources && !other.resources,
        }
    }
}

/// The lists of a server that are to be requested again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stale {
    /// The lists whose change the server has announced.
    pub(super) announced: Kinds,
    /// The lists that may have changed unnoticed.
    pub(super) unknown: Kinds,
}

impl Stale {
    pub(super) const UNKNOWN: Self = Self {
        announced: Kinds {
            tools: false,
            prompts: false,
            resources: false,
        },
        unknown: Kinds::ALL,
    };

    pub(super) fn new(change: &Change) -> Self {
        let mut stale = Self::default();
        match change {
            Change::Tools => stale.announced.tools = true,
            Change::Prompts => stale.announced.prompts = true,
            Change::Resources => stale.announced.resources = true,
            Change::Missed(_) => stale = Self::UNKNOWN,
            _ => {}
        }
        stale
    }

    pub(super) fn add(&mut self, other: Self) {
        self.announced.add(other.announced);
        self.unknown.add(other.unknown);
    }

    pub(super) fn kinds(self) -> Kinds {
        self.announced.with(self.unknown)
    }
}

/// The announced changes of all servers. A change that is pending already needs no memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Announcements(Arc<Pending>);

#[derive(Debug, Default)]
struct Pending {
    servers: Mutex<HashMap<Arc<str>, Stale>>,
    notify: Notify,
}

impl Announcements {
    /// Returns the handle of one server.
    pub(super) fn announcer(&self, server: &Arc<str>) -> Announcer {
        Announcer {
            server: server.clone(),
            pending: self.0.clone(),
        }
    }

    /// Waits for the next changes.
    pub(super) async fn next(&self) -> HashMap<Arc<str>, Stale> {
        loop {
            let changed = std::mem::take(&mut *self.0.servers.lock());
            if !changed.is_empty() {
                return changed;
            }
            self.0.notify.notified().await;
        }
    }
}

/// Announces changes of one server.
#[derive(Debug, Clone)]
pub(super) struct Announcer {
    server: Arc<str>,
    pending: Arc<Pending>,
}

impl Announcer {
    pub(super) fn announce(&self, change: &Change) {
        let mut servers = self.pending.servers.lock();
        let stale = servers.entry(self.server.clone()).or_default();
        stale.add(Stale::new(change));
        drop(servers);
        self.pending.notify.notify_one();
    }

    /// Has the lists requested again that a change names. Clients are notified if they differ then.
    pub(super) fn check(&self, change: &Change) {
        let mut servers = self.pending.servers.lock();
        let stale = servers.entry(self.server.clone()).or_default();
        stale.unknown.add(Stale::new(change).kinds());
        drop(servers);
        self.pending.notify.notify_one();
    }
}
