//! The connection of subscriptions.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use mcp_core::Backoff;
use parking_lot::Mutex;
use redis::aio::{PubSubSink, PubSubStream};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::connection::{Connection, reason};

/// Time limit for each step of a connection, and time between two checks of a silent one.
const STEP_TIMEOUT: Duration = Duration::from_secs(3);
/// Waits before a broken connection opens again.
const FIRST_DELAY: Duration = Duration::from_millis(20);
const MAX_DELAY: Duration = Duration::from_secs(2);

/// A message receiver. It must not block.
#[async_trait]
pub(crate) trait Receiver: Send + Sync {
    /// Receives a message.
    fn receive(&self, payload: &[u8]);

    /// The subscription was created or restored. Messages before this call may be lost.
    async fn subscribed(&self);
}

/// Subscriptions to channels over one connection, which is restored when it breaks.
#[derive(Debug)]
pub(crate) struct PubSub {
    channels: Arc<Channels>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Debug, Default)]
struct Channels {
    receivers: Mutex<HashMap<String, Vec<Weak<dyn Receiver>>>>,
    changed: Notify,
}

impl PubSub {
    /// Starts the connection's task.
    pub(crate) fn start(connection: Arc<Connection>, runtime: &Handle) -> Self {
        let channels = Arc::new(Channels::default());
        let task = runtime.spawn(run(connection, channels.clone()));
        Self {
            channels,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Subscribes to a channel until the receiver is dropped.
    pub(crate) fn subscribe<R: Receiver + 'static>(&self, channel: String, receiver: &Arc<R>) {
        let receiver = Arc::downgrade(receiver);
        let mut receivers = self.channels.receivers.lock();
        receivers.entry(channel).or_default().push(receiver);
        drop(receivers);
        self.channels.changed.notify_one();
    }
}

impl Channels {
    fn find(&self, channel: &str) -> Vec<Arc<dyn Receiver>> {
        let receivers = self.receivers.lock();
        let found = receivers.get(channel).into_iter().flatten();
        found.filter_map(Weak::upgrade).collect()
    }

    /// Returns the channels that have receivers but no subscription in `active`.
    fn missing(&self, active: &[String]) -> Vec<String> {
        let mut receivers = self.receivers.lock();
        receivers.retain(|_, receivers| {
            receivers.retain(|receiver| receiver.strong_count() > 0);
            !receivers.is_empty()
        });
        let missing = receivers.keys().filter(|name| !active.contains(name));
        missing.cloned().collect()
    }

    /// Removes the subscriptions from `active` that have no receivers.
    fn remove_unused(&self, active: &mut Vec<String>) -> Vec<String> {
        let receivers = self.receivers.lock();
        let (used, unused) = std::mem::take(active)
            .into_iter()
            .partition(|name| receivers.contains_key(name));
        *active = used;
        unused
    }
}

async fn run(connection: Arc<Connection>, channels: Arc<Channels>) {
    let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
    loop {
        let started = Instant::now();
        let error = serve(&connection, &channels).await;
        tracing::warn!(error = %mcp_types::escaped(&error), "the subscriptions to Redis were interrupted");
        if started.elapsed() > MAX_DELAY {
            backoff.reset();
        }
        sleep(backoff.next_delay()).await;
    }
}

/// Serves subscriptions over one connection until it breaks. Returns the reason.
async fn serve(connection: &Connection, channels: &Channels) -> String {
    let opened = timeout(STEP_TIMEOUT, connection.client().get_async_pubsub()).await;
    let (mut sink, mut messages) = match opened {
        Ok(Ok(opened)) => opened.split(),
        Ok(Err(error)) => return reason(&error),
        Err(_) => return format!("no connection within {STEP_TIMEOUT:?}"),
    };
    let mut active = Vec::new();
    loop {
        if let Err(error) = update(&mut sink, channels, &mut active).await {
            return error;
        }
        if let Err(error) = receive(&mut sink, &mut messages, channels).await {
            return error;
        }
    }
}

/// Subscribes to new channels and leaves unused ones.
async fn update(
    sink: &mut PubSubSink,
    channels: &Channels,
    active: &mut Vec<String>,
) -> Result<(), String> {
    for name in channels.missing(active) {
        step(sink.subscribe(&name)).await?;
        for receiver in channels.find(&name) {
            receiver.subscribed().await;
        }
        active.push(name);
    }
    for name in channels.remove_unused(active) {
        step(sink.unsubscribe(&name)).await?;
    }
    Ok(())
}

/// Receives messages until channels change. Checks a silent connection.
async fn receive(
    sink: &mut PubSubSink,
    messages: &mut PubSubStream,
    channels: &Channels,
) -> Result<(), String> {
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = channels.changed.notified() => return Ok(()),
            () = sleep(STEP_TIMEOUT) => {
                step(sink.ping::<redis::Value>()).await?;
                continue;
            }
        };
        let Some(message) = message else {
            return Err("the connection was closed".to_owned());
        };
        for receiver in channels.find(message.get_channel_name()) {
            receiver.receive(message.get_payload_bytes());
        }
    }
}

async fn step<T>(step: impl Future<Output = redis::RedisResult<T>>) -> Result<T, String> {
    match timeout(STEP_TIMEOUT, step).await {
        Ok(result) => result.map_err(|error| reason(&error)),
        Err(_) => Err(format!("no answer within {STEP_TIMEOUT:?}")),
    }
}
