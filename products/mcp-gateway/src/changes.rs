//! The kinds of lists, and the lists that the gateway requests again because they have changed.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_client::Change;
use mcp_core::Call;
use tokio::sync::watch;

/// Kinds of lists, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const TOOLS: Self = Self(1);
    pub(crate) const PROMPTS: Self = Self(2);
    /// Resources and templates.
    pub(crate) const RESOURCES: Self = Self(4);
    pub(crate) const ALL: Self = Self(7);

    /// Returns the lists that a change concerns.
    pub(crate) fn of_change(change: &Change) -> Self {
        match change {
            Change::Tools => Self::TOOLS,
            Change::Prompts => Self::PROMPTS,
            Change::Resources => Self::RESOURCES,
            Change::Missed(_) => Self::ALL,
            _ => Self::NONE,
        }
    }

    /// Returns the list that a call requests.
    pub(crate) fn of_list(call: &Call) -> Self {
        match call {
            Call::ListTools(_) => Self::TOOLS,
            Call::ListPrompts(_) => Self::PROMPTS,
            Call::ListResources(_) | Call::ListResourceTemplates(_) => Self::RESOURCES,
            _ => Self::NONE,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Returns whether the two have a kind in common.
    pub(crate) fn has(self, kind: Self) -> bool {
        !self.and(kind).is_empty()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Adds kinds if `is_added`.
    pub(crate) fn add_if(&mut self, other: Self, is_added: bool) {
        self.add(if is_added { other } else { Self::NONE });
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The changes that servers have announced in the sessions of callers. A change that is pending already needs no
/// memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Announcements(watch::Sender<HashMap<Arc<str>, Kinds>>);

impl Announcements {
    pub(crate) fn add(&self, server: &Arc<str>, change: &Change) {
        let kinds = Kinds::of_change(change);
        self.0
            .send_modify(|servers| servers.entry(server.clone()).or_default().add(kinds));
    }

    /// Waits for the next changes.
    pub(crate) async fn next(&self) -> HashMap<Arc<str>, Kinds> {
        let mut receiver = self.0.subscribe();
        // The sender exists as long as `self`.
        drop(receiver.wait_for(|servers| !servers.is_empty()).await);
        self.0.send_replace(HashMap::new())
    }
}
