//! The relay between nodes, on pub/sub.

mod inbox;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{RelayMessage, RelayTarget, SessionRelay, StoreError};
use parking_lot::Mutex;
use redis::cmd;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::RedisError;
use crate::connection::{Commands, script, to_json};
use crate::pub_sub::{PubSub, Receiver};
use inbox::RelayInbox;

/// Time between two attempts to reach a node that is not connected at the moment.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Time between two heartbeats of a node.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Lifetime of the mark that a heartbeat leaves.
const MARK_LIFETIME: Duration = Duration::from_secs(2);
/// Time between the two looks at a missing mark. In this time, a node renews a mark that Redis lost, or one that ended
/// while Redis did not answer.
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// Number of ended nodes that are remembered, so that their next check does not wait.
const MAX_ENDED: usize = 1024;

script!(NUMBER: "relay/number.lua");

/// The relay between nodes. [`Redis::sessions`](crate::Redis::sessions) contains it.
///
/// A message to a node that is not connected with Redis at the moment is repeated until the time limit
/// of operations ([`Redis::timeout`](crate::Redis::timeout)). Each node writes a mark every 500 ms; without it, other
/// nodes regard it as ended after at most 4 seconds.
#[derive(Debug)]
pub struct RedisRelay {
    redis: Commands,
    node: u32,
    inbox: Arc<Inbox>,
    /// Keeps the subscriptions.
    _pub_sub: Arc<PubSub>,
    /// Nodes without a mark.
    ended: Mutex<HashSet<u32>>,
    _heart: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Inbox {
    node: u32,
    messages: RelayInbox,
}

/// A message with the number of the node that sent it.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope {
    from: u32,
    #[serde(flatten)]
    message: RelayMessage,
}

impl RedisRelay {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>, runtime: &Handle) -> Self {
        // 20 bits, from 1.
        let (random, ..) = Uuid::new_v4().as_fields();
        let node = (random >> 12).max(1);
        let inbox = Arc::new(Inbox {
            node,
            messages: RelayInbox::default(),
        });
        // Several endpoints of one process share the channel of all nodes.
        pub_sub.subscribe(redis.keys.relay(), &inbox);
        pub_sub.subscribe(redis.keys.node(node), &inbox);
        let heart = runtime.spawn(beat(redis.clone(), node));
        Self {
            redis,
            node,
            inbox,
            _pub_sub: pub_sub,
            ended: Mutex::default(),
            _heart: AbortOnDropHandle::new(heart),
        }
    }

    async fn has_mark(&self, node: u32) -> Result<bool, RedisError> {
        let mut exists = cmd("EXISTS");
        exists.arg(self.redis.keys.node_mark(node));
        self.redis.command("look for a node", &exists).await
    }

    /// Publishes a message. Returns the number of nodes that received it.
    async fn publish(&self, channel: &str, json: &[u8]) -> Result<usize, RedisError> {
        let mut publish = cmd("PUBLISH");
        publish.arg(channel).arg(json);
        self.redis.command("relay a message", &publish).await
    }
}

/// Marks a node as alive until the task is aborted.
async fn beat(redis: Commands, node: u32) {
    loop {
        let key = redis.keys.node_mark(node);
        let mark = redis.set("mark a node", key, "", MARK_LIFETIME, None);
        if let Err(error) = mark.await {
            tracing::debug!(error = %mcp_types::escaped(&error), "other nodes may regard this one as ended");
        }
        sleep(HEARTBEAT).await;
    }
}

#[async_trait]
impl SessionRelay for RedisRelay {
    fn node(&self) -> u32 {
        self.node
    }

    async fn send(&self, target: RelayTarget, message: RelayMessage) -> Result<usize, StoreError> {
        let from = self.node;
        let json = to_json("relay a message", &Envelope { from, message })?;
        let RelayTarget::Node(node) = target else {
            let reached = self.publish(&self.redis.keys.relay(), &json).await?;
            return Ok(reached.saturating_sub(1));
        };
        let channel = self.redis.keys.node(node);
        let deadline = Instant::now() + self.redis.timeout;
        loop {
            let reached = self.publish(&channel, &json).await?;
            if reached > 0 || Instant::now() + RETRY_DELAY > deadline {
                return Ok(reached);
            }
            sleep(RETRY_DELAY).await;
        }
    }

    async fn is_alive(&self, node: u32) -> Result<bool, StoreError> {
        if !self.has_mark(node).await? {
            if self.ended.lock().contains(&node) {
                return Ok(false);
            }
            sleep(SECOND_LOOK).await;
            if !self.has_mark(node).await? {
                let mut ended = self.ended.lock();
                if ended.len() >= MAX_ENDED {
                    ended.clear();
                }
                ended.insert(node);
                return Ok(false);
            }
        }
        self.ended.lock().remove(&node);
        Ok(true)
    }

    async fn next_number(&self) -> Result<u64, StoreError> {
        let number = NUMBER.key(self.redis.keys.numbers());
        Ok(self.redis.script("number a stream", &number).await?)
    }

    async fn receive(&self) -> RelayMessage {
        self.inbox.messages.next().await
    }
}

#[async_trait]
impl Receiver for Inbox {
    fn receive(&self, payload: &[u8]) {
        let Ok(Envelope { from, message }) = serde_json::from_slice(payload) else {
            tracing::warn!("a message of another node in Redis is invalid; it is ignored");
            return;
        };
        if from != self.node && !self.messages.push(message) {
            tracing::error!("too many messages of other nodes wait; one was dropped");
        }
    }

    async fn subscribed(&self) {}
}
