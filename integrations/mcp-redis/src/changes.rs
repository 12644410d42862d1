//! The bus of changes, on pub/sub.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::{
    CallerKey, ChangeBus, ChangeEvent, ExtensionNotification, MemoryBus, Principal, Watch,
};
use mcp_types::{RawObject, SubscriptionFilter};
use parking_lot::Mutex;
use redis::cmd;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use crate::connection::{Commands, random_name, script, to_json};
use crate::pub_sub::{PubSub, Receiver};

/// Number of resources that wait for publication. More changes are published as a change of everything.
const MAX_PENDING: usize = 4_096;
/// Number of extension notifications that wait for publication. Further ones are dropped.
const MAX_PENDING_NOTIFICATIONS: usize = 256;
/// Size of these notifications, in bytes: 1 MiB.
const MAX_PENDING_BYTES: usize = 1024 * 1024;
/// Time between two attempts to publish while Redis is not available.
const RETRY_DELAY: Duration = Duration::from_millis(500);

script!(PUBLISH: "changes/publish.lua");

/// A bus of changes between nodes. [`Redis::bus`](crate::Redis::bus) creates it.
///
/// Subscribers of this node are notified at once, and those of other nodes through Redis. While Redis is
/// not available, changes wait, merged, and are published afterwards. Changes are numbered: a node that
/// has missed one, because its connection was interrupted, notifies its subscribers that all their lists
/// and resources have changed.
pub struct RedisBus {
    inner: Arc<BusInner>,
    _publisher: AbortOnDropHandle<()>,
    /// Keeps the subscription.
    _pub_sub: Arc<PubSub>,
}

struct BusInner {
    redis: Commands,
    /// Name of the channel and of the key.
    name: String,
    /// The name of this node, which ignores its own messages.
    node: String,
    local: MemoryBus,
    pending: Mutex<ChangeSet>,
    has_pending: Notify,
    /// The last change that this node knows of.
    last: Mutex<Option<Position>>,
}

/// Number of a change. Numbers of different epochs are not comparable: Redis has lost its data.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    epoch: String,
    number: u64,
}

/// Merged changes, and a message's payload.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ChangeSet {
    node: String,
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: BTreeSet<String>,
    /// Everything may have changed.
    all: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notifications: Vec<PendingNotification>,
}

/// An extension notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PendingNotification {
    extension: String,
    method: String,
    params: RawObject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<NamedCaller>,
}

/// The caller whose clients receive a notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedCaller {
    Anonymous,
    Principal(Principal),
}

impl From<&CallerKey> for NamedCaller {
    fn from(caller: &CallerKey) -> Self {
        match caller.principal() {
            Some(principal) => Self::Principal(principal.clone()),
            None => Self::Anonymous,
        }
    }
}

impl From<NamedCaller> for CallerKey {
    fn from(caller: NamedCaller) -> Self {
        match caller {
            NamedCaller::Anonymous => Self::default(),
            NamedCaller::Principal(principal) => Self::new(Some(&principal)),
        }
    }
}

impl PendingNotification {
    fn size(&self) -> usize {
        self.extension.len() + self.method.len() + self.params.as_str().len()
    }
}

impl ChangeSet {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, event: ChangeEvent) {
        match event {
            ChangeEvent::Tools => self.tools = true,
            ChangeEvent::Prompts => self.prompts = true,
            ChangeEvent::Resources => self.resources = true,
            ChangeEvent::Resource { .. } if self.all => {}
            ChangeEvent::Resource { uri } => {
                self.updated.insert(uri.into());
            }
            ChangeEvent::Notification(notification) => {
                let ExtensionNotification {
                    extension,
                    method,
                    params,
                    caller,
                    ..
                } = &*notification;
                let params = RawObject::from_text(&**params);
                self.notifications
                    .extend(params.ok().map(|params| PendingNotification {
                        extension: extension.to_string(),
                        method: method.to_string(),
                        params,
                        caller: caller.as_ref().map(NamedCaller::from),
                    }));
            }
            // A kind of change that a later version defines.
            _ => self.all = true,
        }
        self.bound();
    }

    /// Adds changes that are older than all of these. The limits drop the newest notifications, as in
    /// [`add`](Self::add).
    fn add_older(&mut self, older: Self) {
        self.tools |= older.tools;
        self.prompts |= older.prompts;
        self.resources |= older.resources;
        self.all |= older.all;
        self.updated.extend(older.updated);
        drop(self.notifications.splice(..0, older.notifications));
        self.bound();
    }

    fn bound(&mut self) {
        if self.all || self.updated.len() > MAX_PENDING {
            self.all = true;
            self.updated.clear();
        }
        self.bound_notifications();
    }

    /// Drops the notifications beyond the limits. They cannot be merged.
    fn bound_notifications(&mut self) {
        let mut bytes = 0;
        let sizes = self.notifications.iter().map(PendingNotification::size);
        let fitting = sizes.take_while(|size| {
            bytes += size;
            bytes <= MAX_PENDING_BYTES
        });
        let fitting = fitting.take(MAX_PENDING_NOTIFICATIONS).count();
        if fitting < self.notifications.len() {
            tracing::warn!("notifications of extensions are dropped: Redis is not available");
            self.notifications.truncate(fitting);
        }
    }

    fn publish(self, bus: &MemoryBus) {
        for PendingNotification {
            extension,
            method,
            params,
            caller,
        } in self.notifications
        {
            let mut notification = ExtensionNotification::new(extension, method, &params);
            notification.caller = caller.map(CallerKey::from);
            bus.publish(ChangeEvent::Notification(Arc::new(notification)));
        }
        if self.all {
            bus.publish_all();
            return;
        }
        let lists = [
            (self.tools, ChangeEvent::Tools),
            (self.prompts, ChangeEvent::Prompts),
            (self.resources, ChangeEvent::Resources),
        ];
        for (_, event) in lists.into_iter().filter(|(changed, _)| *changed) {
            bus.publish(event);
        }
        for uri in self.updated {
            bus.publish(ChangeEvent::Resource { uri: uri.into() });
        }
    }
}

impl RedisBus {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>, runtime: &Handle) -> Self {
        let inner = Arc::new(BusInner {
            name: redis.keys.changes(),
            redis,
            node: random_name(),
            local: MemoryBus::default(),
            pending: Mutex::default(),
            has_pending: Notify::new(),
            last: Mutex::default(),
        });
        let publishing = runtime.spawn(publish_pending(inner.clone()));
        pub_sub.subscribe(inner.name.clone(), &inner);
        Self {
            inner,
            _publisher: AbortOnDropHandle::new(publishing),
            _pub_sub: pub_sub,
        }
    }
}

impl ChangeBus for RedisBus {
    fn publish(&self, event: ChangeEvent) {
        self.inner.local.publish(event.clone());
        self.inner.pending.lock().add(event);
        self.inner.has_pending.notify_one();
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        self.inner.local.watch(interest)
    }
}

impl fmt::Debug for RedisBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBus")
            .field("name", &self.inner.name)
            .field("local", &self.inner.local)
            .finish_non_exhaustive()
    }
}

/// Publishes pending changes. Those that cannot be published are merged with later ones.
async fn publish_pending(bus: Arc<BusInner>) {
    loop {
        let changes = std::mem::take(&mut *bus.pending.lock());
        if changes.is_empty() {
            bus.has_pending.notified().await;
            continue;
        }
        if let Err(error) = bus.send(&changes).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "changes cannot be published; they are published later");
            bus.pending.lock().add_older(changes);
            sleep(RETRY_DELAY).await;
        }
    }
}

impl BusInner {
    async fn send(&self, changes: &ChangeSet) -> Result<(), crate::error::RedisError> {
        let mut changes = changes.clone();
        changes.node.clone_from(&self.node);
        let operation = "publish changes";
        let json = to_json(operation, &changes)?;
        let mut publish = PUBLISH.key(&self.name);
        publish.arg((&self.name, random_name(), json));
        self.redis.script(operation, &publish).await
    }

    /// Records the number of a change. Returns false if changes before it were missed.
    fn advance(&self, position: Position) -> bool {
        let mut last = self.last.lock();
        let is_next = match &*last {
            Some(last) if last.epoch == position.epoch => {
                if position.number <= last.number {
                    // Counted when the subscription was created.
                    return true;
                }
                position.number == last.number + 1
            }
            Some(_) => false,
            None => position.number == 1,
        };
        *last = Some(position);
        is_next
    }

    /// Loads the number of the last change.
    async fn position(&self) -> Result<Option<Position>, crate::error::RedisError> {
        let mut get = cmd("HMGET");
        get.arg(&self.name).arg(&["epoch", "n"]);
        let (epoch, number): (Option<String>, Option<u64>) = self
            .redis
            .command("load the number of changes", &get)
            .await?;
        Ok(epoch
            .zip(number)
            .map(|(epoch, number)| Position { epoch, number }))
    }
}

#[async_trait]
impl Receiver for BusInner {
    fn receive(&self, payload: &[u8]) {
        let Some((position, changes)) = parse(payload) else {
            tracing::warn!(
                "a message about changes in Redis is invalid; everything may have changed"
            );
            self.local.publish_all();
            return;
        };
        if !self.advance(position) {
            self.local.publish_all();
        } else if changes.node != self.node {
            changes.publish(&self.local);
        }
    }

    async fn subscribed(&self) {
        let current = self.position().await;
        let mut last = self.last.lock();
        // Without an answer, changes may have been missed.
        let missed_none = current.as_ref().is_ok_and(|current| *current == *last);
        *last = current.unwrap_or_default();
        drop(last);
        if !missed_none {
            self.local.publish_all();
        }
    }
}

/// Parses `epoch:number:changes`.
fn parse(payload: &[u8]) -> Option<(Position, ChangeSet)> {
    let mut parts = payload.splitn(3, |byte| *byte == b':');
    let (epoch, number, json) = (parts.next()?, parts.next()?, parts.next()?);
    let position = Position {
        epoch: str::from_utf8(epoch).ok()?.to_owned(),
        number: str::from_utf8(number).ok()?.parse().ok()?,
    };
    Some((position, serde_json::from_slice(json).ok()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::{CallerKey, ChangeEvent, ExtensionNotification, Principal};
    use mcp_types::RawObject;

    use super::{ChangeSet, MAX_PENDING, MAX_PENDING_NOTIFICATIONS};

    #[test]
    fn pending_changes_are_bounded() {
        let mut changes = ChangeSet::default();
        for n in 0..2 * MAX_PENDING {
            changes.add(ChangeEvent::Resource {
                uri: format!("a://{n}").into(),
            });
        }
        assert!(changes.all && changes.updated.is_empty());
        let mut few = ChangeSet::default();
        few.add(ChangeEvent::Tools);
        few.add_older(changes);
        assert!(few.all && few.tools && few.updated.is_empty());
    }

    #[test]
    fn notifications_that_were_not_published_stay_first_and_are_kept() {
        let notifications = |numbers: std::ops::Range<usize>| {
            let mut changes = ChangeSet::default();
            for number in numbers {
                let (method, params) = (number.to_string(), RawObject::default());
                let notification = ExtensionNotification::new("x", method, &params);
                changes.add(ChangeEvent::Notification(Arc::new(notification)));
            }
            changes
        };
        let mut pending = notifications(200..400);
        pending.add_older(notifications(0..200));
        let methods = pending.notifications.iter();
        let methods: Vec<usize> = methods.map(|sent| sent.method.parse().unwrap()).collect();
        let oldest: Vec<_> = (0..MAX_PENDING_NOTIFICATIONS).collect();
        assert_eq!(methods, oldest);
    }

    #[test]
    fn notification_keeps_the_caller_that_receives_it() {
        let ada = Principal::new("issuer", "ada").client("app");
        let callers = [
            None,
            Some(CallerKey::default()),
            Some(CallerKey::new(Some(&ada))),
        ];
        let mut changes = ChangeSet::default();
        for caller in callers.clone() {
            let mut notification = ExtensionNotification::new("x", "y", &RawObject::default());
            notification.caller = caller;
            changes.add(ChangeEvent::Notification(Arc::new(notification)));
        }
        let sent = serde_json::to_string(&changes).unwrap();
        let received: ChangeSet = serde_json::from_str(&sent).unwrap();
        let received = received.notifications.into_iter();
        let received = received.map(|notification| notification.caller.map(CallerKey::from));
        assert_eq!(received.collect::<Vec<_>>(), callers, "{sent}");
    }
}
