//! The event stream of a call. A task runs the call, and the response body carries its output.
//!
//! Task and body share one bounded buffer. The body drains it as one frame.
//!
//! | module | what all event streams share |
//! |---|---|
//! | `keep_alive` | comments that keep silent streams open |
//! | `lifetime` | ends of streams: maximum age, shutdown, expiry of the caller's authorization |

pub(super) mod keep_alive;
pub(super) mod lifetime;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::future::OptionFuture;
use mcp_core::{Fault, NotificationBuffer};
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tracing::Instrument;

use super::call::{CallEnd, HttpCall, encode_event, new_buffer};
use super::config::{Config, StreamConfig};
use crate::shutdown::Shutdown;
use crate::sse::encode as sse;
use keep_alive::KeepAlive;
use lifetime::expired;

/// Time without a read after which progress notifications no longer wait for the client.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// Buffer between the call task and the response body.
#[derive(Debug)]
struct StreamBuffer {
    messages: Arc<NotificationBuffer>,
    /// Number of times that the body drained the buffer.
    reads: AtomicUsize,
}

impl StreamBuffer {
    fn new(call: &HttpCall) -> Arc<Self> {
        let messages = call.notifications().cloned();
        Arc::new(Self {
            messages: messages.unwrap_or_else(|| Arc::new(new_buffer(call.target().version))),
            reads: AtomicUsize::new(0),
        })
    }

    /// Marks the reader as stalled while it reads nothing although a progress notification waits for
    /// space.
    async fn detect_stalls(&self) -> Infallible {
        loop {
            std::future::poll_fn(|cx| self.messages.poll_blocked_writer(cx)).await;
            let reads = self.reads.load(Ordering::Relaxed);
            sleep(STALL_TIMEOUT).await;
            if reads == self.reads.load(Ordering::Relaxed) {
                self.messages.mark_stalled();
            }
        }
    }
}

/// Effect of a disconnected client on its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnDisconnect {
    /// The call is cancelled (modern).
    Cancel,
    /// The call continues. Only a notification of the client cancels it (legacy).
    // spec: HTTP-SL-07
    Continue,
}

/// Moves `call` into a task and returns its event stream. `first` are the events so far. The
/// call is cancelled at `expiry`, when the authorization of its caller ends.
pub(super) fn start(
    call: HttpCall,
    first: Bytes,
    config: &Config,
    on_disconnect: OnDisconnect,
    expiry: Option<SystemTime>,
) -> EventStream {
    let buffer = StreamBuffer::new(&call);
    let task = spawn(call, Arc::clone(&buffer), config, expiry);
    // Some proxies forward a response head only together with bytes of its body.
    let first = if first.is_empty() {
        Bytes::from_static(sse::OPENING_COMMENT)
    } else {
        first
    };
    EventStream {
        first,
        buffer,
        task,
        on_disconnect,
        keep_alive: KeepAlive::new(&config.streams),
        is_done: false,
    }
}

/// Moves `call` into a task and returns the buffer for its events.
pub(super) fn start_detached(call: HttpCall, config: &Config) -> Arc<NotificationBuffer> {
    let buffer = StreamBuffer::new(&call);
    let messages = Arc::clone(&buffer.messages);
    spawn(call, buffer, config, None);
    messages
}

/// Runs `call` in a task, in its request's `tracing` span.
fn spawn(
    call: HttpCall,
    buffer: Arc<StreamBuffer>,
    config: &Config,
    expiry: Option<SystemTime>,
) -> AbortHandle {
    let task = StreamTask {
        call,
        buffer,
        expiry,
        is_finished: false,
    };
    let run = task.run(config.streams.clone(), config.shutdown());
    tokio::spawn(run.in_current_span()).abort_handle()
}

/// Task that runs a call and writes its reply into the buffer.
struct StreamTask {
    call: HttpCall,
    buffer: Arc<StreamBuffer>,
    /// End of the caller's authorization.
    expiry: Option<SystemTime>,
    is_finished: bool,
}

impl StreamTask {
    async fn run(mut self, streams: StreamConfig, shutdown: Option<Shutdown>) {
        let end = tokio::select! {
            biased;
            end = self.call.end() => end,
            Some(()) = OptionFuture::from(streams.max_age.map(sleep)) => CallEnd::Reply(Fault::Deadline.into()),
            Some(()) = OptionFuture::from(self.expiry.map(expired)) => {
                let message = "the authorization of the caller has expired; call again with a new token";
                CallEnd::Reply(Fault::Refused(message.into()).into())
            }
            Some(()) = OptionFuture::from(shutdown.as_ref().map(Shutdown::closed)) => {
                CallEnd::Reply(Fault::internal("the server is shutting down").into())
            }
            never = self.buffer.detect_stalls() => match never {},
        };
        self.finish(end);
    }

    // spec: HTTP-SM-14
    fn finish(&mut self, end: CallEnd) {
        self.is_finished = true;
        self.call.close();
        let reply = end.into_reply();
        let event = reply.map(|reply| encode_event(self.call.target(), reply, Vec::new()));
        let event = event.map(|event| event.into_bytes()).unwrap_or_default();
        self.buffer.messages.finish(&event);
    }
}

/// A task that ends without a reply, for example because the runtime shuts down, ends its stream with
/// an error.
impl Drop for StreamTask {
    fn drop(&mut self) {
        if !self.is_finished {
            self.finish(CallEnd::Reply(Fault::internal("internal error").into()));
        }
    }
}

/// The event stream of a call, as a response body.
#[derive(Debug)]
pub(super) struct EventStream {
    first: Bytes,
    buffer: Arc<StreamBuffer>,
    task: AbortHandle,
    on_disconnect: OnDisconnect,
    keep_alive: KeepAlive,
    is_done: bool,
}

impl Stream for EventStream {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        if this.is_done {
            return Poll::Ready(None);
        }
        if !this.first.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut this.first)));
        }
        let Poll::Ready(events) = this.buffer.messages.poll_drain(cx) else {
            return this.keep_alive.poll_comment(cx).map(Some);
        };
        this.buffer.reads.fetch_add(1, Ordering::Relaxed);
        this.keep_alive.reset();
        this.is_done = events.is_none();
        Poll::Ready(events)
    }
}

/// A dropped body means that the client has disconnected.
impl Drop for EventStream {
    fn drop(&mut self) {
        // spec: HTTP-SM-15, HTTP-SM-16
        if self.on_disconnect == OnDisconnect::Cancel {
            self.task.abort();
        }
        self.buffer.messages.close();
    }
}
