//! The trait of client transports, and the channel to a service in the same process.
//!
//! | module | content |
//! |---|---|
//! | `message` | encoded messages to a server, and frames from it |
//! | `error` | errors of transports, and reasons for the end of a connection |
//! | `in_process` | a channel without a task or a socket |

mod error;
mod in_process;
mod message;

use std::borrow::Cow;
use std::future::{pending, ready};
use std::pin::Pin;

use futures_util::Stream;
use futures_util::future::BoxFuture;
use mcp_types::{ProtocolVersion, RequestId};

pub use error::{ChannelError, CloseReason, TlsError, with_causes};
pub use in_process::InProcessChannel;
pub use message::{CancelHook, Frame, MirroredHeaders, OneWayMessage, OutgoingRequest};

use crate::connection::{Connection, ServerIdentity};

/// A client transport: a connection to one server.
pub trait Channel: Send + Sync + 'static {
    /// Sends a request. The stream yields its notifications, then its response, then it ends.
    ///
    /// Dropping the stream before the response cancels the request. Over sessions and pipes, where
    /// the server does not see the end of a stream, the channel queues a `notifications/cancelled`
    /// without waiting for it, and drops it when the queue is full. `initialize` is never cancelled.
    // spec: HTTP-C-07, HTTP-C-12
    fn call(&self, request: OutgoingRequest) -> Frames;

    /// Returns the server name for error messages: a URL or a command line, without secrets.
    fn peer(&self) -> Cow<'_, str>;

    /// Returns the server's identity, for a cache that several clients share. `None` (default):
    /// it is unknown whether another channel reaches the same server, so nothing is shared.
    fn identity(&self) -> Option<ServerIdentity> {
        None
    }

    /// Returns the transport and the address of the server, for telemetry. `None` (default): unknown, or
    /// a server in the same process.
    fn connection(&self) -> Option<Connection> {
        None
    }

    /// Returns true if the transport mirrors arguments of tools in headers. The client then looks for
    /// annotated arguments.
    // spec: XHDR-10
    fn mirrors_arguments(&self) -> bool {
        false
    }

    /// Sets headers for every request. Called before the first request. Transports without headers
    /// ignore it.
    fn set_headers(&mut self, _: http::HeaderMap) {}

    /// Sends a notification, or the response to a server request.
    ///
    /// The default implementation fails: a channel for the modern era sends neither.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the message cannot be sent.
    fn notify(&self, message: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let refused = format!("this transport does not send {}", message.mirrored.method);
        Box::pin(ready(Err(ChannelError::NotSendable(refused))))
    }

    /// Ends the call during which the server has sent the request `id` with this error, because the server does not
    /// get the response that the call waits for. The default does nothing, for transports where that ends the
    /// connection.
    fn fail_call(&self, id: &RequestId, error: ChannelError) {
        let _ = (id, error);
    }

    /// Returns the messages that belong to no call: the server's requests, and notifications. Only
    /// legacy sessions have them.
    ///
    /// The first caller receives the stream, which ends with the session. A
    /// [`ChannelError::Broken`] in it means that messages may be missing; the stream continues.
    fn inbound(&self) -> Option<Frames> {
        None
    }

    /// Waits until the messages of [`inbound`](Self::inbound) arrive again after an interruption, and
    /// until the received ones are read. Returns whether there was an interruption. `false` at once
    /// (default) where the messages are interrupted only together with the whole connection.
    fn inbound_restored(&self) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
    }

    /// Sets the revision of the following messages: before `initialize` the requested one, and after
    /// it the negotiated one.
    fn set_version(&self, _: ProtocolVersion) {}

    /// Returns true if silence and an early end of the connection suggest a legacy server, as on a
    /// pipe.
    // spec: COMPAT-08, COMPAT-14
    fn is_pipe(&self) -> bool {
        false
    }

    /// Restarts a server that has exited because of a message that it did not know.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the transport cannot restart the server, or when that fails.
    // spec: COMPAT-15
    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        Box::pin(ready(Err(ChannelError::Closed(CloseReason::Remote))))
    }

    /// Waits for the end of the connection. Pending forever where each call has its own connection.
    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(pending())
    }

    /// Returns the start of the last received line that is not a message, if no response came after it, for the error of
    /// a call without a response. `None` (default): there is none, or the transport has no lines.
    fn unread_line(&self) -> Option<String> {
        None
    }

    /// Returns the last lines that the server has written to its standard error, for the message of
    /// an error that the server does not explain (-32603). `None` (default): the transport does not
    /// see it. A channel waits shortly for lines that the server has written before its response.
    fn stderr(&self) -> BoxFuture<'static, Option<String>> {
        Box::pin(ready(None))
    }

    /// Closes the connection and the session. Running calls end with [`ChannelError::Closed`].
    ///
    /// The connection is closed in any case, also when the returned future is dropped. The future waits for
    /// the server without a limit of time.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the server may still keep the session.
    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        Box::pin(ready(Ok(())))
    }
}

/// The messages that belong to one request.
pub type Frames = Pin<Box<dyn Stream<Item = Result<Frame, ChannelError>> + Send>>;
