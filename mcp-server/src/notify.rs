//! Announcements of changes to clients.

use std::sync::Weak;

use mcp_core::ChangeEvent;

use crate::broadcaster::Publisher;
use crate::change_kinds::ChangeKinds;

/// Announces changes to the clients that have subscribed to them, with any protocol revision.
///
/// Get it from [`Server::notify`](crate::Server::notify), from
/// [`ServerSetup::notify`](crate::ServerSetup::notify), or as a handler parameter. Clones are
/// cheap and may be used on any task or thread, at any time. A call never waits; if a client reads
/// too slowly, several changes are announced as one.
///
/// The handles for lists ([`Tools`](crate::Tools), …) announce their changes themselves. A change of
/// something that the server does not offer is not announced; the log contains a warning.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// let server = Server::new("weather", "1.0.0")
///     .resource(Resource::new("weather://rome").read(|| "sunny"));
/// let notify: Notify = server.notify();
/// std::thread::spawn(move || notify.resource_updated("weather://rome"));
/// ```
// spec: SUB-12, SUB-14
#[derive(Debug, Clone)]
pub struct Notify(Weak<dyn Publisher>);

impl Notify {
    pub(crate) const CHANGE_KINDS: ChangeKinds = ChangeKinds {
        any: true,
        ..ChangeKinds::NONE
    };

    pub(crate) fn new(server: Weak<dyn Publisher>) -> Self {
        Self(server)
    }

    /// Announces that the list of tools has changed, at least for some callers.
    pub fn tools_changed(&self) {
        self.publish(ChangeEvent::Tools);
    }

    /// Announces that the list of prompts has changed, at least for some callers.
    pub fn prompts_changed(&self) {
        self.publish(ChangeEvent::Prompts);
    }

    /// Announces that the list of resources, or that of URI templates, has changed, at least for some
    /// callers.
    pub fn resources_changed(&self) {
        self.publish(ChangeEvent::Resources);
    }

    /// Announces that the contents of a resource have changed, to clients that have subscribed to
    /// its URI or to one above it: subscribers of `file:///logs` learn about `file:///logs/today`.
    pub fn resource_updated(&self, uri: impl Into<Box<str>>) {
        self.publish(ChangeEvent::Resource { uri: uri.into() });
    }

    /// Returns true after the server was dropped: nothing is announced any more.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    fn publish(&self, event: ChangeEvent) {
        let Some(server) = self.0.upgrade() else {
            return;
        };
        if !server.publish(event.clone()) {
            tracing::warn!(
                ?event,
                "change not announced: the server offers nothing of that kind; add it, or take its \
                 handle before anything is added"
            );
        }
    }
}
