//! The resources that a client subscribed to (`resources/subscribe`).
//!
//! The URIs are stored once: in the filter that the session shares with the bus of changes.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions>

use std::sync::Arc;

use mcp_types::{Method, SubscriptionFilter};

use super::{Session, SessionState, offered_lists};
use crate::changes::Subscriber;
use crate::inbound::subscriptions::{MAX_URI_BYTES, MAX_URI_LEN};
use crate::message::Fault;

impl Session {
    // spec: SUB-14, RSRC-12, GAP-10
    pub(super) fn subscribe(&self, uri: &str, subscriber: &Subscriber) -> Result<(), Fault> {
        self.check_subscriptions(Method::Subscribe)?;
        check_uri(uri)?;
        if let Some(watched) = &self.changes {
            watched
                .changes
                .check_access(uri, &self.facts(), subscriber)?;
        }
        let mut state = self.state.lock();
        let uris = state.subscribed_uris();
        let Err(index) = find(uris, uri) else {
            return Ok(());
        };
        self.check_total(uris, uri)?;
        let mut filter = self.filter(&state);
        filter.resource_subscriptions.insert(index, uri.to_owned());
        self.set_filter(&mut state, filter);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) -> Result<(), Fault> {
        self.check_subscriptions(Method::Unsubscribe)?;
        let mut state = self.state.lock();
        if let Ok(index) = find(state.subscribed_uris(), uri) {
            let mut filter = self.filter(&state);
            filter.resource_subscriptions.remove(index);
            self.set_filter(&mut state, filter);
        }
        Ok(())
    }

    /// Replaces the subscriptions by those of a stored record. URIs beyond the limits of this node
    /// are dropped.
    pub(super) fn replace_subscriptions(&self, state: &mut SessionState, mut uris: Vec<String>) {
        uris.sort_unstable();
        uris.dedup();
        let mut bytes = 0;
        uris.retain(|uri| {
            let fits = uri.len() <= MAX_URI_LEN && bytes + uri.len() <= MAX_URI_BYTES;
            bytes += if fits { uri.len() } else { 0 };
            fits
        });
        uris.truncate(self.limits.subscriptions);
        if state.subscribed_uris() != uris {
            let mut filter = offered_lists(&self.profile.capabilities);
            filter.resource_subscriptions = uris;
            self.set_filter(state, filter);
        }
    }

    /// Returns a copy of the session's filter.
    fn filter(&self, state: &SessionState) -> SubscriptionFilter {
        match &state.subscriptions {
            Some(filter) => SubscriptionFilter::clone(filter),
            None => offered_lists(&self.profile.capabilities),
        }
    }

    fn set_filter(&self, state: &mut SessionState, filter: SubscriptionFilter) {
        let filter = Arc::new(filter);
        if let Some(changes) = &self.changes {
            changes.watch.set_interest(filter.clone());
        }
        let has_uris = !filter.resource_subscriptions.is_empty();
        state.subscriptions = has_uris.then_some(filter);
    }

    /// Checks that one more subscription is within the session's limits.
    fn check_total(&self, uris: &[String], uri: &str) -> Result<(), Fault> {
        let count = self.limits.subscriptions;
        let bytes: usize = uris.iter().map(String::len).sum();
        if uris.len() < count && bytes + uri.len() <= MAX_URI_BYTES {
            return Ok(());
        }
        let text = format!(
            "this session has {} subscriptions with {bytes} bytes already; it can have {count} with \
             {MAX_URI_BYTES}. End one first",
            uris.len()
        );
        Err(Fault::Refused(text.into()))
    }

    fn check_subscriptions(&self, method: Method) -> Result<(), Fault> {
        let resources = self.profile.capabilities.resources.as_ref();
        if resources.is_some_and(|offer| offer.subscribe == Some(true)) {
            return Ok(());
        }
        Err(Fault::no_such_method(method.as_str()))
    }
}

impl SessionState {
    /// Returns the URIs that the client subscribed to, in ascending order.
    pub(super) fn subscribed_uris(&self) -> &[String] {
        let filter = self.subscriptions.as_deref();
        filter.map_or(&[], |filter| &filter.resource_subscriptions)
    }
}

fn find(uris: &[String], uri: &str) -> Result<usize, usize> {
    uris.binary_search_by(|other| other.as_str().cmp(uri))
}

fn check_uri(uri: &str) -> Result<(), Fault> {
    let bytes = uri.len();
    if bytes <= MAX_URI_LEN {
        return Ok(());
    }
    let text = format!("`params.uri`: {bytes} bytes; a URI can have {MAX_URI_LEN}");
    Err(Fault::bad_params(text))
}
