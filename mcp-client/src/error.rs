//! [`Error`]: the error of a call.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use http::StatusCode;
use mcp_core::versioning::newest_common;
use mcp_core::wire::DecodeError;
use mcp_core::{ChannelError, ClientRequest, CloseReason, Fault};
use mcp_types::{ParseError, ProtocolVersion, RawObjectError, RequestId, UnexpectedResult, codes};

use crate::inputs::{BoxError, InputError};

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

/// The cause of an error. Faults of the server and failures of the client are separate variants.
// spec: ERR-09
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErrorKind {
    #[error("{}", with_cause(.0))]
    Channel(ChannelError),
    #[error("{fault}")]
    Fault {
        fault: Fault,
        status: Option<StatusCode>,
    },
    #[error("no response within {0:?}")]
    TimedOut(Duration),
    #[error("no response within a total of {0:?}")]
    TotalTimeout(Duration),
    #[error(
        "{0}; the server may have executed the call, so it was not repeated (allow that with `idempotent`)"
    )]
    MayHaveRun(Box<Self>),
    #[error("the caller has cancelled the call")]
    Cancelled,
    #[error("the stream ended without a response")]
    NoResponse,
    #[error("the response is no valid message: {0}")]
    InvalidMessage(ParseError),
    #[error("the response is for another request, {given}")]
    WrongId { given: RequestId },
    #[error("{0}")]
    Decode(DecodeError),
    #[error("the result is that of another method")]
    WrongResult,
    #[error("{0}")]
    Input(InputError),
    #[error("the result has the unknown type {0:?}")]
    UnknownResultType(Box<str>),
    #[error(
        "no common protocol version: the server supports {}, this client {client}",
        list(server)
    )]
    NoCommonVersion { server: Vec<String>, client: String },
    #[error("the server answers neither server/discover nor initialize: {0}")]
    UnexpectedResponse(Box<Self>),
    #[error("a session of {0} has no server/discover; the answer to initialize is known already")]
    NothingToDiscover(ProtocolVersion),
    #[error("the arguments cannot be sent: {0}")]
    Arguments(RawObjectError),
    #[error("the header {0:?} cannot be sent: its name or its value is invalid")]
    Header(Box<str>),
    #[error("the root {0:?} is no `file://` URI")]
    Root(String),
    #[error("this client was built without roots; give them with `ClientBuilder::roots`")]
    NoRoots,
    #[error("the server ended the subscription without acknowledging it")]
    NotAcknowledged,
    #[error("the group has no server {0:?}")]
    NoSuchServer(Box<str>),
    #[error("no server of the group has {0:?}")]
    NotInGroup(Box<str>),
    #[error("the server is disabled: {0}")]
    Unused(String),
    #[error("the server could not be started: {0}")]
    Start(Error),
    #[error("the server is not started again for {wait:?}: {reason}")]
    BackingOff { reason: String, wait: Duration },
    #[error("the list never ends: the server returned the same cursor twice")]
    RepeatedCursor,
    #[error("the list has more than {0} pages")]
    TooManyPages(usize),
    #[error("the list has more than {0} items")]
    TooManyItems(usize),
    #[error("the list has more than {0} bytes")]
    ListTooLarge(usize),
    #[error("the server ended at its start: {}", end_text(.0))]
    EndedAtStart(Box<Self>),
    #[error("the command is not approved; the `approve` hook of its configuration file refuses it")]
    NotApproved,
    #[error("the result violates the output schema of the tool: {0}")]
    OutputSchema(String),
    #[error("{0}")]
    Result(UnexpectedResult),
    #[error("{0}")]
    Other(BoxError),
}

/// Formats an error with its source, which is more specific.
fn with_cause(error: &dyn StdError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Returns the reason of the end of a process: exit status and last lines of standard error.
fn end_text(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::Channel(ChannelError::Closed(CloseReason::Broken(reason))) => reason.clone(),
        other => other.to_string(),
    }
}

fn list(versions: &[String]) -> String {
    if versions.is_empty() {
        "none".to_owned()
    } else {
        versions.join(", ")
    }
}

impl ErrorKind {
    pub(crate) fn no_common_version(server: Vec<String>, client: &[ProtocolVersion]) -> Self {
        Self::NoCommonVersion {
            server,
            client: ProtocolVersion::listed(client),
        }
    }

    /// Converts a fault of the server.
    pub(crate) fn from_fault(
        fault: Fault,
        status: Option<StatusCode>,
        client_versions: &[ProtocolVersion],
    ) -> Self {
        match fault {
            Fault::UnsupportedVersion { supported, .. }
                if newest_common(&supported, client_versions).is_none() =>
            {
                Self::no_common_version(supported, client_versions)
            }
            fault => Self::Fault { fault, status },
        }
    }

    pub(crate) fn closed(reason: CloseReason) -> Self {
        Self::Channel(ChannelError::Closed(reason))
    }

    /// Returns whether the channel is closed or the stream of the request broke.
    pub(crate) fn is_disconnected(&self) -> bool {
        self.is_broken() || matches!(self, Self::Channel(ChannelError::Closed(_)))
    }

    /// Returns whether the channel was closed, but not by this client.
    pub(crate) fn is_remote_close(&self) -> bool {
        let Self::Channel(ChannelError::Closed(reason)) = self else {
            return false;
        };
        *reason != CloseReason::Local
    }

    /// Returns whether the stream of one request broke. Another request may succeed.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(
            self.root(),
            Self::NoResponse | Self::Channel(ChannelError::Broken { .. })
        )
    }

    /// Returns whether a later attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        self.is_broken()
            || matches!(self, Self::BackingOff { .. })
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

    /// Returns the innermost error.
    fn root(&self) -> &Self {
        match self {
            Self::UnexpectedResponse(cause)
            | Self::EndedAtStart(cause)
            | Self::MayHaveRun(cause) => cause.root(),
            Self::Start(error) => error.inner.kind.root(),
            other => other,
        }
    }

    /// Returns whether the server, or a host on the path to it, did not answer in time.
    fn is_timeout(&self) -> bool {
        match self.root() {
            Self::TimedOut(_) | Self::TotalTimeout(_) => true,
            Self::Channel(error) => has_io_timeout(error),
            Self::Other(cause) => has_io_timeout(&**cause),
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

/// Returns whether one of the sources is a timeout of the operating system or of the HTTP client.
fn has_io_timeout(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    })
}

impl From<InputError> for ErrorKind {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
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

    /// Returns whether the server did not answer in time, or could not be reached in time.
    ///
    /// This method and the following ones look at the innermost error. For example, a server of a
    /// group that did not answer while it was started is a timeout.
    pub fn is_timeout(&self) -> bool {
        self.inner.kind.is_timeout()
    }

    /// Returns whether the connection ended before the response arrived, or before the call.
    pub fn is_closed(&self) -> bool {
        let kind = self.inner.kind.root();
        kind.is_broken()
            || matches!(
                kind,
                ErrorKind::Channel(ChannelError::Closed(_) | ChannelError::SessionExpired)
            )
    }

    /// Returns whether the connection broke and the server may have executed the call. The call was
    /// not repeated because it is not known to be
    /// [idempotent](crate::PreparedCall::idempotent).
    pub fn may_have_run(&self) -> bool {
        matches!(self.inner.kind, ErrorKind::MayHaveRun(_))
    }

    /// Returns whether the caller has cancelled the call
    /// ([`cancel_on`](crate::PreparedCall::cancel_on)).
    pub fn is_cancelled(&self) -> bool {
        matches!(self.inner.kind, ErrorKind::Cancelled)
    }

    /// Returns whether the server requires authentication or denies access (HTTP 401, 403).
    pub fn is_auth(&self) -> bool {
        self.authorization().is_some()
            || matches!(
                self.inner.kind.status(),
                Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            )
    }

    /// Returns the reason why a login failed that the server demanded: with the feature `auth`, an
    /// `AuthError`.
    pub fn authorization(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        match self.inner.kind.root() {
            ErrorKind::Channel(ChannelError::Unauthorized { source }) => Some(&**source),
            _ => None,
        }
    }

    /// Returns whether a later attempt may succeed: the server was not reached, is overloaded, or the
    /// connection broke. In the last case [`may_have_run`](Self::may_have_run) returns whether the
    /// server may have executed the call already.
    pub fn is_retryable(&self) -> bool {
        self.inner.kind.is_transient()
    }

    /// Returns the time to wait before the next attempt, if the server sent one (`Retry-After`).
    pub fn retry_after(&self) -> Option<Duration> {
        match self.inner.kind.root() {
            ErrorKind::Channel(ChannelError::Status { retry_after, .. }) => *retry_after,
            _ => None,
        }
    }

    /// Returns the error that the server responded with.
    pub fn fault(&self) -> Option<&Fault> {
        match self.inner.kind.root() {
            ErrorKind::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Returns whether the server does not know the method.
    pub(crate) fn is_unknown_method(&self) -> bool {
        match self.fault() {
            Some(Fault::NoSuchMethod { .. }) => true,
            Some(Fault::Protocol(error)) => error.code == codes::METHOD_NOT_FOUND,
            _ => false,
        }
    }

    /// Returns the error of an input request, such as an elicitation.
    pub fn input(&self) -> Option<&InputError> {
        match self.inner.kind.root() {
            ErrorKind::Input(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the error message of a tool, for results that were read with
    /// [`parse`](mcp_types::CallToolResult::parse).
    pub fn tool_error(&self) -> Option<&str> {
        match self.inner.kind.root() {
            ErrorKind::Result(UnexpectedResult::ToolFailed(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the versions that the server supports, if none of them is allowed on this client.
    pub fn supported_versions(&self) -> Option<&[String]> {
        match self.inner.kind.root() {
            ErrorKind::NoCommonVersion { server, .. } => Some(server),
            _ => None,
        }
    }
}

/// Shows the call and the cause. Further causes are returned by [`source`](StdError::source).
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorInner {
            call,
            kind,
            stderr_tail,
        } = &*self.inner;
        if let Some(CallContext {
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
                // A connect error contains the name of the server.
                if !matches!(kind, ErrorKind::Channel(ChannelError::Connect { .. })) {
                    write!(f, " at {server}")?;
                }
            }
            f.write_str(": ")?;
        }
        kind.fmt(f)?;
        match stderr_tail {
            Some(stderr) => write!(f, "; its standard error ends with:\n{stderr}"),
            None => Ok(()),
        }
    }
}

/// Shows the message with all causes, for `unwrap` and `fn main() -> Result<(), Error>`.
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
            ErrorKind::Channel(error) => error.source()?.source(),
            ErrorKind::Other(cause) => cause.source(),
            // The message contains the first cause already.
            ErrorKind::Input(error) => error.source()?.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as StdError;
    use std::fmt;
    use std::time::Duration;

    use http::StatusCode;
    use mcp_core::{ChannelError, ClientRequest, CloseReason};

    use super::{Error, ErrorKind};

    /// An error with an optional source.
    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Self>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Layer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn debug_shows_each_cause_once() {
        let chain = Layer(
            "handshake",
            Some(Box::new(Layer(
                "certificate",
                Some(Box::new(Layer("expired", None))),
            ))),
        );
        let error = Error::from(ChannelError::Broken {
            source: Some(chain.into()),
        });
        let text = "the connection broke before the answer was there: handshake";
        assert_eq!(error.to_string(), text);
        assert_eq!(error.source().unwrap().to_string(), "certificate");
        assert_eq!(
            format!("{error:?}"),
            format!("{text}\n  caused by: certificate\n  caused by: expired")
        );
    }

    #[test]
    fn predicates_look_at_innermost_error() {
        let late = || ErrorKind::TimedOut(Duration::from_secs(5));
        let slow = ChannelError::Connect {
            peer: "https://example.com".to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::TimedOut, "slow").into(),
        };
        let status = |status| ChannelError::Status {
            status,
            excerpt: String::new(),
            retry_after: Some(Duration::from_secs(9)),
        };
        let request = ClientRequest::Discover;
        let in_group = |kind| {
            let error = Error::in_call("https://example.com", &request, kind);
            Error::for_server("files", ErrorKind::Start(error))
        };
        type Predicate = fn(&Error) -> bool;
        let predicates: [Predicate; 4] = [
            Error::is_timeout,
            Error::is_closed,
            Error::is_auth,
            Error::is_retryable,
        ];
        for (kind, expected) in [
            (late(), [true, false, false, false]),
            (
                ErrorKind::UnexpectedResponse(late().into()),
                [true, false, false, false],
            ),
            (ErrorKind::Channel(slow), [true, false, false, true]),
            (
                ErrorKind::closed(CloseReason::Remote),
                [false, true, false, false],
            ),
            (
                ErrorKind::Channel(status(StatusCode::UNAUTHORIZED)),
                [false, false, true, false],
            ),
            (
                ErrorKind::Channel(ChannelError::Unauthorized {
                    source: "no client id".into(),
                }),
                [false, false, true, false],
            ),
            (
                ErrorKind::Channel(status(StatusCode::SERVICE_UNAVAILABLE)),
                [false, false, false, true],
            ),
            (
                ErrorKind::Other(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
                [true, false, false, false],
            ),
            (ErrorKind::Other("x".into()), [false; 4]),
        ] {
            let error = in_group(kind);
            assert_eq!(
                predicates.map(|predicate| predicate(&error)),
                expected,
                "{error}"
            );
            let text = error.to_string();
            let start = "files: the server could not be started: server/discover";
            assert!(text.starts_with(start), "{text}");
        }
        let error = in_group(ErrorKind::Channel(status(StatusCode::TOO_MANY_REQUESTS)));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
    }

    #[test]
    fn stderr_tail_ends_message() {
        let late = || Error::from(ErrorKind::TimedOut(Duration::from_secs(5)));
        assert_eq!(late().with_stderr_tail("").to_string(), late().to_string());
        let text = late().with_stderr_tail("no licence").to_string();
        assert_eq!(
            text,
            "no response within 5s; its standard error ends with:\nno licence"
        );
    }

    #[test]
    fn error_is_send_and_pointer_sized() {
        fn assert_send<T: Send + Sync + 'static>() {}
        assert_send::<Error>();
        assert!(size_of::<Error>() <= size_of::<usize>());
    }

    #[test]
    fn no_common_version_lists_versions() {
        let kind = ErrorKind::no_common_version(Vec::new(), &[mcp_types::ProtocolVersion::LATEST]);
        let text = "no common protocol version: the server supports none, this client 2026-07-28";
        assert_eq!(Error::from(kind).to_string(), text);
    }
}
