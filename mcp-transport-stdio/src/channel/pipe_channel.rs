//! [`PipeChannel`]: a client's channel over two byte streams or a message transport.

use std::borrow::Cow;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_core::{
    BoxFuture, CancelHook, Channel, ChannelError, CloseReason, Connection, Frame, Frames,
    MirroredHeaders, OneWayMessage, OutgoingRequest, Transport,
};
use mcp_types::{Meta, Method, ProtocolVersion, RequestId};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::mailbox::{Mailbox, MailboxReader};
use super::router;
use super::shared::{ChannelState, PendingCall};
use crate::message_transport::MessageTransport;
use crate::pipe::Pipe;
use crate::write_queue::{EndFlag, QueueClosed};

/// Time that [`Channel::close`] waits until the queued messages are written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A channel to a server over two byte streams, such as a socket or two pipes, or over a
/// [`MessageTransport`].
///
/// Requests share the connection and run concurrently. Dropping a request's frames sends
/// `notifications/cancelled` in the background. A caller that does not read its frames does not block other
/// requests: beyond 1,024 messages or 4 MiB, the channel drops its oldest notifications.
///
/// # Panics
///
/// The constructors panic outside a tokio runtime.
///
/// # Examples
///
/// ```no_run
/// # async fn connect() -> std::io::Result<()> {
/// let (reader, writer) = tokio::io::split(tokio::io::duplex(1024).0);
/// let channel = mcp::stdio::PipeChannel::new(reader, writer);
/// # Ok(())
/// # }
/// ```
// spec: TRN-04
#[derive(Debug)]
pub struct PipeChannel {
    pub(super) shared: Arc<ChannelState>,
    transport: Transport,
    router: AbortHandle,
}

impl PipeChannel {
    /// Default line limit in bytes.
    pub(crate) const LINE_LIMIT: usize = 64 * 1024 * 1024;

    /// Creates a channel over two byte streams. It discards lines longer than 64 MiB.
    pub fn new(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Self {
        Self::with_limit(reader, writer, Self::LINE_LIMIT)
    }

    /// Creates a channel that discards lines longer than `line_limit` bytes.
    pub fn with_limit(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
        line_limit: usize,
    ) -> Self {
        let pipe = Pipe::open(reader, writer, line_limit);
        Self::over(
            pipe,
            line_limit,
            "a server on a pipe",
            ready(CloseReason::Remote),
        )
    }

    /// Creates a channel over a message transport. A client connects to it with `Over(channel)`. The channel discards
    /// messages longer than 64 MiB.
    ///
    /// The client negotiates the revision as on a pipe: it treats a server that does not answer `server/discover` as
    /// a legacy server. When the transport fails, all running calls fail, with the transport's error as the source.
    pub fn from_messages(transport: impl MessageTransport) -> Self {
        let pipe = Pipe::over_messages(transport, Self::LINE_LIMIT);
        let peer = "a server on a message transport";
        Self::over(pipe, Self::LINE_LIMIT, peer, ready(CloseReason::Remote))
    }

    /// Creates a channel that awaits `close_reason` after the input has ended. [`CloseReason::Remote`] stands for
    /// the reason that the pipe itself gives.
    pub(crate) fn over(
        pipe: Pipe,
        line_limit: usize,
        peer: &str,
        close_reason: impl Future<Output = CloseReason> + Send + 'static,
    ) -> Self {
        let shared = Arc::new(ChannelState::new(
            peer,
            line_limit,
            pipe.write_queue.clone(),
        ));
        let router = tokio::spawn(router::run(pipe, shared.clone(), close_reason));
        Self {
            shared,
            transport: Transport::Pipe,
            router: router.abort_handle(),
        }
    }

    /// Sets the transport that telemetry records, such as [`Transport::Unix`] for a Unix socket. Default:
    /// [`Transport::Pipe`].
    #[must_use]
    pub fn transport(mut self, transport: Transport) -> Self {
        self.transport = transport;
        self
    }
}

impl Drop for PipeChannel {
    fn drop(&mut self) {
        self.shared.close(&CloseReason::Local);
        self.router.abort();
    }
}

impl Channel for PipeChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        let shared = &self.shared;
        let mailbox = Arc::<Mailbox>::default();
        let call = PendingCall {
            mailbox: mailbox.clone(),
            is_subscription: &*out.mirrored.method == Method::Listen.as_str(),
        };
        if let Err(error) = shared.add_call(out.id.clone(), call) {
            mailbox.fail(error);
            return Box::pin(MailboxReader(mailbox));
        }
        if let RequestId::Number(number) = out.id {
            shared.latest_id.fetch_max(number, Ordering::Relaxed);
        }
        let queue = shared.write_queue.clone();
        let sending = async move { queue.send(&[&out.body], &EndFlag::default()).await };
        Box::pin(CallStream {
            shared: shared.clone(),
            id: out.id,
            mirrored: out.mirrored,
            messages: MailboxReader(mailbox),
            on_cancel: out.on_cancel,
            sending: Some(Box::pin(sending)),
        })
    }

    fn connection(&self) -> Option<Connection> {
        Some(Connection::new(self.transport))
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.shared.peer)
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let sent = shared
                .write_queue
                .send(&[&out.body], &EndFlag::default())
                .await;
            sent.map_err(|QueueClosed| ChannelError::Closed(shared.close_reason()))
        })
    }

    fn inbound(&self) -> Option<Frames> {
        let claimed = self.shared.inbound_claimed.swap(true, Ordering::Relaxed);
        (!claimed).then(|| Box::pin(MailboxReader(self.shared.inbound.clone())) as Frames)
    }

    fn is_pipe(&self) -> bool {
        true
    }

    fn unread_line(&self) -> Option<String> {
        self.shared.unread_line.lock().clone()
    }

    fn set_version(&self, version: ProtocolVersion) {
        *self.shared.version.lock() = Some(version);
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(self.shared.closed.closed())
    }

    /// Writes the queued messages, then closes the server's input. Waits for this at most one second.
    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            shared.close(&CloseReason::Local);
            let _ = timeout(FLUSH_TIMEOUT, shared.written.closed()).await;
            Ok(())
        })
    }
}

/// The frames of one request. Polling it sends the request as soon as the write queue has space.
struct CallStream {
    shared: Arc<ChannelState>,
    id: RequestId,
    mirrored: MirroredHeaders,
    messages: MailboxReader,
    on_cancel: Option<CancelHook>,
    /// `None` when the request is in the write queue.
    sending: Option<BoxFuture<'static, Result<(), QueueClosed>>>,
}

impl Stream for CallStream {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(sending) = &mut self.sending
            && let Poll::Ready(sent) = sending.as_mut().poll(cx)
        {
            if sent.is_err() && self.shared.pending.lock().remove(&self.id).is_some() {
                let error = ChannelError::Closed(self.shared.close_reason());
                self.messages.0.fail(error);
            }
            self.sending = None;
        }
        // A channel that closes before the request is sent reports this in the mailbox.
        Pin::new(&mut self.messages).poll_next(cx)
    }
}

impl CallStream {
    /// Runs the hook that returns additional `_meta` keys for a cancellation.
    fn cancel_meta(&self) -> Option<Meta> {
        // `initialize` is never cancelled, so its hook must not run.
        let is_opening = Method::from_name(&self.mirrored.method) == Some(Method::Initialize);
        let hook = self.on_cancel.as_ref().filter(|_| !is_opening);
        hook.and_then(|hook| hook())
    }
}

/// Queues `notifications/cancelled` if the request is sent and has no response yet.
// spec: STDIO-10, CAN-10
impl Drop for CallStream {
    fn drop(&mut self) {
        let is_pending = self.shared.pending.lock().remove(&self.id).is_some();
        let was_sent = self.sending.is_none();
        if is_pending
            && was_sent
            && let Some(cancellation) =
                OneWayMessage::cancellation(&self.id, self.cancel_meta().as_ref(), &self.mirrored)
        {
            // `push` ignores the queue's limit: there is at most one cancellation per sent request. A closed
            // pipe needs none.
            let _: Result<(), QueueClosed> = self.shared.write_queue.push(&cancellation.body);
        }
    }
}
