//! Methods of [`Error`] that classify it.

use std::error::Error as StdError;
use std::time::Duration;

use http::StatusCode;
use mcp_core::{ChannelError, Fault};
use mcp_types::{UnexpectedResult, codes};

use super::{Error, ErrorKind};
use crate::inputs::InputError;

impl Error {
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

    /// Returns the challenge of the server: the value of `WWW-Authenticate`, when the HTTP status is 401
    /// or 403 ([`is_auth`](Self::is_auth)). It names the scheme, the missing scopes and the URL of the
    /// resource metadata, for programs that authorize themselves. Several headers are joined by commas;
    /// at most 8 KiB are kept.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) {
    /// if let Err(error) = client.call("deploy", ()).await {
    ///     if let Some(challenge) = error.challenge() {
    ///         println!("log in first: {challenge}");
    ///     }
    /// }
    /// # }
    /// ```
    pub fn challenge(&self) -> Option<&str> {
        match self.inner.kind.root() {
            ErrorKind::Channel(ChannelError::Status { challenge, .. })
            | ErrorKind::Fault { challenge, .. } => challenge.as_deref(),
            _ => None,
        }
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

    /// Returns the time to wait before the next attempt, if the server sent one (`Retry-After`, or
    /// `retryAfter` in the data of its error).
    pub fn retry_after(&self) -> Option<Duration> {
        match self.inner.kind.root() {
            ErrorKind::Fault { fault, .. } => fault.retry_after(),
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

    /// Returns whether the server does not know the method, as for a list that it does not offer.
    pub fn is_unknown_method(&self) -> bool {
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
