//! What can go wrong with a call.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use http::StatusCode;
use mcp_core::versioning::newest_common;
use mcp_core::wire::DecodeError;
use mcp_core::{ChannelError, ClientRequest, CloseReason, Fault};
use mcp_types::{ParseError, ProtocolVersion, RawObjectError, RequestId, UnexpectedResult};

use crate::InputError;
use crate::inputs::Cause;

/// A call that failed. The text names server, method, tool and cause, and never holds a secret.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: mcp_client::Client) {
/// match client.call("deploy", ()).await {
///     Ok(result) => println!("{}", result.text()),
///     Err(error) if error.is_retryable() => println!("later: {error}"),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
pub struct Error {
    inner: Box<Inside>,
}

struct Inside {
    call: Option<CallName>,
    kind: Kind,
    /// What the server has written beside the protocol.
    last_words: Option<Box<str>>,
}

impl Inside {
    fn boxed(call: Option<CallName>, kind: Kind) -> Box<Self> {
        Box::new(Self {
            call,
            kind,
            last_words: None,
        })
    }
}

/// Which call failed, and where.
struct CallName {
    server: Box<str>,
    method: Box<str>,
    item: Option<Box<str>>,
}

/// Why it failed. What the server says and what this side finds out are never mixed up.
// spec: ERR-09
#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("{}", with_cause(.0))]
    Channel(ChannelError),
    #[error("{fault}")]
    Fault {
        fault: Fault,
        status: Option<StatusCode>,
    },
    #[error("no answer within {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("no answer within {} in all", seconds(*.0))]
    TimedOutInAll(Duration),
    #[error(
        "{0}; the server may have done what it was asked, so it was not asked again (allow that with `idempotent`)"
    )]
    Lost(Box<Self>),
    #[error("the caller has cancelled the call")]
    Cancelled,
    #[error("the server ended its answer without a response")]
    Unanswered,
    #[error("the answer is no message of the protocol: {0}")]
    Unreadable(ParseError),
    #[error("the server answered another request, {answered}")]
    WrongId { answered: RequestId },
    #[error("{0}")]
    Decode(DecodeError),
    #[error("the answer is that of another method")]
    OtherResult,
    #[error("{0}")]
    Input(InputError),
    #[error("the result is of the unknown kind {0:?}")]
    Extended(Box<str>),
    #[error(
        "no protocol version in common: the server speaks {}, this client {spoken}",
        list(supported)
    )]
    NoCommonVersion {
        supported: Vec<String>,
        spoken: String,
    },
    #[error("the server speaks nothing that this client knows: {0}")]
    UnexpectedResponse(Box<Self>),
    #[error("a session of {0} has nothing to discover; what its server said is known already")]
    NothingToDiscover(ProtocolVersion),
    #[error("the arguments cannot be sent: {0}")]
    Arguments(RawObjectError),
    #[error("the header {0:?} cannot be sent: its name or its value is invalid")]
    Header(Box<str>),
    #[error("the root {0:?} is no `file://` URI")]
    Root(String),
    #[error("this client was built without roots; give them with `ClientBuilder::roots`")]
    NoRoots,
    #[error("the server ended the subscription without having begun it")]
    NotAcknowledged,
    #[error("the group has no server {0:?}")]
    NoSuchServer(Box<str>),
    #[error("no server of the group has {0:?}")]
    NotInGroup(Box<str>),
    #[error("the server is not used: {0}")]
    Unused(String),
    #[error("the server could not be started: {0}")]
    Start(Error),
    #[error("the server is left alone for {}: {reason}", seconds(*wait))]
    Resting { reason: String, wait: Duration },
    #[error("the list never ends: the server gave the same cursor twice")]
    RepeatedCursor,
    #[error("the list has more than {0} pages")]
    TooManyPages(usize),
    #[error("the result breaks the output schema of the tool: {0}")]
    Output(String),
    #[error("{0}")]
    Result(UnexpectedResult),
    #[error("{0}")]
    Other(Cause),
}

/// An error and the next cause behind it, which says more than the error itself.
fn with_cause(error: &dyn StdError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn seconds(duration: Duration) -> String {
    format!("{duration:?}")
}

fn list(versions: &[String]) -> String {
    if versions.is_empty() {
        "none".to_owned()
    } else {
        versions.join(", ")
    }
}

impl Kind {
    pub(crate) fn no_common_version(supported: Vec<String>, spoken: &[ProtocolVersion]) -> Self {
        Self::NoCommonVersion {
            supported,
            spoken: ProtocolVersion::listed(spoken),
        }
    }

    /// What the server refuses with.
    pub(crate) fn of_fault(
        fault: Fault,
        status: Option<StatusCode>,
        spoken: &[ProtocolVersion],
    ) -> Self {
        match fault {
            Fault::UnsupportedVersion { supported, .. }
                if newest_common(&supported, spoken).is_none() =>
            {
                Self::no_common_version(supported, spoken)
            }
            fault => Self::Fault { fault, status },
        }
    }

    pub(crate) fn closed(reason: CloseReason) -> Self {
        Self::Channel(ChannelError::Closed(reason))
    }

    /// The connection as a whole has come to its end.
    pub(crate) fn is_end(&self) -> bool {
        self.is_broken() || matches!(self, Self::Channel(ChannelError::Closed(_)))
    }

    /// The connection as a whole has ended by itself.
    pub(crate) fn is_end_of_all(&self) -> bool {
        let Self::Channel(ChannelError::Closed(reason)) = self else {
            return false;
        };
        *reason != CloseReason::Local
    }

    /// The connection of one request broke; another one may do better.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(
            self.root(),
            Self::Unanswered | Self::Channel(ChannelError::Broken { .. })
        )
    }

    /// The cause may pass by itself.
    pub(crate) fn may_pass(&self) -> bool {
        self.is_broken()
            || matches!(self, Self::Resting { .. })
            || matches!(self.root(), Self::Channel(ChannelError::Connect { .. }))
            || matches!(
                self.status(),
                Some(
                    StatusCode::REQUEST_TIMEOUT
                        | StatusCode::TOO_MANY_REQUESTS
                        | StatusCode::BAD_GATEWAY
                        | StatusCode::SERVICE_UNAVAILABLE
                        | StatusCode::GATEWAY_TIMEOUT
                )
            )
    }

    /// What it comes down to.
    fn root(&self) -> &Self {
        match self {
            Self::UnexpectedResponse(cause) | Self::Lost(cause) => cause.root(),
            Self::Start(error) => error.inner.kind.root(),
            other => other,
        }
    }

    /// Nobody answered in time: the server, or somebody on the way to it.
    fn is_timeout(&self) -> bool {
        match self.root() {
            Self::TimedOut(_) | Self::TimedOutInAll(_) => true,
            Self::Channel(error) => took_too_long(error),
            Self::Other(cause) => took_too_long(&**cause),
            _ => false,
        }
    }

    fn status(&self) -> Option<StatusCode> {
        match self.root() {
            Self::Channel(ChannelError::Status { status, .. }) => Some(*status),
            Self::Fault { status, .. } => *status,
            _ => None,
        }
    }
}

/// The operating system, or a client of HTTP, gave up.
fn took_too_long(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    })
}

impl From<InputError> for Kind {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self {
            inner: Inside::boxed(None, kind),
        }
    }
}

/// For programs that make a channel and connect over it in one function.
impl From<ChannelError> for Error {
    fn from(error: ChannelError) -> Self {
        Kind::Channel(error).into()
    }
}

/// For `client.call(…).await?.parse()?`.
impl From<UnexpectedResult> for Error {
    fn from(error: UnexpectedResult) -> Self {
        Kind::Result(error).into()
    }
}

impl Error {
    /// A server of a group that cannot be had.
    pub(crate) fn of_server(server: &str, kind: Kind) -> Self {
        let call = CallName {
            server: server.into(),
            method: Box::default(),
            item: None,
        };
        Self {
            inner: Inside::boxed(Some(call), kind),
        }
    }

    pub(crate) fn of(peer: &str, asked: &ClientRequest, kind: Kind) -> Self {
        let call = CallName {
            server: peer.into(),
            method: asked.method_name().into(),
            item: asked.item().map(Into::into),
        };
        Self {
            inner: Inside::boxed(Some(call), kind),
        }
    }

    /// An error of something else, for functions that [connect](crate::group::GroupBuilder::server)
    /// a server of a group: a file that is missing, a token that is not to be had.
    pub fn other(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Kind::Other(cause.into()).into()
    }

    /// Adds what the server has written beside the protocol, to its standard error for example.
    #[must_use]
    pub fn with_last_words(mut self, words: impl Into<Box<str>>) -> Self {
        self.inner.last_words = Some(words.into()).filter(|words| !words.is_empty());
        self
    }

    /// The server did not answer in time, or could not be reached in time.
    ///
    /// Like every question about an error, it is asked of the cause that the error comes down to:
    /// a server of a group that did not answer while it was started is a timeout.
    pub fn is_timeout(&self) -> bool {
        self.inner.kind.is_timeout()
    }

    /// The connection ended before the answer was there, or had ended already.
    pub fn is_closed(&self) -> bool {
        let kind = self.inner.kind.root();
        kind.is_broken()
            || matches!(
                kind,
                Kind::Channel(ChannelError::Closed(_) | ChannelError::SessionExpired)
            )
    }

    /// The connection broke, and the server may have done what it was asked: it was not asked again
    /// because the call is not known to be [idempotent](crate::PreparedCall::idempotent).
    pub fn may_have_run(&self) -> bool {
        matches!(self.inner.kind, Kind::Lost(_))
    }

    /// The caller has cancelled the call ([`cancel_on`](crate::PreparedCall::cancel_on)).
    pub fn is_cancelled(&self) -> bool {
        matches!(self.inner.kind, Kind::Cancelled)
    }

    /// The server wants to know who asks, or does not let them (HTTP 401, 403).
    pub fn is_auth(&self) -> bool {
        matches!(
            self.inner.kind.status(),
            Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
        )
    }

    /// The cause may pass by itself: the server was not reached, is overloaded, or the connection
    /// broke. In the last case [`may_have_run`](Self::may_have_run) tells whether the server may
    /// have done what it was asked; the caller knows whether it may be done twice.
    pub fn is_retryable(&self) -> bool {
        self.inner.kind.may_pass()
    }

    /// How long the server wants to be left alone before the next try, when it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.inner.kind.root() {
            Kind::Channel(ChannelError::Status { retry_after, .. }) => *retry_after,
            _ => None,
        }
    }

    /// The error that the server answered.
    pub fn fault(&self) -> Option<&Fault> {
        match self.inner.kind.root() {
            Kind::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Why the server did not get the input that it asked for.
    pub fn input(&self) -> Option<&InputError> {
        match self.inner.kind.root() {
            Kind::Input(error) => Some(error),
            _ => None,
        }
    }

    /// What a tool said when it failed, for results that were read with
    /// [`parse`](mcp_types::CallToolResult::parse).
    pub fn tool_error(&self) -> Option<&str> {
        match self.inner.kind.root() {
            Kind::Result(UnexpectedResult::ToolFailed(text)) => Some(text),
            _ => None,
        }
    }

    /// What the server speaks, when that is nothing that this client may speak.
    pub fn supported_versions(&self) -> Option<&[String]> {
        match self.inner.kind.root() {
            Kind::NoCommonVersion { supported, .. } => Some(supported),
            _ => None,
        }
    }
}

/// Names the cause; what is behind the cause comes from [`source`](StdError::source).
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inside {
            call,
            kind,
            last_words,
        } = &*self.inner;
        if let Some(CallName {
            server,
            method,
            item,
        }) = call
        {
            if method.is_empty() {
                f.write_str(server)?;
            } else {
                f.write_str(method)?;
                if let Some(item) = item {
                    write!(f, " {item:?}")?;
                }
                // An error of connecting names the server itself.
                if !matches!(kind, Kind::Channel(ChannelError::Connect { .. })) {
                    write!(f, " at {server}")?;
                }
            }
            f.write_str(": ")?;
        }
        kind.fmt(f)?;
        match last_words {
            Some(words) => write!(f, "; the server says:\n{words}"),
            None => Ok(()),
        }
    }
}

/// The text with all causes: what `unwrap` and `fn main() -> Result<(), Error>` print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, "\n  caused by: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.inner.kind.root() {
            Kind::Channel(error) => error.source()?.source(),
            Kind::Other(cause) => cause.source(),
            // Its text tells the cause.
            Kind::Input(error) => error.source()?.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
