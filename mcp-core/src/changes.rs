//! Changes of a server's lists and resources, from handlers to subscribers.
//!
//! Two types cross modules: [`SubscriptionFilter`], a set, and [`ChangeEvent`], one change. What an owner keeps
//! of them is private to it: marks instead of a queue in the memory bus, 16 bytes per session instead of a
//! filter's 80.
//!
//! | module | content |
//! |---|---|
//! | `bus` | the bus that delivers changes, and the one in memory |
//! | `event` | one change |
//! | `notifications` | extension notifications that wait for a subscriber |
//! | `subscribed`, `subscriber` | the resources that clients are subscribed to, and such a client |

mod bus;
mod event;
mod notifications;
mod subscribed;
mod subscriber;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_types::{ReadResourceParams, SubscriptionFilter};

pub use bus::{ChangeBus, MemoryBus, Watch};
pub use event::{ChangeEvent, ExtensionNotification};
pub use subscribed::SubscribedResources;
pub use subscriber::Subscriber;

use subscribed::SubscribedUris;

use crate::authorization;
use crate::connection::{ClientContext, Extensions};
use crate::message::{Call, Fault, ItemKind};
use crate::panic::catch_panic_sync;

/// The time to wait when the subscription limit is reached.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Decides which client may know of which resource, by its URI.
type VisibilityFilter = Arc<dyn Fn(&str, &ClientContext, &Extensions) -> bool + Send + Sync>;

/// The changes of a server: a [`ChangeBus`], the subscription limit, and the resource
/// visibility.
///
/// Clones share the bus and the subscription count.
#[derive(Clone)]
pub struct Changes(Arc<ChangesInner>);

#[derive(Clone)]
struct ChangesInner {
    bus: Arc<dyn ChangeBus>,
    subscriptions: Arc<AtomicUsize>,
    max_subscriptions: usize,
    visibility: Option<VisibilityFilter>,
    /// `None` until a caller needs the subscribed resources, because their URIs occupy memory.
    subscribed: Option<Arc<SubscribedUris>>,
}

impl Changes {
    /// The default limit of concurrent `subscriptions/listen` requests: 1024.
    const MAX_SUBSCRIPTIONS: usize = 1024;

    /// The changes that a bus carries, visible to every client.
    pub(crate) fn new(bus: Arc<dyn ChangeBus>) -> Self {
        Self(Arc::new(ChangesInner {
            bus,
            subscriptions: Arc::default(),
            max_subscriptions: Self::MAX_SUBSCRIPTIONS,
            visibility: None,
            subscribed: None,
        }))
    }

    /// Sets the bus.
    #[must_use]
    pub fn bus(mut self, bus: Arc<dyn ChangeBus>) -> Self {
        Arc::make_mut(&mut self.0).bus = bus;
        self
    }

    /// Sets the limit of concurrent `subscriptions/listen` requests. Default: 1024.
    // spec: SUB-15
    #[must_use]
    pub fn max_subscriptions(mut self, subscriptions: usize) -> Self {
        Arc::make_mut(&mut self.0).max_subscriptions = subscriptions;
        self
    }

    /// Sends changes of a resource only to clients for which `is_visible` returns true for its URI.
    // spec: GAP-10
    #[must_use]
    pub fn visibility(
        mut self,
        is_visible: impl Fn(&str, &ClientContext, &Extensions) -> bool + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.0).visibility = Some(Arc::new(is_visible));
        self
    }

    /// Returns the resources that clients of this process are subscribed to, whatever the bus. They are counted
    /// from the first call on: subscribers of this value, and of clones that are made afterwards.
    pub fn subscribed_resources(&mut self) -> SubscribedResources {
        let changes = Arc::make_mut(&mut self.0);
        let subscribed = changes.subscribed.get_or_insert_default();
        SubscribedResources::new(subscribed.clone())
    }

    /// Sends a change to all subscribers that are interested in it. Never blocks.
    pub fn publish(&self, event: ChangeEvent) {
        self.0.bus.publish(event);
    }

    /// Subscribes to the changes that `interest` names, whatever their visibility. The caller must have
    /// checked the access to each resource.
    pub fn watch(&self, interest: SubscriptionFilter) -> Watch {
        let mut watch = self.0.bus.watch(interest);
        if let Some(subscribed) = &self.0.subscribed {
            watch.count_uris(subscribed.clone());
        }
        watch
    }

    /// Checks that a subscriber may read a resource. Only such a subscriber is notified of its
    /// changes.
    ///
    /// # Errors
    ///
    /// Returns the gate's fault, or [`Fault::NoSuchItem`] for a resource that is not visible to
    /// the client.
    // spec: GAP-10
    pub(crate) fn check_access(
        &self,
        uri: &str,
        facts: &ClientContext,
        subscriber: &Subscriber,
    ) -> Result<(), Fault> {
        let extensions = &subscriber.extensions;
        if let Some(gate) = &subscriber.gate {
            let read = Call::ReadResource(ReadResourceParams::from(uri));
            authorization::admit(&**gate, &read, facts, extensions.get())?;
        }
        let visibility = self.0.visibility.as_ref();
        let is_visible = catch_panic_sync(|| {
            visibility.is_none_or(|is_visible| is_visible(uri, facts, extensions))
        });
        // A panic of the filter hides the resource.
        if is_visible.unwrap_or(false) {
            return Ok(());
        }
        Err(Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: uri.into(),
        })
    }

    /// Returns the number of running `subscriptions/listen` requests.
    pub fn active_subscriptions(&self) -> usize {
        self.0.subscriptions.load(Ordering::Relaxed)
    }

    /// Counts one more subscription, until the permit is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when the subscription limit is reached.
    // spec: SUB-15
    pub(crate) fn acquire_permit(&self) -> Result<SubscriptionPermit, Fault> {
        let active = self.0.subscriptions.fetch_add(1, Ordering::Relaxed);
        let permit = SubscriptionPermit(self.0.subscriptions.clone());
        if active < self.0.max_subscriptions {
            return Ok(permit);
        }
        let message = format_args!("this server has {active} subscriptions already");
        Err(Fault::overloaded(message, RETRY_AFTER))
    }
}

impl<B: ChangeBus> From<Arc<B>> for Changes {
    fn from(bus: Arc<B>) -> Self {
        Self::new(bus)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("active_subscriptions", &self.active_subscriptions())
            .field("max_subscriptions", &self.0.max_subscriptions)
            .finish_non_exhaustive()
    }
}

/// One counted subscription. Dropping it makes space for another one.
#[derive(Debug)]
pub(crate) struct SubscriptionPermit(Arc<AtomicUsize>);

impl Drop for SubscriptionPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
