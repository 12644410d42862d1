//! A stream of events that mends itself.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use mcp_client::Error;
use mcp_core::extension::from_params;
use mcp_core::{Backoff, Fault};
use mcp_types::{RawObject, codes};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::query::{EventClient, EventQuery};
use super::recent_ids::RecentIds;
use crate::extension::{StreamEvents, notification};
use crate::wire::{EventOccurrence, Position, Termination};

/// Updates that wait for the program.
const QUEUE: usize = 256;
/// The JSON bytes of these updates. A larger event waits alone.
const QUEUE_BYTES: u32 = 16 << 20;
/// Ids of events that are remembered, to find repeated ones.
const REMEMBERED: usize = 1024;
/// Maximum silence of a server: heartbeats come every 30 seconds at the latest.
const SILENCE: Duration = Duration::from_secs(75);
/// Waits before an interrupted stream opens again.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The wait between polls if the server names none.
const POLL_WAIT: Duration = Duration::from_secs(5);

/// A part of an event stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventUpdate {
    /// An event. Its data is untrusted.
    Event(EventOccurrence),
    /// Events before the next one are lost.
    Gap,
    /// The server has ended the stream, for example because the event type was removed. The last item.
    Terminated {
        /// The reason that the server gives.
        reason: String,
    },
}

/// A stream of events that mends itself: it connects again after a failure or a long silence, continues
/// at the last position, and leaves out repeated events. With a server that has no streams, and in
/// sessions of older revisions, it polls.
///
/// An error or [`EventUpdate::Terminated`] is the last item: the event type does not exist, or the caller may
/// not receive it. If the program reads slowly, the stream waits: at most 256 updates and 16 MiB of JSON are
/// held. Dropping it ends the request.
#[derive(Debug)]
pub struct EventStream {
    updates: mpsc::Receiver<Queued>,
    _task: AbortOnDropHandle<()>,
}

/// An update that waits for the program, with its share of the queue's bytes.
#[derive(Debug)]
struct Queued {
    update: Result<EventUpdate, Error>,
    _bytes: OwnedSemaphorePermit,
}

/// The sending half of the queue.
#[derive(Debug, Clone)]
struct Queue {
    sender: mpsc::Sender<Queued>,
    bytes: Arc<Semaphore>,
}

/// The queue had too little space for an update of this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Full(u32);

impl Queue {
    fn new() -> (Self, mpsc::Receiver<Queued>) {
        let (sender, updates) = mpsc::channel(QUEUE);
        let bytes = Arc::new(Semaphore::new(QUEUE_BYTES as usize));
        (Self { sender, bytes }, updates)
    }

    /// Returns the share of an update: its bytes, at most the whole queue.
    fn share(size: usize) -> u32 {
        u32::try_from(size).map_or(QUEUE_BYTES, |size| size.min(QUEUE_BYTES))
    }

    fn try_send(&self, update: EventUpdate, size: usize) -> Result<(), Full> {
        let share = Self::share(size);
        let bytes = self.bytes.clone().try_acquire_many_owned(share);
        let queued = Queued {
            update: Ok(update),
            _bytes: bytes.map_err(|_| Full(share))?,
        };
        self.sender.try_send(queued).map_err(|_| Full(share))
    }

    /// Waits for space for one update of this many bytes. Returns `None` if the program has dropped the
    /// stream.
    async fn reserve(
        &self,
        share: u32,
    ) -> Option<(OwnedSemaphorePermit, mpsc::Permit<'_, Queued>)> {
        let bytes = self.bytes.clone().acquire_many_owned(share).await.ok()?;
        Some((bytes, self.sender.reserve().await.ok()?))
    }

    async fn send(&self, update: Result<EventUpdate, Error>, size: usize) {
        // Without a receiver, the task is about to be aborted.
        if let Some((bytes, permit)) = self.reserve(Self::share(size)).await {
            permit.send(Queued {
                update,
                _bytes: bytes,
            });
        }
    }
}

impl EventClient {
    /// Receives events until the stream is dropped. It mends itself, see [`EventStream`].
    pub fn stream(&self, query: EventQuery) -> EventStream {
        let (queue, updates) = Queue::new();
        let reader = Reader {
            client: self.clone(),
            query,
            received: Arc::default(),
            queue,
        };
        let _task = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        EventStream { updates, _task }
    }
}

impl Stream for EventStream {
    type Item = Result<EventUpdate, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let queued = self.updates.poll_recv(cx);
        queued.map(|queued| queued.map(|queued| queued.update))
    }
}

/// The position in a stream, and the ids of its last events.
#[derive(Debug, Default)]
struct Received {
    cursor: Option<String>,
    ids: RecentIds<REMEMBERED>,
    /// The reason for which the server ended the stream.
    terminated: Option<String>,
    /// The queue was full: the stream starts again at the last queued event.
    overflowed: Option<Full>,
}

impl Received {
    /// Queues an update. Returns false if the queue is full.
    fn try_send(&mut self, queue: &Queue, update: EventUpdate, size: usize) -> bool {
        self.overflowed = queue.try_send(update, size).err();
        self.overflowed.is_none()
    }
}

struct Reader {
    client: EventClient,
    query: EventQuery,
    received: Arc<Mutex<Received>>,
    queue: Queue,
}

impl Reader {
    async fn run(self) {
        self.received
            .lock()
            .cursor
            .clone_from(&self.query.selector.cursor);
        let client = self.client.extension.client();
        let mut polls = !client.protocol_version().is_modern();
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            let before = self.received.lock().cursor.clone();
            let ended = if polls {
                self.poll().await
            } else {
                self.push().await
            };
            let has_progressed = self.received.lock().cursor != before;
            if has_progressed {
                backoff.reset();
            }
            let terminated = self.received.lock().terminated.take();
            if let Some(reason) = terminated {
                self.deliver(EventUpdate::Terminated { reason }, 0).await;
                return;
            }
            match ended {
                Err(error) if !polls && code(&error) == Some(codes::EVENTS_UNSUPPORTED) => {
                    polls = true;
                    continue;
                }
                Err(error) if is_final(&error) => {
                    self.queue.send(Err(error), 0).await;
                    return;
                }
                Ok(Some(pause)) => {
                    sleep(pause).await;
                    continue;
                }
                Ok(None) | Err(_) => {}
            }
            sleep(backoff.next_delay()).await;
        }
    }

    /// Polls once. Returns the wait until the next poll.
    async fn poll(&self) -> Result<Option<Duration>, Error> {
        let mut query = self.query.clone();
        query
            .selector
            .cursor
            .clone_from(&self.received.lock().cursor);
        let result = self.client.poll(query).await?;
        if result.truncated {
            self.deliver(EventUpdate::Gap, 0).await;
        }
        for event in result.events {
            let id = RecentIds::<REMEMBERED>::digest(&event.event_id);
            let is_new = self.received.lock().ids.insert(id);
            if is_new {
                let size = serde_json::to_string(&event).map_or(0, |json| json.len());
                self.deliver(EventUpdate::Event(event), size).await;
            }
        }
        self.received.lock().cursor = result.cursor;
        let pause = result.next_poll_ms.map_or(POLL_WAIT, Duration::from_millis);
        Ok(Some(if result.has_more {
            Duration::ZERO
        } else {
            pause.clamp(Duration::from_millis(100), Duration::from_secs(3600))
        }))
    }

    async fn deliver(&self, update: EventUpdate, size: usize) {
        self.queue.send(Ok(update), size).await;
    }

    /// Streams until the connection ends.
    async fn push(&self) -> Result<Option<Duration>, Error> {
        let heard = Arc::new(Notify::new());
        let stop = Arc::new(Notify::new());
        let overflowed = self.received.lock().overflowed.take();
        // Wait for space before the server sends.
        let share = overflowed.map_or(0, |full| full.0);
        let Some(space) = self.queue.reserve(share).await else {
            return Ok(None);
        };
        drop(space);
        let hook = {
            let (received, queue) = (self.received.clone(), self.queue.clone());
            let (heard, stop) = (heard.clone(), stop.clone());
            move |method: &str, params: Option<RawObject>| {
                heard.notify_one();
                if !receive(&received, &queue, method, params) {
                    stop.notify_one();
                }
            }
        };
        let mut selector = self.query.selector.clone();
        selector.cursor.clone_from(&self.received.lock().cursor);
        let call = self.client.extension.request::<StreamEvents>(&selector);
        let call = call
            .timeout(Duration::MAX)
            .max_total_timeout(Duration::MAX)
            .idempotent(false)
            .on_custom(hook);
        let silence = async { while timeout(SILENCE, heard.notified()).await.is_ok() {} };
        tokio::select! {
            ended = call => ended.map(|_| None),
            () = silence => Ok(None),
            () = stop.notified() => Ok(self.received.lock().overflowed.map(|_| Duration::ZERO)),
        }
    }
}

/// Handles a notification. Returns false to end the request.
fn receive(
    received: &Mutex<Received>,
    queue: &Queue,
    method: &str,
    params: Option<RawObject>,
) -> bool {
    let json = params.as_ref().map(RawObject::as_str);
    let size = json.map_or(0, str::len);
    let mut received = received.lock();
    if received.overflowed.is_some() {
        return false;
    }
    match method {
        notification::EVENT => {
            let Ok(event) = from_params::<EventOccurrence>(json) else {
                tracing::warn!("a malformed event was ignored");
                return true;
            };
            let cursor = event.cursor.clone();
            let id = RecentIds::<REMEMBERED>::digest(&event.event_id);
            if !received.ids.contains(&id) {
                if !received.try_send(queue, EventUpdate::Event(event), size) {
                    return false;
                }
                received.ids.insert(id);
            }
            if cursor.is_some() {
                received.cursor = cursor;
            }
        }
        notification::ACTIVE | notification::HEARTBEAT => {
            let Ok(position) = from_params::<Position>(json) else {
                return true;
            };
            if position.truncated == Some(true) && !received.try_send(queue, EventUpdate::Gap, size)
            {
                return false;
            }
            if position.cursor.is_some() {
                received.cursor = position.cursor;
            }
        }
        notification::TERMINATED => {
            let end = from_params::<Termination>(json).unwrap_or_default();
            received.terminated = Some(end.reason());
            return false;
        }
        notification::ERROR => tracing::warn!("the server reports a failure of its event log"),
        _ => {}
    }
    true
}

/// Returns true for errors that do not pass by waiting.
pub(super) fn is_final(error: &Error) -> bool {
    let finals = [
        codes::METHOD_NOT_FOUND,
        codes::INVALID_PARAMS,
        codes::EVENTS_NOT_FOUND,
        codes::EVENTS_FORBIDDEN,
        codes::EVENTS_UNSUPPORTED,
    ];
    code(error).is_some_and(|code| finals.contains(&code))
}

/// Returns the code of a server's error.
fn code(error: &Error) -> Option<i64> {
    match error.fault()? {
        Fault::NoSuchMethod { .. } => Some(codes::METHOD_NOT_FOUND),
        Fault::BadParams { .. } => Some(codes::INVALID_PARAMS),
        Fault::Protocol(error) => Some(error.code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;
    use parking_lot::Mutex;
    use serde_json::json;

    use super::{Queue, Received, notification, receive};

    fn event(number: usize, size: usize) -> RawObject {
        let event = json!({
            "eventId": format!("evt_{number}"), "name": "n", "timestamp": "2026-11-22T00:00:00Z",
            "data": {"text": "x".repeat(size)}, "cursor": number.to_string(),
        });
        RawObject::from_value(&event).unwrap()
    }

    #[tokio::test]
    async fn queue_for_a_slow_program_is_bounded_in_bytes() {
        let (queue, mut updates) = Queue::new();
        let received = Mutex::new(Received::default());
        let push = |number| {
            let event = event(number, 4 << 20);
            receive(&received, &queue, notification::EVENT, Some(event))
        };
        assert!((1..=3).all(push));
        assert!(!push(4));
        // The stream starts again after the last queued event when the program has made space.
        let full = received.lock().overflowed.take().unwrap();
        assert_eq!(received.lock().cursor.as_deref(), Some("3"));
        let mut space = Box::pin(queue.reserve(full.0));
        assert!(futures::poll!(&mut space).is_pending());
        drop(updates.recv().await.unwrap().update);
        assert!(space.await.is_some());
        assert!(push(4));
        assert!(!push(5));
    }

    #[tokio::test]
    async fn event_larger_than_the_queue_waits_alone() {
        let (queue, mut updates) = Queue::new();
        let received = Mutex::new(Received::default());
        let push = |number, size| {
            let event = event(number, size);
            receive(&received, &queue, notification::EVENT, Some(event))
        };
        assert!(push(1, 20 << 20));
        assert!(!push(2, 1));
        received.lock().overflowed = None;
        assert!(updates.recv().await.unwrap().update.is_ok());
        assert!(push(2, 1));
    }
}
