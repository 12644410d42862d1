//! [`Subscription`]: a stream of changes.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use http::HeaderMap;
use mcp_types::SubscriptionFilter;

use crate::error::Error;
use crate::notifications::Change;

/// Subscription options, used when the subscription starts and when it is opened again.
#[derive(Debug, Clone)]
pub(super) struct SubscribeOptions {
    pub(super) headers: HeaderMap,
    pub(super) timeout: Option<Duration>,
    pub(super) retry_for: Duration,
    /// Delivers notifications of extensions that the client declares.
    pub(super) with_extensions: bool,
}

/// A stream of server changes. Dropping it ends the subscription.
///
/// A broken stream is opened again with exponential backoff, starting at half a second, and then
/// yields [`Change::Missed`]. The stream ends without an error when the server ends the
/// subscription. Any other end yields an error first.
///
/// Changes are read when the stream is polled. No background task is involved.
pub struct Subscription {
    requested: SubscriptionFilter,
    granted: SubscriptionFilter,
    changes: Changes,
}

type Changes = Pin<Box<dyn Stream<Item = Result<Change, Error>> + Send>>;

impl Subscription {
    pub(super) fn new(
        requested: SubscriptionFilter,
        granted: SubscriptionFilter,
        changes: impl Stream<Item = Result<Change, Error>> + Send + 'static,
    ) -> Self {
        Self {
            requested,
            granted,
            changes: Box::pin(changes),
        }
    }

    /// Returns the changes that the server granted when the subscription started.
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
    }

    /// Returns the requested changes that the server did not grant.
    // spec: SUB-05
    pub fn refused(&self) -> SubscriptionFilter {
        let (requested, granted) = (&self.requested, &self.granted);
        let mut refused = SubscriptionFilter::new();
        refused.tools_list_changed = requested.tools_list_changed && !granted.tools_list_changed;
        refused.prompts_list_changed =
            requested.prompts_list_changed && !granted.prompts_list_changed;
        refused.resources_list_changed =
            requested.resources_list_changed && !granted.resources_list_changed;
        refused.resource_subscriptions = difference(
            &requested.resource_subscriptions,
            &granted.resource_subscriptions,
        );
        refused.events_list_changed = requested.events_list_changed && !granted.events_list_changed;
        refused.task_ids = difference(&requested.task_ids, &granted.task_ids);
        refused
    }
}

fn difference(requested: &[String], granted: &[String]) -> Vec<String> {
    let refused = requested.iter().filter(|uri| !granted.contains(uri));
    refused.cloned().collect()
}

impl Stream for Subscription {
    type Item = Result<Change, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", &self.granted)
            .finish_non_exhaustive()
    }
}
