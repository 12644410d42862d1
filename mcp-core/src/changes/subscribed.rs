//! The resources that clients are subscribed to.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_types::SubscriptionFilter;
use parking_lot::Mutex;

use crate::close_signal::CloseSignal;

/// The URIs that subscribers of this process have in their filters, each with the number of subscribers.
///
/// The limits of sessions and subscriptions bound the size.
#[derive(Debug, Default)]
pub(super) struct SubscribedUris(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: HashMap<Arc<str>, usize>,
    /// Counts the changes of the URI set.
    version: u64,
    /// Closes at the next change.
    changed: CloseSignal,
}

impl SubscribedUris {
    /// Replaces the URIs of a subscriber. Readers are notified if the set has changed.
    pub(super) fn replace(
        &self,
        old: Option<&SubscriptionFilter>,
        new: Option<&SubscriptionFilter>,
    ) {
        let uris = |filter| Option::map_or(filter, &[][..], resource_uris);
        let mut state = self.0.lock();
        // Added first, so that a URI of both never leaves the set.
        let added = uris(new).iter().filter(|uri| state.add(uri)).count();
        let removed = uris(old).iter().filter(|uri| state.remove(uri)).count();
        if added + removed == 0 {
            return;
        }
        state.version += 1;
        let changed = std::mem::take(&mut state.changed);
        drop(state);
        changed.close(());
    }
}

fn resource_uris(filter: &SubscriptionFilter) -> &[String] {
    &filter.resource_subscriptions
}

impl State {
    /// Returns true if the URI has its first subscriber.
    fn add(&mut self, uri: &str) -> bool {
        if let Some(count) = self.counts.get_mut(uri) {
            *count += 1;
            return false;
        }
        self.counts.insert(uri.into(), 1);
        true
    }

    /// Returns true if the URI has no subscriber any more.
    fn remove(&mut self, uri: &str) -> bool {
        let Some(count) = self.counts.get_mut(uri) else {
            return false;
        };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.counts.remove(uri);
        }
        is_last
    }
}

/// The resources that this process's clients are subscribed to, by `resources/subscribe` or
/// `subscriptions/listen`.
///
/// A program that has to watch its resources, or that subscribes to them at another server, watches only
/// those that a client needs. Get it from [`Changes::subscribed_resources`](super::Changes::subscribed_resources).
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn example() {
/// let server = Server::new("files", "1.0.0");
/// let mut subscribed = server.subscribed_resources();
/// tokio::spawn(async move {
///     loop {
///         subscribed.changed().await;
///         println!("watching {:?}", subscribed.uris());
///     }
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct SubscribedResources {
    uris: Arc<SubscribedUris>,
    seen: u64,
}

impl SubscribedResources {
    pub(super) fn new(uris: Arc<SubscribedUris>) -> Self {
        Self { uris, seen: 0 }
    }

    /// Returns the URIs that have subscribers now, in no particular order. A URI may be above those of resources:
    /// subscribers of `file:///logs` receive changes of `file:///logs/today`.
    pub fn uris(&self) -> Vec<Arc<str>> {
        self.uris.0.lock().counts.keys().cloned().collect()
    }

    /// Waits until the set has changed since the last call. Several changes are reported as one. The first call
    /// returns at once if there are subscribers already.
    ///
    /// # Cancel safety
    ///
    /// A dropped future reports no change, so the next call does.
    pub async fn changed(&mut self) {
        let next = {
            let state = self.uris.0.lock();
            (state.version == self.seen).then(|| state.changed.closed())
        };
        if let Some(next) = next {
            next.await;
        }
        self.seen = self.uris.0.lock().version;
    }
}
