//! What a session is subscribed to, of all subscriptions together.

use std::collections::HashMap;

use mcp_types::SubscriptionFilter;
use parking_lot::Mutex;

/// The resources that a session is subscribed to, and how many want each.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<HashMap<String, usize>>);

impl Watched {
    /// Tells whether nobody wanted it before.
    pub(crate) fn add(&self, uri: &str) -> bool {
        let mut watched = self.0.lock();
        let count = watched.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Tells whether nobody wants it any more.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        let mut watched = self.0.lock();
        let Some(count) = watched.get_mut(uri) else {
            return false;
        };
        *count -= 1;
        let is_unused = *count == 0;
        if is_unused {
            watched.remove(uri);
        }
        is_unused
    }

    pub(crate) fn uris(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    /// All that a session can tell.
    pub(crate) fn everything(&self) -> SubscriptionFilter {
        let lists = SubscriptionFilter::new().tools_changed().prompts_changed();
        let uris = self.uris().into_iter();
        uris.fold(lists.resources_changed(), SubscriptionFilter::resource)
    }
}
