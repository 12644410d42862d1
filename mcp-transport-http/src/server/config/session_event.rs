//! Events in a session's life, for [`StreamableHttp::on_session`].
//!
//! [`StreamableHttp::on_session`]: crate::server::StreamableHttp::on_session

use std::fmt;

/// Event in a session's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent<'a> {
    /// A client opened the session.
    Opened {
        /// Session id, a secret between client and server.
        id: &'a str,
    },
    /// A client continued a session that another server opened, or this server before a restart
    /// ([`Sessions::shared`](super::Sessions::shared)).
    Continued {
        /// Session id, a secret between client and server.
        id: &'a str,
    },
    /// The session ended.
    Closed {
        /// Session id, a secret between client and server.
        id: &'a str,
        /// Reason of the end.
        reason: SessionEnd,
    },
}

/// Reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The client deleted the session.
    Deleted,
    /// The session was idle for too long
    /// ([`Sessions::idle_timeout`](super::Sessions::idle_timeout)).
    Idle,
    /// The client neither completed the handshake nor sent a request
    /// ([`Sessions::init_timeout`](super::Sessions::init_timeout)).
    NeverReady,
    /// The connection that carried the session ended (HTTP+SSE).
    Disconnected,
    /// The client sent `initialize` again on the same connection (HTTP+SSE).
    Replaced,
    /// Another server with the same store ended the session.
    Elsewhere,
    /// The session made room for another one ([`Sessions::max`](super::Sessions::max)).
    Evicted,
    /// The server ended the session.
    Closed,
}

/// Description for logs.
impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "the client deleted the session",
            Self::Idle => "the session was idle for too long",
            Self::NeverReady => "the client did not complete the handshake",
            Self::Disconnected => "the connection of the client ended",
            Self::Replaced => "the client opened another session on the connection",
            Self::Elsewhere => "another server ended the session",
            Self::Evicted => "the session made room for another one",
            Self::Closed => "the server ended the session",
        })
    }
}
