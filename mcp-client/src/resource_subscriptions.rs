//! Resource subscriptions of a legacy session.

use std::collections::HashMap;

use mcp_types::SubscriptionFilter;
use parking_lot::Mutex;

/// The resources that a session is subscribed to, each with the number of its subscribers in this
/// program.
#[derive(Debug, Default)]
pub(crate) struct ResourceSubscriptions(Mutex<HashMap<String, usize>>);

impl ResourceSubscriptions {
    /// Adds a subscriber. Returns whether it is the first one of this resource.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let mut subscriptions = self.0.lock();
        let count = subscriptions.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Removes a subscriber. Returns whether it was the last one of this resource.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        let mut subscriptions = self.0.lock();
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

    pub(crate) fn uris(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    /// Returns a filter for every change that the session may notify of: all lists and the
    /// subscribed resources.
    pub(crate) fn full_filter(&self) -> SubscriptionFilter {
        let lists = SubscriptionFilter::new().tools_changed().prompts_changed();
        let uris = self.uris().into_iter();
        uris.fold(lists.resources_changed(), SubscriptionFilter::resource)
    }
}
