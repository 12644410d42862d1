//! The change bus, which delivers changes to subscribers, and its implementation within one process.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use mcp_types::SubscriptionFilter;
use parking_lot::Mutex;
use slab::Slab;

use super::event::ChangeEvent;
use super::notifications::BroadcastQueue;
use super::subscribed::SubscribedUris;
use crate::authorization::CallerKey;

/// A bus that carries changes from handlers to subscribers: within one process ([`MemoryBus`]), or
/// between the nodes that serve one endpoint.
///
/// To connect several nodes, implement this trait with a message broker. Each node has a [`MemoryBus`]
/// for its own subscribers, and publishes there the events that it receives from the broker.
///
/// # Examples
///
/// ```
/// use mcp::ChangeBus;
/// use mcp::core::{ChangeEvent, MemoryBus, Watch};
/// use mcp::types::SubscriptionFilter;
///
/// # struct Broker;
/// # impl Broker { fn send(&self, _: &ChangeEvent) {} }
/// struct Nodes {
///     broker: Broker,
///     local: MemoryBus,
/// }
///
/// impl ChangeBus for Nodes {
///     fn publish(&self, event: ChangeEvent) {
///         // The broker delivers the event to every node, including this one. Each node then
///         // calls `nodes.local.publish(event)`.
///         self.broker.send(&event);
///     }
///
///     fn watch(&self, interest: SubscriptionFilter) -> Watch {
///         self.local.watch(interest)
///     }
/// }
/// ```
pub trait ChangeBus: Send + Sync + 'static {
    /// Sends a change to all subscribers that are interested in it. Never blocks.
    fn publish(&self, event: ChangeEvent);

    /// Subscribes to the changes that `interest` covers. Earlier changes are not delivered.
    fn watch(&self, interest: SubscriptionFilter) -> Watch;
}

impl<B: ChangeBus + ?Sized> ChangeBus for Arc<B> {
    fn publish(&self, event: ChangeEvent) {
        (**self).publish(event);
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        (**self).watch(interest)
    }
}

/// The bus within one process.
///
/// Changes have no queues. For each subscriber, the bus marks the lists and the resources that have
/// changed, so several changes to one resource are delivered as one event if the subscriber reads slowly.
/// Notifications of extensions wait in a queue of 64 notifications and 256 KiB per subscriber; further
/// ones are dropped.
///
/// The filter of a subscriber bounds its memory. When the marked resources are 64 more than the
/// filter's URIs, the bus replaces the marks below a URI of the filter by one mark for that URI.
#[derive(Debug, Default)]
pub struct MemoryBus {
    subscribers: Arc<Mutex<Subscribers>>,
}

type Subscribers = Slab<Arc<Mutex<Unread>>>;

impl MemoryBus {
    /// Notifies each subscriber that everything in its filter has changed. A bus between nodes
    /// calls it after it may have missed changes.
    pub fn publish_all(&self) {
        let readers: Vec<Waker> = {
            let subscribers = self.subscribers.lock();
            let readers = subscribers.iter().filter_map(|(_, unread)| {
                let mut unread = unread.lock();
                unread.mark_all();
                unread.reader.take()
            });
            readers.collect()
        };
        readers.into_iter().for_each(Waker::wake);
    }

    /// Returns the number of subscribers.
    pub fn subscriber_count(&self) -> usize {
        self.subscribers.lock().len()
    }
}

impl ChangeBus for MemoryBus {
    fn publish(&self, event: ChangeEvent) {
        let readers: Vec<Waker> = {
            let subscribers = self.subscribers.lock();
            let unread = subscribers.iter().map(|(_, unread)| unread);
            unread
                .filter_map(|unread| unread.lock().mark(&event))
                .collect()
        };
        readers.into_iter().for_each(Waker::wake);
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        let unread = Arc::new(Mutex::new(Unread {
            interest: Arc::new(interest).into(),
            ..Unread::default()
        }));
        let key = self.subscribers.lock().insert(unread.clone());
        Watch {
            unread,
            key,
            bus: Arc::downgrade(&self.subscribers),
            subscribed: None,
        }
    }
}

/// The filter of one subscriber, and the changes that the subscriber has not read.
#[derive(Debug, Default)]
struct Unread {
    interest: Interest,
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: BTreeSet<String>,
    /// `None` for a subscriber that shares no extension with the server. Boxed, because every session
    /// has this value and few have extensions.
    notifications: Option<Box<BroadcastQueue>>,
    reader: Option<Waker>,
}

/// The part of a filter that concerns lists and resources. The URIs are behind an `Arc`, because every
/// session has an `Interest`, but few sessions subscribe to resources. The session and the bus share
/// one allocation.
#[derive(Debug, Default)]
struct Interest {
    tools: bool,
    prompts: bool,
    resources: bool,
    by_uri: Option<Arc<SubscriptionFilter>>,
}

impl From<Arc<SubscriptionFilter>> for Interest {
    fn from(filter: Arc<SubscriptionFilter>) -> Self {
        Self {
            tools: filter.tools_list_changed,
            prompts: filter.prompts_list_changed,
            resources: filter.resources_list_changed,
            by_uri: (!filter.resource_subscriptions.is_empty()).then_some(filter),
        }
    }
}

/// Number of marked resources, in addition to one for each URI of the filter, at which marks are merged.
const MAX_BELOW: usize = 64;

impl Unread {
    /// Marks a change if the filter covers it. Returns the waker of the task that waits for a change.
    fn mark(&mut self, event: &ChangeEvent) -> Option<Waker> {
        let interest = &self.interest;
        match event {
            ChangeEvent::Tools if interest.tools => self.tools = true,
            ChangeEvent::Prompts if interest.prompts => self.prompts = true,
            ChangeEvent::Resources if interest.resources => self.resources = true,
            ChangeEvent::Resource { uri } => self.mark_resource(uri)?,
            ChangeEvent::Notification(notification) => {
                let queue = self.notifications.as_mut()?;
                queue.push(notification).then_some(())?;
            }
            _ => return None,
        }
        self.reader.take()
    }

    /// Marks everything that the filter covers.
    fn mark_all(&mut self) {
        self.tools = self.interest.tools;
        self.prompts = self.interest.prompts;
        self.resources = self.interest.resources;
        if let Some(filter) = &self.interest.by_uri {
            let uris = filter.resource_subscriptions.iter();
            self.updated.extend(uris.cloned());
        }
    }

    /// Marks a changed resource. Returns `None` if the filter does not cover the resource.
    fn mark_resource(&mut self, uri: &str) -> Option<()> {
        let interest = self.interest.by_uri.as_ref()?;
        let subscribed = interest.covering(uri)?;
        let capacity = interest.resource_subscriptions.len() + MAX_BELOW;
        if subscribed == uri || self.updated.contains(uri) || self.updated.len() < capacity {
            self.updated.insert(uri.to_owned());
            return Some(());
        }
        self.updated
            .retain(|other| interest.covering(other) != Some(subscribed));
        self.updated.insert(subscribed.to_owned());
        Some(())
    }

    fn pop(&mut self) -> Option<ChangeEvent> {
        if std::mem::take(&mut self.tools) {
            return Some(ChangeEvent::Tools);
        }
        if std::mem::take(&mut self.prompts) {
            return Some(ChangeEvent::Prompts);
        }
        if std::mem::take(&mut self.resources) {
            return Some(ChangeEvent::Resources);
        }
        if let Some(uri) = self.updated.pop_first() {
            return Some(ChangeEvent::Resource { uri: uri.into() });
        }
        let notification = self.notifications.as_mut()?.pop()?;
        Some(ChangeEvent::Notification(notification))
    }
}

/// A subscription: an endless stream of changes. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Watch {
    unread: Arc<Mutex<Unread>>,
    key: usize,
    bus: Weak<Mutex<Subscribers>>,
    /// Set where the URIs of all subscribers are counted.
    subscribed: Option<Arc<SubscribedUris>>,
}

impl Watch {
    /// Returns the filter if it has URIs.
    fn by_uri(&self) -> Option<Arc<SubscriptionFilter>> {
        self.unread.lock().interest.by_uri.clone()
    }

    /// Counts the filter's URIs until the subscription ends.
    pub(super) fn count_uris(&mut self, subscribed: Arc<SubscribedUris>) {
        subscribed.replace(None, self.by_uri().as_deref());
        self.subscribed = Some(subscribed);
    }

    /// Replaces the filter. Unread changes stay marked if the new filter covers them.
    pub(crate) fn set_interest(&self, interest: Arc<SubscriptionFilter>) {
        if let Some(subscribed) = &self.subscribed {
            subscribed.replace(self.by_uri().as_deref(), Some(&interest));
        }
        let mut state = self.unread.lock();
        state.tools &= interest.tools_list_changed;
        state.prompts &= interest.prompts_list_changed;
        state.resources &= interest.resources_list_changed;
        state.updated.retain(|uri| interest.covering(uri).is_some());
        state.interest = interest.into();
    }

    /// Adds the notifications of these extensions to a caller's subscription, and those for the session with
    /// this topic.
    // spec: EXT-05, ELIC-10
    pub(crate) fn add_notifications(
        &self,
        extensions: Vec<Box<str>>,
        topic: Option<Arc<str>>,
        caller: CallerKey,
    ) {
        if !extensions.is_empty() || topic.is_some() {
            let queue = BroadcastQueue::new(extensions, topic, caller);
            self.unread.lock().notifications = Some(Box::new(queue));
        }
    }

    /// Returns the notification topic for the session alone.
    pub(crate) fn topic(&self) -> Option<Arc<str>> {
        let state = self.unread.lock();
        state.notifications.as_ref()?.topic.clone()
    }

    /// Marks everything that the filter covers as changed.
    pub(crate) fn mark_all(&self) {
        self.unread.lock().mark_all();
    }

    /// Returns the next change, or `None` if all changes have been read.
    pub fn try_next(&self) -> Option<ChangeEvent> {
        self.unread.lock().pop()
    }

    /// Polls for the next change. Only the task that polled last is woken.
    pub fn poll_change(&self, cx: &mut Context<'_>) -> Poll<ChangeEvent> {
        let mut state = self.unread.lock();
        match state.pop() {
            Some(event) => Poll::Ready(event),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Stream for Watch {
    type Item = ChangeEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ChangeEvent>> {
        self.poll_change(cx).map(Some)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(subscribed) = &self.subscribed {
            subscribed.replace(self.by_uri().as_deref(), None);
        }
        if let Some(subscribers) = self.bus.upgrade() {
            subscribers.lock().try_remove(self.key);
        }
    }
}
