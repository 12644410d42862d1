//! Changes that a program tells its clients.

use std::sync::Weak;

use mcp_core::ChangeEvent;

use crate::context::CallContext;
use crate::edits::Edits;
use crate::extract::FromCall;
use crate::live::Live;
use crate::rejection::Rejection;
use crate::spec::RouteSpec;

/// Tells clients what has changed: those that asked for it, of every era.
///
/// Cheap to clone; for any task, at any time. Take it by
/// [`Server::notify`](crate::Server::notify), or as a parameter of a handler. It never waits, and
/// changes that come faster than a client reads become one.
///
/// Lists that are changed by their handles ([`Tools`](crate::Tools), …) tell it by themselves. What
/// the server does not offer is not told; the log warns of it.
///
/// # Examples
///
/// ```
/// use mcp_server::{Notify, Resource, ResourceExt, Server};
///
/// let server = Server::new("weather", "1.0.0")
///     .resource(Resource::new("weather://rome").read(|| "sunny"));
/// let notify: Notify = server.notify();
/// std::thread::spawn(move || notify.resource_updated("weather://rome"));
/// ```
// spec: SUB-12, SUB-14
#[derive(Debug, Clone)]
pub struct Notify(Weak<Live>);

impl Notify {
    pub(crate) const EDITS: Edits = Edits {
        any: true,
        ..Edits::NONE
    };

    #[inline]
    pub(crate) fn new(live: Weak<Live>) -> Self {
        Self(live)
    }

    /// The list of tools has changed: for some callers at least it is another one now.
    #[inline]
    pub fn tools_changed(&self) {
        self.tell(ChangeEvent::Tools);
    }

    /// The list of prompts has changed.
    #[inline]
    pub fn prompts_changed(&self) {
        self.tell(ChangeEvent::Prompts);
    }

    /// The list of resources or of URI templates has changed.
    #[inline]
    pub fn resources_changed(&self) {
        self.tell(ChangeEvent::Resources);
    }

    /// The contents of a resource have changed. Those are told who asked for it, or for one above
    /// it: who asked for `file:///logs` hears of `file:///logs/today`.
    pub fn resource_updated(&self, uri: impl Into<Box<str>>) {
        self.tell(ChangeEvent::Resource { uri: uri.into() });
    }

    #[inline]
    fn tell(&self, event: ChangeEvent) {
        let Some(live) = self.0.upgrade() else { return };
        let server = live.current();
        if event.is_offered(&server.profile.capabilities) {
            server.changes.publish(event);
        } else {
            tracing::warn!(
                server = server.profile.info().name,
                ?event,
                "not told: the server offers nothing of that kind; add it, or take its handle \
                 before anything is added"
            );
        }
    }
}

impl FromCall for Notify {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(Live::of(call, Self::EDITS, None)))
    }

    #[inline]
    fn describe(spec: &mut RouteSpec) {
        spec.edits.add(Self::EDITS);
    }
}
