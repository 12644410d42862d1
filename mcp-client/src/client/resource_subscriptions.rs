//! Resource subscriptions of a legacy session.

use std::collections::HashMap;

use mcp_types::SubscriptionFilter;
use parking_lot::Mutex;

/// The resources that a session is subscribed to, each with the number of its subscribers in this
/// program.
#[derive(Debug, Default)]
pub(crate) struct ResourceSubscriptions {
    counts: Mutex<HashMap<String, usize>>,
    /// Held while a request changes the session's subscriptions: over HTTP two requests have no order.
    requests: tokio::sync::Mutex<()>,
}

impl ResourceSubscriptions {
    /// Adds a subscriber. Returns whether it is the first one of this resource.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let mut subscriptions = self.counts.lock();
        let count = subscriptions.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Removes a subscriber. Returns whether it was the last one of this resource.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        let mut subscriptions = self.counts.lock();
        let Some(count) = subscriptions.get_mut(uri) else {
            return false;
        };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            subscriptions.remove(uri);
        }
        is_last
    }

    /// Returns whether a resource has a subscriber.
    pub(crate) fn contains(&self, uri: &str) -> bool {
        self.counts.lock().contains_key(uri)
    }

    /// Waits for the requests that change the subscriptions. None is sent until the guard is dropped.
    pub(crate) async fn lock_requests(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.requests.lock().await
    }

    pub(crate) fn uris(&self) -> Vec<String> {
        self.counts.lock().keys().cloned().collect()
    }

    /// Returns a filter for every change that the session may notify of: all lists and the
    /// subscribed resources.
    pub(crate) fn full_filter(&self) -> SubscriptionFilter {
        let lists = SubscriptionFilter::new().tools_changed().prompts_changed();
        let uris = self.uris().into_iter();
        uris.fold(lists.resources_changed(), SubscriptionFilter::resource)
    }
}
