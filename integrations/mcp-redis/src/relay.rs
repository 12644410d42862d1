//! The relay between nodes, on pub/sub.

mod inbox;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{RelayMessage, RelayTarget, SessionRelay, StoreError};
use parking_lot::Mutex;
use redis::cmd;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::connection::{Commands, script, to_json};
use crate::error::RedisError;
use crate::pub_sub::{PubSub, Receiver};
use inbox::RelayInbox;

/// Time between two attempts to reach a node that is not connected at the moment.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Time until a message is repeated that a subscriber has not acknowledged.
const ACKNOWLEDGE_TIME: Duration = Duration::from_millis(500);
/// Acknowledgments that may wait to be sent. Further ones are dropped: the sender repeats its message.
const MAX_ACKNOWLEDGMENTS: usize = 1024;
/// Acknowledgments that are sent together.
const ACKNOWLEDGMENT_BATCH: usize = 64;
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
/// A node acknowledges the messages that are for it alone. Without an acknowledgment, a message is repeated until the
/// time limit of operations ([`Redis::timeout`](crate::Redis::timeout)): Redis counts a connection that was cut, or
/// whose node hangs, as a subscriber. Each node writes a mark every 500 ms; without it, other
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
    _acknowledgments: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Inbox {
    node: u32,
    messages: RelayInbox,
    /// The node and the number of each message that this node has to acknowledge.
    received: mpsc::Sender<(u32, u64)>,
    last_number: AtomicU64,
    /// Own messages that another node has to acknowledge.
    unacknowledged: Mutex<HashMap<u64, oneshot::Sender<()>>>,
}

/// A message with the number of the node that sent it. Without a message, it acknowledges the one with `number`.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope {
    from: u32,
    /// The number by which the receiver acknowledges the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(flatten)]
    message: Option<RelayMessage>,
}

/// A message that waits for its acknowledgment.
struct Unacknowledged<'a> {
    inbox: &'a Inbox,
    number: u64,
    acknowledged: oneshot::Receiver<()>,
}

impl Drop for Unacknowledged<'_> {
    fn drop(&mut self) {
        self.inbox.unacknowledged.lock().remove(&self.number);
    }
}

impl Inbox {
    /// Returns the number for a message that another node has to acknowledge.
    fn new_message(&self) -> Unacknowledged<'_> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, acknowledged) = oneshot::channel();
        self.unacknowledged.lock().insert(number, sender);
        Unacknowledged {
            inbox: self,
            number,
            acknowledged,
        }
    }
}

impl RedisRelay {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>, runtime: &Handle) -> Self {
        // 20 bits, from 1.
        let (random, ..) = Uuid::new_v4().as_fields();
        let node = (random >> 12).max(1);
        let (received, acknowledgments) = mpsc::channel(MAX_ACKNOWLEDGMENTS);
        let inbox = Arc::new(Inbox {
            node,
            messages: RelayInbox::default(),
            received,
            last_number: AtomicU64::new(0),
            unacknowledged: Mutex::default(),
        });
        // Several endpoints of one process share the channel of all nodes.
        pub_sub.subscribe(redis.keys.relay(), &inbox);
        pub_sub.subscribe(redis.keys.node(node), &inbox);
        let heart = runtime.spawn(beat(redis.clone(), node));
        let acknowledgments = runtime.spawn(acknowledge(redis.clone(), node, acknowledgments));
        Self {
            redis,
            node,
            inbox,
            _pub_sub: pub_sub,
            ended: Mutex::default(),
            _heart: AbortOnDropHandle::new(heart),
            _acknowledgments: AbortOnDropHandle::new(acknowledgments),
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

/// Acknowledges received messages until the task is aborted.
async fn acknowledge(redis: Commands, node: u32, mut received: mpsc::Receiver<(u32, u64)>) {
    const OPERATION: &str = "acknowledge messages";

    let mut messages = Vec::new();
    while received
        .recv_many(&mut messages, ACKNOWLEDGMENT_BATCH)
        .await
        > 0
    {
        let mut publish = redis::pipe();
        for (sender, number) in messages.drain(..) {
            let envelope = Envelope {
                from: node,
                number: Some(number),
                message: None,
            };
            if let Ok(json) = to_json(OPERATION, &envelope) {
                publish.publish(redis.keys.node(sender), json).ignore();
            }
        }
        let sent: Result<(), RedisError> = redis.pipeline(OPERATION, &publish).await;
        if let Err(error) = sent {
            tracing::debug!(error = %mcp_types::escaped(&error), "other nodes send their messages again");
        }
    }
}

#[async_trait]
impl SessionRelay for RedisRelay {
    fn node(&self) -> u32 {
        self.node
    }

    async fn send(&self, target: RelayTarget, message: RelayMessage) -> Result<usize, StoreError> {
        let from = self.node;
        let message = Some(message);
        let RelayTarget::Node(node) = target else {
            let number = None;
            let envelope = Envelope {
                from,
                number,
                message,
            };
            let json = to_json("relay a message", &envelope)?;
            let reached = self.publish(&self.redis.keys.relay(), &json).await?;
            return Ok(reached.saturating_sub(1));
        };
        let mut waiting = self.inbox.new_message();
        let envelope = Envelope {
            from,
            number: Some(waiting.number),
            message,
        };
        let json = to_json("relay a message", &envelope)?;
        let channel = self.redis.keys.node(node);
        let deadline = Instant::now() + self.redis.timeout;
        loop {
            let is_subscribed = self.publish(&channel, &json).await? > 0;
            let wait = if is_subscribed {
                ACKNOWLEDGE_TIME
            } else {
                RETRY_DELAY
            };
            let next = Instant::now() + wait;
            let until = next.min(deadline);
            if let Ok(Ok(())) = timeout_at(until, &mut waiting.acknowledged).await {
                return Ok(1);
            }
            if next >= deadline {
                return Ok(0);
            }
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
        let envelope = serde_json::from_slice::<Envelope>(payload);
        match envelope.map(|envelope| (envelope.from, envelope.number, envelope.message)) {
            Ok((from, _, Some(_))) if from == self.node => {}
            Ok((from, number, Some(message))) => {
                if !self.messages.push(message) {
                    tracing::error!("too many messages of other nodes wait; one was dropped");
                } else if let Some(number) = number {
                    // Without the acknowledgment, the message comes again.
                    let _ = self.received.try_send((from, number));
                }
            }
            Ok((_, Some(number), None)) => {
                if let Some(waiting) = self.unacknowledged.lock().remove(&number) {
                    // The sender may have stopped waiting.
                    let _ = waiting.send(());
                }
            }
            _ => {
                tracing::warn!("a message of another node in Redis is invalid; it is ignored");
            }
        }
    }

    async fn subscribed(&self) {}
}
