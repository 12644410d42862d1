//! Input that a call requests from its client: the user's, the language model's, or the roots.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mcp_types::{InputRequest, InputResponse};

use crate::message::{Fault, InputState, ServerNotification};

/// The source of the input that a call asks its client for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// The responses that the client has sent along with the call (modern era). Most calls have none.
    /// The reply asks for missing input, and the client repeats the call.
    Recorded(Option<Box<InputState>>),
    /// A channel to ask the client while the call runs (a session of the legacy era).
    Live {
        /// The client's session.
        channel: Arc<dyn BackChannel>,
        /// The call's stream, which carries the questions.
        sink: Arc<dyn MessageSink>,
    },
    /// A call that may become a task (tasks extension). Before, the responses count that the client has
    /// sent along, as for [`Recorded`](Self::Recorded); afterwards, the task asks.
    Task {
        /// The responses that the client has sent along.
        recorded: Option<Box<InputState>>,
        /// The task.
        channel: Arc<dyn TaskChannel>,
    },
    /// A legacy client without a session, which cannot be asked.
    Absent,
}

/// A channel from a running call to the task that the call may become.
pub trait TaskChannel: Send + Sync + 'static {
    /// Returns true after the call became a task.
    fn is_task(&self) -> bool;

    /// Receives a notification of the call after it became a task.
    fn report(&self, notification: &ServerNotification);

    /// Asks the client through the task, under a key that the task uses once. Dropping the future
    /// withdraws the request.
    ///
    /// # Errors
    ///
    /// Returns [`BackChannelError`] when the client provides no input.
    fn ask(
        self: Arc<Self>,
        key: &str,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>>;
}

impl fmt::Debug for dyn TaskChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskChannel")
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::Recorded(None)
    }
}

impl From<InputState> for Input {
    fn from(recorded: InputState) -> Self {
        let is_first = recorded == InputState::default();
        Self::Recorded((!is_first).then(|| Box::new(recorded)))
    }
}

/// A stream that carries messages to the client: the stream of the call that they belong to, or
/// the pipe.
pub trait MessageSink: Send + Sync + 'static {
    /// Queues a message. Never waits. Returns false if the message cannot reach the client.
    fn send(&self, message: Bytes) -> bool;
}

impl fmt::Debug for dyn MessageSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageSink")
    }
}

/// A channel from a running call to its client, for requests for input.
pub trait BackChannel: Send + Sync + 'static {
    /// Asks the client on `sink`. Dropping the future cancels the request.
    ///
    /// # Errors
    ///
    /// Returns [`BackChannelError`] when the client provides no input.
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
        sink: Arc<dyn MessageSink>,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>>;

    /// Returns the prefix of this client's elicitation ids, by which
    /// [`ExtensionNotification::elicitation_complete`](crate::ExtensionNotification::elicitation_complete) finds
    /// its session after the call. Default: `None`, the session cannot be found.
    ///
    /// The notification may come minutes later, from another node: the change bus reaches all nodes, and each
    /// session compares its prefix. A table of ids would need a shared store. The prefix is not the session's
    /// id, because elicitation ids are in URLs.
    fn topic(&self) -> Option<Arc<str>> {
        None
    }
}

impl fmt::Debug for dyn BackChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackChannel")
    }
}

/// A failed request for input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BackChannelError {
    /// The client has refused the request, or does not support it.
    #[error("the client did not answer: {0}")]
    Refused(Fault),
    /// The client did not respond in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The session has ended.
    #[error("the session ended before the client answered")]
    Closed,
    /// The response does not fit the request.
    #[error("the client's answer is malformed: {0}")]
    Malformed(String),
    /// The limit of pending requests to the client is reached.
    #[error("too many questions of this session wait for an answer")]
    Busy,
}
