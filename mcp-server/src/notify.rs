//! Announcements of changes to clients.

use std::sync::Weak;

use mcp_core::ChangeEvent;

use crate::call::{CallContext, RouteSpec};
use crate::change_kinds::ChangeKinds;
use crate::extract::FromCall;
use crate::registry::SharedRegistry;
use crate::rejection::Rejection;

/// Announces changes to the clients that have subscribed to them, with any protocol revision.
///
/// Get it from [`Server::notify`](crate::Server::notify), or as a parameter of a handler. Clones are
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
pub struct Notify(Weak<SharedRegistry>);

impl Notify {
    pub(crate) const CHANGE_KINDS: ChangeKinds = ChangeKinds {
        any: true,
        ..ChangeKinds::NONE
    };

    pub(crate) fn new(registry: Weak<SharedRegistry>) -> Self {
        Self(registry)
    }

    /// Announces that the list of tools has changed, at least for some callers.
    pub fn tools_changed(&self) {
        self.publish(ChangeEvent::Tools);
    }

    /// Announces that the list of prompts has changed, at least for some callers.
    pub fn prompts_changed(&self) {
        self.publish(ChangeEvent::Prompts);
    }

    /// Announces that the list of resources or of URI templates has changed, at least for some
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
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let registry = shared.current();
        if event.is_offered(&registry.profile.capabilities) {
            registry.changes.publish(event);
        } else {
            tracing::warn!(
                server = registry.profile.info().name,
                ?event,
                "change not announced: the server offers nothing of that kind; add it, or take its \
                 handle before anything is added"
            );
        }
    }
}

impl FromCall for Notify {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let registry = SharedRegistry::from_call(call, Self::CHANGE_KINDS);
        Ok(Self(registry))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.change_kinds.insert(Self::CHANGE_KINDS);
    }
}
