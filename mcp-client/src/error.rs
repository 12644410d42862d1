//! [`Error`]: the error of a call.

mod display;
mod kind;
mod predicates;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;

use mcp_core::{ChannelError, ClientRequest};
use mcp_types::UnexpectedResult;

pub(crate) use kind::ErrorKind;

/// The error of a call. Its message names server, method, tool and cause, and never contains a
/// secret.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: mcp::Client) {
/// match client.call("deploy", ()).await {
///     Ok(result) => println!("{}", result.text()),
///     Err(error) if error.is_retryable() => println!("later: {error}"),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
pub struct Error {
    inner: Box<ErrorInner>,
}

struct ErrorInner {
    call: Option<CallContext>,
    kind: ErrorKind,
    /// The end of the server's standard error.
    stderr_tail: Option<Box<str>>,
}

impl ErrorInner {
    fn boxed(call: Option<CallContext>, kind: ErrorKind) -> Box<Self> {
        Box::new(Self {
            call,
            kind,
            stderr_tail: None,
        })
    }
}

/// The call that failed.
struct CallContext {
    server: Box<str>,
    /// Empty for an error that concerns a server of a group as a whole.
    method: Box<str>,
    /// The tool, prompt or resource.
    item: Option<Box<str>>,
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self {
            inner: ErrorInner::boxed(None, kind),
        }
    }
}

/// For functions that create a channel and connect over it.
impl From<ChannelError> for Error {
    fn from(error: ChannelError) -> Self {
        ErrorKind::Channel(error).into()
    }
}

/// For `client.call(…).await?.parse()?`.
impl From<UnexpectedResult> for Error {
    fn from(error: UnexpectedResult) -> Self {
        ErrorKind::Result(error).into()
    }
}

impl Error {
    /// Creates an error that concerns a server of a group.
    pub(crate) fn for_server(server: &str, kind: ErrorKind) -> Self {
        let call = CallContext {
            server: server.into(),
            method: Box::default(),
            item: None,
        };
        Self {
            inner: ErrorInner::boxed(Some(call), kind),
        }
    }

    /// Creates the error of a request to `peer`.
    pub(crate) fn in_call(peer: &str, request: &ClientRequest, kind: ErrorKind) -> Self {
        let call = CallContext {
            server: peer.into(),
            method: request.method_name().into(),
            item: request.item().map(Into::into),
        };
        Self {
            inner: ErrorInner::boxed(Some(call), kind),
        }
    }

    /// Wraps any other error, for functions that
    /// [connect](crate::group::GroupBuilder::server) a server of a group: a missing file, for
    /// example, or a token that could not be obtained.
    pub fn other(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ErrorKind::Other(cause.into()).into()
    }

    /// Adds the end of the server's standard error to the message.
    #[must_use]
    pub fn with_stderr_tail(mut self, stderr: impl Into<Box<str>>) -> Self {
        self.inner.stderr_tail = Some(stderr.into()).filter(|stderr| !stderr.is_empty());
        self
    }
}
