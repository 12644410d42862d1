//! A stream of events that mends itself.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use mcp_client::Error;
use mcp_core::Fault;
use mcp_core::extension::from_params;
use mcp_types::ext::events::{FORBIDDEN, NOT_FOUND, UNSUPPORTED};
use mcp_types::{RawObject, codes};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::query::{EventClient, EventQuery};
use crate::extension::{StreamEvents, notification};
use crate::wire::{EventOccurrence, PollParams, Position, Termination};

/// Updates that wait for the program.
const QUEUE: usize = 256;
/// Ids of events that are remembered, to find repeated ones.
const REMEMBERED: usize = 1024;
/// The longest silence of a server: heartbeats come every 30 seconds at the latest.
const SILENCE: Duration = Duration::from_secs(75);
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The wait between polls if the server names none.
const POLL_WAIT: Duration = Duration::from_secs(5);

/// A part of a stream of events.
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
/// not receive it. If the
/// program reads slowly, the stream waits. Dropping it ends the request.
#[derive(Debug)]
pub struct EventStream {
    updates: mpsc::Receiver<Result<EventUpdate, Error>>,
    _task: AbortOnDropHandle<()>,
}

impl EventClient {
    /// Receives events until the stream is dropped. It mends itself, see [`EventStream`].
    pub fn stream(&self, query: EventQuery) -> EventStream {
        EventStream::start(self.clone(), query)
    }
}

impl EventStream {
    fn start(client: EventClient, query: EventQuery) -> Self {
        let (sender, updates) = mpsc::channel(QUEUE);
        let reader = Reader {
            client,
            query,
            received: Arc::new(Mutex::default()),
            sender,
        };
        let _task = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        Self { updates, _task }
    }
}

impl Stream for EventStream {
    type Item = Result<EventUpdate, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.updates.poll_recv(cx)
    }
}

/// The position of a stream, and the ids of its last events.
#[derive(Debug, Default)]
struct Received {
    cursor: Option<String>,
    ids: HashSet<String>,
    order: VecDeque<String>,
    /// The reason for which the server ended the stream.
    terminated: Option<String>,
    /// The queue was full: the stream starts again at the last queued event.
    overflowed: bool,
}

impl Received {
    /// Returns true if the event is new.
    fn insert(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

struct Reader {
    client: EventClient,
    query: EventQuery,
    received: Arc<Mutex<Received>>,
    sender: mpsc::Sender<Result<EventUpdate, Error>>,
}

impl Reader {
    async fn run(self) {
        self.received
            .lock()
            .cursor
            .clone_from(&self.query.selector.cursor);
        let client = self.client.extension.client();
        let mut polls = !client.protocol_version().is_modern();
        let mut wait = FIRST_WAIT;
        loop {
            let before = self.received.lock().cursor.clone();
            let ended = match polls {
                true => self.poll().await,
                false => self.push().await,
            };
            let has_progressed = self.received.lock().cursor != before;
            if has_progressed {
                wait = FIRST_WAIT;
            }
            let terminated = self.received.lock().terminated.take();
            if let Some(reason) = terminated {
                self.deliver(EventUpdate::Terminated { reason }).await;
                return;
            }
            match ended {
                Err(error) if !polls && code(&error) == Some(UNSUPPORTED) => {
                    polls = true;
                    continue;
                }
                Err(error) if is_final(&error) => {
                    let _ = self.sender.send(Err(error)).await;
                    return;
                }
                Ok(Some(pause)) => {
                    sleep(pause).await;
                    continue;
                }
                Ok(None) | Err(_) => {}
            }
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Polls once. Returns the wait until the next poll.
    async fn poll(&self) -> Result<Option<Duration>, Error> {
        let mut selector = self.query.selector.clone();
        selector.cursor.clone_from(&self.received.lock().cursor);
        let params = PollParams {
            selector,
            max_events: None,
        };
        let result = self
            .client
            .extension
            .request::<crate::extension::PollEvents>(&params)
            .await?;
        if result.truncated {
            self.deliver(EventUpdate::Gap).await;
        }
        for event in result.events {
            let is_new = self.received.lock().insert(&event.event_id);
            if is_new {
                self.deliver(EventUpdate::Event(event)).await;
            }
        }
        self.received.lock().cursor = result.cursor;
        let pause = result.next_poll_ms.map_or(POLL_WAIT, Duration::from_millis);
        Ok(Some(match result.has_more {
            true => Duration::ZERO,
            false => pause.clamp(Duration::from_millis(100), Duration::from_secs(3600)),
        }))
    }

    async fn deliver(&self, update: EventUpdate) {
        // Without a receiver, the task is about to be aborted.
        let _ = self.sender.send(Ok(update)).await;
    }

    /// Streams until the connection ends.
    async fn push(&self) -> Result<Option<Duration>, Error> {
        let heard = Arc::new(Notify::new());
        let stop = Arc::new(Notify::new());
        self.received.lock().overflowed = false;
        // Wait for space before the server sends.
        let Ok(space) = self.sender.reserve().await else {
            return Ok(None);
        };
        drop(space);
        let hook = {
            let (received, sender) = (self.received.clone(), self.sender.clone());
            let (heard, stop) = (heard.clone(), stop.clone());
            move |method: &str, params: Option<RawObject>| {
                heard.notify_one();
                if !receive(&received, &sender, method, params) {
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
            () = stop.notified() => Ok(self.received.lock().overflowed.then_some(Duration::ZERO)),
        }
    }
}

/// Handles a notification. Returns false to end the request.
fn receive(
    received: &Mutex<Received>,
    sender: &mpsc::Sender<Result<EventUpdate, Error>>,
    method: &str,
    params: Option<RawObject>,
) -> bool {
    let json = params.as_ref().map(RawObject::as_str);
    let mut received = received.lock();
    if received.overflowed {
        return false;
    }
    match method {
        notification::EVENT => {
            let Ok(event) = from_params::<EventOccurrence>(json) else {
                tracing::warn!("a malformed event was ignored");
                return true;
            };
            let cursor = event.cursor.clone();
            if !received.ids.contains(&event.event_id) {
                let id = event.event_id.clone();
                if sender.try_send(Ok(EventUpdate::Event(event))).is_err() {
                    received.overflowed = true;
                    return false;
                }
                received.insert(&id);
            }
            if cursor.is_some() {
                received.cursor = cursor;
            }
        }
        notification::ACTIVE | notification::HEARTBEAT => {
            let Ok(position) = from_params::<Position>(json) else {
                return true;
            };
            if position.truncated == Some(true) && sender.try_send(Ok(EventUpdate::Gap)).is_err() {
                received.overflowed = true;
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
        NOT_FOUND,
        FORBIDDEN,
        UNSUPPORTED,
    ];
    code(error).is_some_and(|code| finals.contains(&code))
}

/// Returns the code of an error of the server.
fn code(error: &Error) -> Option<i64> {
    match error.fault()? {
        Fault::NoSuchMethod { .. } => Some(codes::METHOD_NOT_FOUND),
        Fault::BadParams { .. } => Some(codes::INVALID_PARAMS),
        Fault::Protocol(error) => Some(error.code),
        _ => None,
    }
}
