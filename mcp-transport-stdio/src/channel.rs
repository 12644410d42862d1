//! The client's side of a pipe: many requests at once, each with the messages that belong to it.

mod mailbox;
mod route;

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_core::pending::{InsertError, PendingRequests, RequestTimeouts};
use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Frame, Frames, MirroredHeaders, OneWayMessage,
    OutgoingRequest,
};
use mcp_types::{Method, ProtocolVersion, RequestId};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use crate::outbox::{Ended, Outbox, Permit};
use crate::pipe::Pipe;
use mailbox::Mailbox;

/// How many requests wait for their answers at a time.
const MAX_CALLS: usize = 10_000;
/// After [`Channel::close`], how long the last messages may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A channel to a server over a pair of byte streams: a socket, a pair of pipes.
///
/// Requests share the pipe. Dropping the stream of a request tells the server, without waiting,
/// that nobody needs its answer any more. A caller who does not take the messages of its request
/// holds up nobody: the oldest notifications are dropped.
///
/// Has to be made inside of a tokio runtime.
///
/// ```no_run
/// # async fn connect() -> std::io::Result<()> {
/// let (reader, writer) = tokio::io::split(tokio::io::duplex(1024).0);
/// let channel = mcp_transport_stdio::PipeChannel::new(reader, writer);
/// # Ok(())
/// # }
/// ```
// spec: TRN-04, STDIO-09, STDIO-10
#[derive(Debug)]
pub struct PipeChannel {
    shared: Arc<Shared>,
    router: AbortHandle,
}

/// What the channel, its calls and its router have in common.
#[derive(Debug)]
struct Shared {
    peer: Box<str>,
    line_limit: usize,
    outbox: Arc<Outbox>,
    pending: Mutex<PendingRequests<Waiting>>,
    /// What belongs to no request.
    loose: Arc<Mailbox>,
    loose_taken: AtomicBool,
    /// The highest number that was the id of a request.
    latest: AtomicI64,
    version: Mutex<Option<ProtocolVersion>>,
    closed: watch::Sender<Option<CloseReason>>,
    /// All that was sent is written.
    written: watch::Sender<bool>,
}

/// A request that waits for its answer.
#[derive(Debug, Clone)]
struct Waiting {
    mailbox: Arc<Mailbox>,
    /// It lasts: what belongs to nothing else does not belong to it either.
    is_subscription: bool,
}

/// What tells why a pipe has ended.
type Epitaph = BoxFuture<'static, CloseReason>;

impl PipeChannel {
    /// The longest line in bytes that is taken from a server.
    pub(crate) const LINE_LIMIT: usize = 64 * 1024 * 1024;

    /// A channel over a pair of byte streams. Lines of more than 64 MiB are left out.
    pub fn new(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Self {
        Self::with_limit(reader, writer, Self::LINE_LIMIT)
    }

    /// A channel over a pair of byte streams, on which lines of more than `line_limit` bytes are
    /// left out.
    pub fn with_limit(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
        line_limit: usize,
    ) -> Self {
        let epitaph = Box::pin(std::future::ready(CloseReason::Remote));
        Self::of_child(reader, writer, line_limit, "a server on a pipe", epitaph)
    }

    pub(crate) fn of_child(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
        line_limit: usize,
        peer: &str,
        epitaph: Epitaph,
    ) -> Self {
        let pipe = Pipe::open(reader, writer, line_limit);
        let shared = Arc::new(Shared {
            peer: peer.into(),
            line_limit,
            outbox: pipe.outbox.clone(),
            pending: Mutex::new(PendingRequests::new(MAX_CALLS)),
            loose: Arc::default(),
            loose_taken: AtomicBool::new(false),
            latest: AtomicI64::new(0),
            version: Mutex::new(None),
            closed: watch::Sender::new(None),
            written: watch::Sender::new(false),
        });
        let router = tokio::spawn(route::route(pipe, shared.clone(), epitaph)).abort_handle();
        Self { shared, router }
    }
}

impl Drop for PipeChannel {
    fn drop(&mut self) {
        self.shared.end(&CloseReason::Local);
        self.router.abort();
    }
}

impl Channel for PipeChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        let shared = &self.shared;
        let mailbox = Arc::<Mailbox>::default();
        let waiting = Waiting {
            mailbox: mailbox.clone(),
            is_subscription: &*out.mirrored.method == Method::Listen.as_str(),
        };
        let now = Instant::now().into_std();
        let opened = shared.pending.lock().insert_with_id(
            out.id.clone(),
            now,
            RequestTimeouts::none(),
            waiting,
        );
        if let Err(error) = opened {
            mailbox.fail(match error {
                InsertError::Closed => ChannelError::Closed(shared.reason()),
                error => ChannelError::Unsendable(error.to_string()),
            });
            return Box::pin(mailbox::Messages(mailbox));
        }
        if let RequestId::Number(number) = out.id {
            shared.latest.fetch_max(number, Ordering::Relaxed);
        }
        let outbox = shared.outbox.clone();
        let sending = async move { outbox.send(&[&out.body], &Permit::default()).await };
        Box::pin(Call {
            shared: shared.clone(),
            id: out.id,
            mirrored: out.mirrored,
            messages: mailbox::Messages(mailbox),
            sending: Some(Box::pin(sending)),
        })
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.shared.peer)
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let sent = shared.outbox.send(&[&out.body], &Permit::default()).await;
            sent.map_err(|Ended| ChannelError::Closed(shared.reason()))
        })
    }

    fn inbound(&self) -> Option<Frames> {
        let taken = self.shared.loose_taken.swap(true, Ordering::Relaxed);
        (!taken).then(|| Box::pin(mailbox::Messages(self.shared.loose.clone())) as Frames)
    }

    fn is_pipe(&self) -> bool {
        true
    }

    fn set_version(&self, version: ProtocolVersion) {
        *self.shared.version.lock() = Some(version);
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        let mut closed = self.shared.closed.subscribe();
        Box::pin(async move {
            let reason = closed.wait_for(Option::is_some).await;
            // Without a sender the channel is gone: it was closed here.
            let reason = reason.ok().and_then(|reason| reason.clone());
            reason.unwrap_or(CloseReason::Local)
        })
    }

    /// Ends the server's input once all that was sent is written, for which there is a second.
    fn close(&self) -> BoxFuture<'static, ()> {
        let shared = self.shared.clone();
        Box::pin(async move {
            shared.end(&CloseReason::Local);
            let mut written = shared.written.subscribe();
            let _ = timeout(LAST_WORDS, written.wait_for(|written| *written)).await;
        })
    }
}

impl Shared {
    /// Ends the channel: nothing is sent any more, and whoever waits learns why. The first reason
    /// counts.
    fn end(&self, reason: &CloseReason) {
        let is_first = self.closed.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(reason.clone());
            }
            is_first
        });
        if !is_first {
            return;
        }
        self.outbox.end();
        let pending = self.pending.lock().close();
        for (_, waiting) in pending {
            waiting.mailbox.fail(ChannelError::Closed(reason.clone()));
        }
        self.loose.finish(None);
    }

    fn reason(&self) -> CloseReason {
        self.closed.borrow().clone().unwrap_or(CloseReason::Remote)
    }
}

/// One request: sent when there is room for it, and then the stream of its messages.
struct Call {
    shared: Arc<Shared>,
    id: RequestId,
    mirrored: MirroredHeaders,
    messages: mailbox::Messages,
    /// `None` once it is sent.
    sending: Option<BoxFuture<'static, Result<(), Ended>>>,
}

impl Stream for Call {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(sending) = &mut self.sending
            && let Poll::Ready(sent) = sending.as_mut().poll(cx)
        {
            if sent.is_err() && self.shared.pending.lock().remove(&self.id).is_some() {
                let error = ChannelError::Closed(self.shared.reason());
                self.messages.0.fail(error);
            }
            self.sending = None;
        }
        // The channel may end before there was room for the request.
        Pin::new(&mut self.messages).poll_next(cx)
    }
}

/// Nobody waits for the answer any more: the server is told, some time.
// spec: STDIO-10, CAN-10
impl Drop for Call {
    fn drop(&mut self) {
        let waited = self.shared.pending.lock().remove(&self.id).is_some();
        let was_sent = self.sending.is_none();
        if waited
            && was_sent
            && let Some(note) = OneWayMessage::cancellation(&self.id, &self.mirrored)
        {
            // Bounded by the number of requests, each of which has found room before. A pipe that
            // has ended needs no cancelling.
            let _: Result<(), Ended> = self.shared.outbox.push(&note.body);
        }
    }
}

#[cfg(test)]
mod tests;
