//! Subscriptions to changes (`subscriptions/listen`), as the server runs them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

mod filter;

use std::fmt;
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::{self, BoxStream};
use mcp_types::meta::keys;
use mcp_types::{ListenResult, Method, SubscriptionFilter};

pub(crate) use filter::MAX_URI_LEN;
use filter::offered;
pub use filter::{MAX_ID_LEN, MAX_TASKS, MAX_URI_BYTES, MAX_URIS};
pub(crate) use filter::{authorize, check_client, check_size};

use crate::authorization::{CallerKey, Gate};
use crate::call::{NotificationSender, Service};
use crate::changes::{ChangeEvent, Changes, Subscriber, SubscriptionPermit, Watch};
use crate::connection::{ClientContext, Extensions};
use crate::extension;
use crate::message::{Fault, Reply, ResultBody, ServerNotification};

/// Returns the notification of a change, or `None` when the granted filter does not cover it.
// spec: SUB-02
fn notification_for(
    granted: &SubscriptionFilter,
    event: ChangeEvent,
) -> Option<ServerNotification> {
    let is_granted = match &event {
        ChangeEvent::Tools => granted.tools_list_changed,
        ChangeEvent::Prompts => granted.prompts_list_changed,
        ChangeEvent::Resources => granted.resources_list_changed,
        ChangeEvent::Resource { uri } => granted.covering(uri).is_some(),
        // The client asks for them by declaring the extension.
        ChangeEvent::Notification(_) => true,
    };
    is_granted.then(|| event.into())
}

/// The transport's part in a subscription: its end and its clock.
#[derive(Default)]
pub(crate) struct ListenHooks {
    /// Ends the subscription with a response when it is ready.
    pub(crate) end: Option<BoxFuture<'static, ()>>,
    /// Returns the pause after a round of changes.
    pub(crate) pause: Option<Pause>,
    /// The gate that the subscriber has to pass for each resource.
    pub(crate) gate: Option<Arc<dyn Gate>>,
}

pub(crate) type Pause = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

impl fmt::Debug for ListenHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenHooks")
            .field("ends", &self.end.is_some())
            .field("gated", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}

/// Serves a subscription. The future is ready after the end hook was; dropping it ends the
/// subscription abruptly.
pub(crate) fn serve(
    filter: SubscriptionFilter,
    service: &dyn Service,
    (facts, extensions): (Arc<ClientContext>, Extensions),
    notifications: NotificationSender,
    hooks: ListenHooks,
) -> BoxFuture<'static, Reply> {
    // spec: BASE-20
    let Some(changes) = service.changes() else {
        let fault = Fault::no_such_method(Method::Listen.as_str());
        return Box::pin(ready(fault.into()));
    };
    let permit = match changes.acquire_permit() {
        Ok(permit) => permit,
        Err(fault) => return Box::pin(ready(fault.into())),
    };
    let engine = service.task_engine();
    let engine = engine.filter(|_| !filter.task_ids.is_empty());
    // spec: SUB-13
    if engine.is_some() && !facts.declares_tasks() {
        return Box::pin(ready(Fault::tasks_undeclared().into()));
    }
    let tasks = engine.map(|tasks| tasks.subscribe(filter.task_ids.clone(), &facts, &extensions));
    let mut granted = offered(filter, &service.profile().capabilities);
    let subscriber = Subscriber {
        extensions,
        gate: hooks.gate,
    };
    granted
        .resource_subscriptions
        .retain(|uri| changes.check_access(uri, &facts, &subscriber).is_ok());
    let watch = changes.watch(granted.clone());
    let ids = extensions_of(&granted, &facts, service);
    let has_extensions = !ids.is_empty();
    let caller = CallerKey::new(subscriber.extensions.get());
    watch.add_notifications(ids, None, caller);
    let mut running = RunningSubscription {
        granted,
        has_extensions,
        watch,
        changes,
        facts,
        subscriber,
        notifications,
        pause: hooks.pause,
        _permit: permit,
    };
    match tasks {
        None => Box::pin(running.run(stream::pending().boxed(), hooks.end)),
        // spec: TASK-19
        Some(tasks) => Box::pin(async move {
            let tasks = match tasks.await {
                Ok(tasks) => tasks,
                Err(fault) => return fault.into(),
            };
            running.granted.task_ids = tasks.granted;
            let notifications = tasks.notifications.chain(stream::pending()).boxed();
            running.run(notifications, hooks.end).await
        }),
    }
}

/// Returns the extensions whose notifications a subscription receives: those that both sides declare. The
/// events extension has a field of the filter instead.
fn extensions_of(
    granted: &SubscriptionFilter,
    facts: &ClientContext,
    service: &dyn Service,
) -> Vec<Box<str>> {
    let offers = &service.profile().capabilities;
    let mut ids = extension::common(&facts.capabilities, offers);
    ids.retain(|id| **id != *keys::EVENTS_EXTENSION);
    if granted.events_list_changed {
        ids.push(keys::EVENTS_EXTENSION.into());
    }
    ids
}

struct RunningSubscription {
    granted: SubscriptionFilter,
    /// Notifications of extensions belong to the subscription.
    has_extensions: bool,
    watch: Watch,
    changes: Changes,
    facts: Arc<ClientContext>,
    subscriber: Subscriber,
    notifications: NotificationSender,
    pause: Option<Pause>,
    _permit: SubscriptionPermit,
}

impl RunningSubscription {
    async fn run(
        self,
        tasks: BoxStream<'static, ServerNotification>,
        end: Option<BoxFuture<'static, ()>>,
    ) -> Reply {
        let end = end.unwrap_or_else(|| Box::pin(pending()));
        select(pin!(self.send_all(tasks)), end).await;
        // Changes that are still unread are sent if there is space.
        while let Some(event) = self.watch.try_next() {
            if let Some(notification) = self.notification_for(event) {
                self.notifications.try_send(notification);
            }
        }
        // The wire adds the id of the request.
        // spec: SUB-09, SUB-10, GAP-01
        ResultBody::Listen(ListenResult::default()).into()
    }

    /// Sends the acknowledgement, then changes, without end. While the client reads slowly this
    /// waits, and the watch merges the changes. A subscription of which nothing is granted ends after the
    /// acknowledgement, so that it does not occupy one of the places.
    // spec: SUB-03, SUB-04
    async fn send_all(&self, mut tasks: BoxStream<'static, ServerNotification>) {
        let acknowledged = ServerNotification::Acknowledged(self.granted.clone());
        self.notifications.send(acknowledged).await;
        if self.granted == SubscriptionFilter::default() && !self.has_extensions {
            return;
        }
        loop {
            let change = poll_fn(|cx| self.watch.poll_change(cx));
            let mut event = match select(change, tasks.next()).await {
                Either::Left((change, _)) => Some(change),
                Either::Right((notification, _)) => {
                    if let Some(notification) = notification {
                        self.notifications.send(notification).await;
                    }
                    None
                }
            };
            while let Some(change) = event {
                if let Some(notification) = self.notification_for(change) {
                    self.notifications.send(notification).await;
                }
                event = self.watch.try_next();
            }
            if let Some(pause) = &self.pause {
                pause().await;
            }
        }
    }

    /// Returns the notification of a change. Access to a resource is checked for each change: it
    /// may be below the URI that was subscribed to, and the rules may have changed.
    // spec: GAP-10
    fn notification_for(&self, event: ChangeEvent) -> Option<ServerNotification> {
        if let ChangeEvent::Resource { uri } = &event {
            let access = self
                .changes
                .check_access(uri, &self.facts, &self.subscriber);
            access.ok()?;
        }
        notification_for(&self.granted, event)
    }
}

#[cfg(test)]
mod tests;
