//! [`Error`]: a call's error, and [`ErrorKind`]: its cause.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `outcome` | outcomes of failed requests: may the server have executed the call, is it repeated |
//! | `display` | messages and sources |
//! | `predicates` | methods of [`Error`] that classify it |

mod display;
pub(crate) mod outcome;
mod predicates;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt::Display;
use std::time::Duration;

use http::StatusCode;
#[cfg(feature = "auth")]
use mcp_auth::AuthError;
use mcp_core::extension::InvalidSettings;
use mcp_core::versioning::newest_common;
use mcp_core::wire::DecodeError;
use mcp_core::{ChannelError, ClientRequest, CloseReason, Fault, Frame};
use mcp_types::{
    ParseError, ProtocolVersion, RawObjectError, RequestId, UnexpectedResult, escape_line,
};

use crate::inputs::{BoxError, InputError};

/// The error of a call. Its message names server, method, tool and cause, and never contains a
/// secret. Text of the server is escaped: the message is one line, and the last lines of a process's
/// standard error follow it indented.
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
        Self::new(None, kind)
    }
}

/// For functions that create a channel and connect over it.
impl From<ChannelError> for Error {
    fn from(error: ChannelError) -> Self {
        ErrorKind::Channel(error).into()
    }
}

/// For functions that log in and connect.
#[cfg(feature = "auth")]
impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        ChannelError::from(error).into()
    }
}

/// For `client.call(…).await?.parse()?`.
impl From<UnexpectedResult> for Error {
    fn from(error: UnexpectedResult) -> Self {
        ErrorKind::Result(error).into()
    }
}

impl Error {
    fn new(call: Option<CallContext>, kind: ErrorKind) -> Self {
        Self {
            inner: Box::new(ErrorInner {
                call,
                kind,
                stderr_tail: None,
            }),
        }
    }

    /// Creates an error that concerns a server of a group.
    pub(crate) fn for_server(server: &str, kind: ErrorKind) -> Self {
        let call = CallContext {
            server: server.into(),
            method: Box::default(),
            item: None,
        };
        Self::new(Some(call), kind)
    }

    /// Creates the error of a request to `peer`.
    pub(crate) fn in_call(peer: &str, request: &ClientRequest, kind: ErrorKind) -> Self {
        let call = CallContext {
            server: peer.into(),
            method: request.method_name().into(),
            item: request.item().map(Into::into),
        };
        Self::new(Some(call), kind)
    }

    /// Wraps any other error, for functions that
    /// [connect](crate::group::GroupBuilder::server) a server of a group: a missing file, for
    /// example, or a token that could not be obtained.
    pub fn other(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ErrorKind::Other(cause.into()).into()
    }

    /// Marks the error of a call that the server may have executed.
    pub(crate) fn mark_may_have_run(mut self) -> Self {
        if !self.may_have_run() {
            let kind = std::mem::replace(&mut self.inner.kind, ErrorKind::Cancelled);
            self.inner.kind = ErrorKind::MayHaveRun {
                cause: Box::new(kind),
                note: "",
            };
        }
        self
    }

    /// Adds the end of the server's standard error to the message.
    pub(crate) fn with_stderr_tail(mut self, stderr: impl Into<Box<str>>) -> Self {
        self.inner.stderr_tail = Some(stderr.into()).filter(|stderr| !stderr.is_empty());
        self
    }
}

/// The cause of an error. The server's faults and the client's failures are separate variants.
// spec: ERR-09
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErrorKind {
    #[error("{}", with_cause(.0))]
    Channel(ChannelError),
    #[error("{}{}", one_line(fault), cure(fault))]
    Fault {
        fault: Fault,
        status: Option<StatusCode>,
        challenge: Option<Box<str>>,
        /// The header `Retry-After`.
        retry_after: Option<Duration>,
    },
    #[error("no response within {0:?}")]
    TimedOut(Duration),
    #[error("no response within a total of {0:?}")]
    TotalTimeout(Duration),
    /// The server may have executed the call. The note says so, where a reader needs it.
    #[error("{cause}{note}")]
    MayHaveRun {
        cause: Box<Self>,
        note: &'static str,
    },
    /// No response was read, and the server has written a line that is not a message.
    #[error(
        "{cause}; the server wrote a line that is not a message: {}",
        escape_line(line)
    )]
    UnreadLine { cause: Box<Self>, line: String },
    #[error("the caller has cancelled the call")]
    Cancelled,
    #[error("the stream ended without a response")]
    NoResponse,
    #[error("the response is not a valid message: {}", one_line(.0))]
    InvalidMessage(ParseError),
    #[error("the response is for another request, {}", one_line(given))]
    WrongId { given: RequestId },
    #[error("{}", one_line(.0))]
    Decode(DecodeError),
    #[error("the result is that of another method")]
    WrongResult,
    #[error("{0}")]
    Input(#[from] InputError),
    #[error("the server returned a malformed task: {}", one_line(.0))]
    MalformedTask(String),
    #[error("the task was cancelled before it was done")]
    TaskCancelled,
    #[error("the task requires more than {0} inputs")]
    TooManyTaskInputs(usize),
    #[error("the result has the unknown type {0:?}")]
    UnknownResultType(Box<str>),
    #[error(
        "no common protocol version: the server supports {}, this client {client}",
        one_line(&list(server))
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
    #[error(
        "the client writes the field {0:?} of `_meta` itself; remove it from `ClientBuilder::meta`"
    )]
    ReservedMeta(&'static str),
    #[error("the root {0:?} is not a `file://` URI")]
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
    #[error("the server is not started again for {:.1} s: {reason}", wait.as_secs_f64())]
    BackingOff { reason: String, wait: Duration },
    #[error("the list has more than {0} pages; raise `max_pages`")]
    TooManyPages(usize),
    #[error("the list has more than {0} items; raise `max_items`")]
    TooManyItems(usize),
    #[error("the list has more than {0} bytes; raise `max_list_bytes`")]
    ListTooLarge(usize),
    #[error("before its first response, {}", end_text(.0))]
    EndedAtStart(Box<Self>),
    #[error("the command is not approved; the `approve` hook of its configuration file refuses it")]
    NotApproved,
    #[error("the result violates the output schema of the tool: {}", one_line(.0))]
    OutputSchema(String),
    #[error("the server does not declare the extension `{0}`")]
    NoExtension(&'static str),
    #[error("the extensions of the server are unknown; call `Client::discover` first")]
    UnknownExtensions,
    #[error("{}", one_line(.0))]
    ExtensionSettings(InvalidSettings),
    #[error("the extensions of this client cannot be used: {0}")]
    Extensions(String),
    #[error("the result is malformed: {}", one_line(.0))]
    CustomResult(String),
    #[error("{0}")]
    Result(UnexpectedResult),
    #[error("{0}")]
    Other(BoxError),
}

/// Formats a cause that may contain text of the server, without line breaks.
fn one_line(cause: &dyn Display) -> String {
    escape_line(&cause.to_string()).into_owned()
}

/// Formats an error with its source, which is more specific.
fn with_cause(error: &dyn StdError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Returns the reason for which a process has ended: exit status and last lines of standard error.
fn end_text(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::Channel(ChannelError::Closed(CloseReason::Broken(cause))) => cause.to_string(),
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

/// Returns how a client declares the capabilities that a call needs.
fn cure(fault: &Fault) -> String {
    let Fault::MissingCapability { required } = fault else {
        return String::new();
    };
    let setters = [
        (required.sampling.is_some(), "`.on_sample(…)`"),
        (required.allows_form(), "`.on_elicit(…)`"),
        (required.allows_url(), "`.on_elicit_url(…)`"),
        (required.roots.is_some(), "`.roots(…)`"),
    ];
    let setters = setters.into_iter().filter(|(is_needed, _)| *is_needed);
    let setters: Vec<_> = setters.map(|(_, setter)| setter).collect();
    if setters.is_empty() {
        return String::new();
    }
    format!("; add {} to the client", setters.join(" and "))
}

impl ErrorKind {
    /// Returns the error as layers and observers see it.
    pub(crate) fn to_fault(&self) -> Fault {
        match self {
            Self::Fault { fault, .. } => fault.clone(),
            Self::TimedOut(_) | Self::TotalTimeout(_) => Fault::Deadline,
            error => Fault::internal(error.to_string()),
        }
    }

    pub(crate) fn no_common_version(server: Vec<String>, client: &[ProtocolVersion]) -> Self {
        Self::NoCommonVersion {
            server,
            client: ProtocolVersion::listed(client),
        }
    }

    /// Converts a server fault. `frame` is the response with the fault, or empty.
    pub(crate) fn from_fault(
        fault: Fault,
        frame: Frame,
        client_versions: &[ProtocolVersion],
    ) -> Self {
        match fault {
            Fault::UnsupportedVersion { supported, .. }
                if newest_common(&supported, client_versions).is_none() =>
            {
                Self::no_common_version(supported, client_versions)
            }
            fault => Self::of_fault(fault, frame),
        }
    }

    /// Converts a fault whatever the client supports.
    pub(crate) fn of_fault(fault: Fault, frame: Frame) -> Self {
        Self::Fault {
            fault,
            status: frame.status,
            challenge: frame.challenge,
            retry_after: frame.retry_after,
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
        let Self::Channel(ChannelError::Closed(reason)) = self.root() else {
            return false;
        };
        *reason != CloseReason::Local
    }

    /// Returns the innermost error.
    pub(crate) fn root(&self) -> &Self {
        match self {
            Self::UnexpectedResponse(cause)
            | Self::EndedAtStart(cause)
            | Self::UnreadLine { cause, .. }
            | Self::MayHaveRun { cause, .. } => cause.root(),
            Self::Start(error) => error.inner.kind.root(),
            other => other,
        }
    }

    pub(crate) fn status(&self) -> Option<StatusCode> {
        match self.root() {
            Self::Channel(ChannelError::Status { status, .. }) => Some(*status),
            Self::Fault { status, .. } => *status,
            _ => None,
        }
    }
}
