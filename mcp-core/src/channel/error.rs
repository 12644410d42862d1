//! Errors of client transports, and reasons for the end of a connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A client transport error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The client could not connect.
    #[error("cannot connect to {peer}")]
    Connect {
        /// The server.
        peer: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke before the response arrived.
    #[error("the connection broke before the answer was there")]
    Broken {
        /// The cause.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The response to a request that the server sent during the call was not delivered. The call waits for it.
    #[error("the server did not get the response to its request")]
    NotDelivered {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection is closed. No further call on it can succeed.
    #[error("the connection is closed: {0}")]
    Closed(CloseReason),
    /// The server no longer has the session, and refused the request before it looked at its content.
    /// Running requests end as [`Broken`](Self::Broken).
    #[error("the server has ended the session")]
    SessionExpired,
    /// An HTTP status without a message of the Model Context Protocol. 502 and 504 come from a proxy that
    /// has sent the request on, so the server may have executed it.
    #[error("{}", status_text(*status, excerpt))]
    Status {
        /// The status.
        status: http::StatusCode,
        /// The start of the body. Empty if the body is HTML, which is a page for people.
        excerpt: String,
        /// The time to wait before the request is repeated (`Retry-After`).
        retry_after: Option<Duration>,
        /// The challenge of the server (`WWW-Authenticate`), when the status is 401 or 403.
        challenge: Option<Box<str>>,
    },
    /// The server demands authorization, and it failed.
    #[error("authorization failed")]
    Unauthorized {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The response exceeds the limit of the client.
    #[error(
        "the answer is longer than {limit} bytes; ask for less, or raise `HttpChannel::body_limit` or \
         `ServerCommand::line_limit`"
    )]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The response is not a protocol message.
    #[error("malformed answer: {0}")]
    Malformed(String),
    /// The request itself cannot be sent: an invalid URL or header.
    #[error("cannot send the request: {0}")]
    NotSendable(String),
}

impl ChannelError {
    /// Converts an error of a service or of a body. A `ChannelError` is returned unchanged.
    #[doc(hidden)]
    pub fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::Broken {
                source: Some(source),
            },
        }
    }
}

fn status_text(status: http::StatusCode, excerpt: &str) -> String {
    let text = match status {
        http::StatusCode::BAD_GATEWAY => {
            format!("the proxy lost the server while it worked ({status})")
        }
        http::StatusCode::GATEWAY_TIMEOUT => {
            format!("the proxy did not wait longer for the server ({status})")
        }
        _ => format!("HTTP status {status}"),
    };
    if excerpt.is_empty() {
        text
    } else {
        format!("{text}: {excerpt}")
    }
}

/// The cause of a connection that failed in TLS: a source of [`ChannelError::Connect`] or
/// [`ChannelError::Broken`]. Possible causes are a certificate that is not trusted, and a peer that does
/// not speak TLS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(Box<str>);

impl TlsError {
    /// Creates the error from its message.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }
}

/// The reason for the end of a connection. Two broken connections are equal if their causes have the same text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client has closed the connection.
    Local,
    /// The server has closed the connection.
    Remote,
    /// The connection broke for this cause: the transport's error, which is the
    /// [source](std::error::Error::source). The text of a child process contains the end of its standard error.
    Broken(Arc<dyn std::error::Error + Send + Sync>),
}

impl CloseReason {
    /// The reason of a connection that broke for this cause.
    pub fn broken(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken(Arc::from(cause.into()))
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("the client has closed the connection"),
            Self::Remote => f.write_str("the server has closed the connection"),
            Self::Broken(cause) => write!(f, "the connection broke: {cause}"),
        }
    }
}

/// By hand: the source is the cause itself, and not the `Arc` around it, so that it can be downcast.
impl std::error::Error for CloseReason {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Broken(cause) => Some(&**cause),
            Self::Local | Self::Remote => None,
        }
    }
}

impl PartialEq for CloseReason {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local, Self::Local) | (Self::Remote, Self::Remote) => true,
            (Self::Broken(one), Self::Broken(other)) => one.to_string() == other.to_string(),
            _ => false,
        }
    }
}

impl Eq for CloseReason {}

/// Returns an error's message, followed by the messages of its causes: for log lines and error responses, which have no
/// chain of sources.
///
/// # Examples
///
/// ```
/// use mcp::core::{ChannelError, with_causes};
///
/// let error = ChannelError::Broken { source: Some("connection reset".into()) };
/// assert_eq!(with_causes(&error), format!("{error}: connection reset"));
/// ```
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
