//! Subscriptions in a legacy session: resources are subscribed by `resources/subscribe`, and the
//! server sends list changes without a subscription.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream;
use mcp_core::SessionRequest;
use mcp_types::meta::keys;
use mcp_types::{ListChangedCapability, ServerCapabilities, SubscribeParams, SubscriptionFilter};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::subscription::{SubscribeOptions, Subscription};
use crate::call;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::notifications::Change;
use crate::options::CallOptions;

// spec: SUB-14
pub(super) async fn subscribe(
    client: Client,
    requested: SubscriptionFilter,
    options: SubscribeOptions,
) -> Result<Subscription, Error> {
    let capabilities = client.server_capabilities().unwrap_or_default();
    wait_for_messages(&client).await;
    let mut granted = granted_lists(&requested, &capabilities);
    let mut resources = ResourceGuard {
        client,
        uris: Vec::new(),
    };
    if allows_subscribe(&capabilities) {
        for uri in &requested.resource_subscriptions {
            match resources.subscribe(uri, &options).await {
                Ok(()) => granted = granted.resource(uri),
                // The server refuses this resource, so it is not granted.
                Err(error) if error.fault().is_some() => {}
                Err(error) => return Err(error),
            }
        }
    }
    // Last, because changes before this point are not changes of this subscription: neither those of
    // lists nor those that a renewal of the session may have missed.
    let changes = resources.client.inner.events.changes.subscribe();
    // A server that does not declare its notifications may send them all the same.
    let mut obeyed = granted.clone();
    obeyed.tools_list_changed = requested.tools_list_changed;
    obeyed.prompts_list_changed = requested.prompts_list_changed;
    obeyed.resources_list_changed = requested.resources_list_changed;
    let stream = SessionChanges {
        resources,
        obeyed,
        granted: granted.clone(),
        changes,
    };
    let changes = stream::try_unfold(stream, |mut stream| async move {
        let next = stream.next_change().await?;
        Ok(next.map(|change| (change, stream)))
    });
    Ok(Subscription::new(requested, granted, changes))
}

/// Longest wait for a stream of messages that is being opened again.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits while the stream of the server's messages is interrupted. A subscription during the
/// interruption would receive changes from before it, or [`Change::Missed`] at its end. After the wait,
/// both are over, unless the interruption is long: then `Missed` is true.
async fn wait_for_messages(client: &Client) {
    let channel = &client.inner.channel;
    let restored = async {
        if channel.inbound_restored().await {
            // After an interruption the server first repeats the changes that the client missed. They
            // arrive before the response to a ping.
            let ping = SessionRequest::Ping.into();
            let _ = call::run(client, ping, CallOptions::default()).await;
            channel.inbound_restored().await;
            // The dispatcher has taken the last message, and passes it on.
            yield_now().await;
        }
    };
    // After the timeout, the subscription starts during the interruption.
    let _ = timeout(RESTORE_TIMEOUT, restored).await;
}

fn allows_subscribe(capabilities: &ServerCapabilities) -> bool {
    let resources = capabilities.resources.as_ref();
    resources.is_some_and(|resources| resources.subscribe == Some(true))
}

/// Returns the requested lists whose changes the server declares to send.
fn granted_lists(
    requested: &SubscriptionFilter,
    capabilities: &ServerCapabilities,
) -> SubscriptionFilter {
    let declares = |capability: &Option<ListChangedCapability>| {
        capability
            .as_ref()
            .is_some_and(|offered| offered.list_changed == Some(true))
    };
    let resources = capabilities.resources.as_ref();
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = requested.tools_list_changed && declares(&capabilities.tools);
    granted.prompts_list_changed =
        requested.prompts_list_changed && declares(&capabilities.prompts);
    granted.resources_list_changed = requested.resources_list_changed
        && resources.is_some_and(|resources| resources.list_changed == Some(true));
    granted.events_list_changed =
        requested.events_list_changed && capabilities.has_extension(keys::EVENTS_EXTENSION);
    granted
}

/// The changes of a session that one subscription receives.
struct SessionChanges {
    resources: ResourceGuard,
    granted: SubscriptionFilter,
    /// The granted filter, with the requested lists whose notifications the server does not declare.
    obeyed: SubscriptionFilter,
    changes: broadcast::Receiver<Change>,
}

impl SessionChanges {
    async fn next_change(&mut self) -> Result<Option<Change>, Error> {
        loop {
            let closed = pin!(self.resources.client.closed());
            match select(pin!(self.changes.recv()), closed).await {
                Either::Left((Ok(Change::Missed(_)) | Err(RecvError::Lagged(_)), _)) => {
                    return Ok(Some(Change::Missed(self.granted.clone())));
                }
                Either::Left((Ok(change), _)) if change.matches(&self.obeyed) => {
                    return Ok(Some(change));
                }
                Either::Left((Ok(_), _)) => {}
                Either::Left((Err(RecvError::Closed), _)) => return Ok(None),
                Either::Right((reason, _)) => return Err(ErrorKind::closed(reason).into()),
            }
        }
    }
}

/// The resources of one subscription. Dropping it unsubscribes from those that no other
/// subscription uses.
struct ResourceGuard {
    client: Client,
    uris: Vec<String>,
}

impl ResourceGuard {
    async fn subscribe(&mut self, uri: &str, options: &SubscribeOptions) -> Result<(), Error> {
        let subscriptions = &self.client.inner.resource_subscriptions;
        self.uris.push(uri.to_owned());
        if !subscriptions.add(uri) {
            return Ok(());
        }
        let options = CallOptions {
            idle_timeout: options.timeout,
            headers: options.headers.clone(),
            ..CallOptions::default()
        };
        let request = SessionRequest::Subscribe(SubscribeParams::from(uri)).into();
        let _requests = subscriptions.lock_requests().await;
        let result = call::run(&self.client, request, options).await;
        if result.is_err() {
            self.uris.pop();
            subscriptions.remove(uri);
        }
        result.map(drop)
    }
}

impl Drop for ResourceGuard {
    fn drop(&mut self) {
        let inner = &self.client.inner;
        let subscriptions = &inner.resource_subscriptions;
        let uris = std::mem::take(&mut self.uris).into_iter();
        let unused: Vec<_> = uris.filter(|uri| subscriptions.remove(uri)).collect();
        let is_closed = inner.closing.reason().is_some();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if unused.is_empty() || is_closed {
            return;
        }
        let client = self.client.clone();
        runtime.spawn(async move {
            let subscriptions = &client.inner.resource_subscriptions;
            for uri in unused {
                let _requests = subscriptions.lock_requests().await;
                // Subscribed to again meanwhile.
                if subscriptions.contains(&uri) {
                    continue;
                }
                let request = SessionRequest::Unsubscribe(SubscribeParams::from(uri)).into();
                // Best effort: further notifications of the resource are ignored.
                let _ = call::run(&client, request, CallOptions::default()).await;
            }
        });
    }
}
