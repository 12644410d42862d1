//! Methods of [`Error`] that classify it.

use std::time::Duration;

use http::StatusCode;
#[cfg(feature = "auth")]
use mcp_auth::AuthError;
use mcp_core::{ChannelError, Fault};
use mcp_types::{UnexpectedResult, codes, escape_line};

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

    /// Returns whether the server may have executed the call, or a part of it. A call that must not run
    /// twice is safe to repeat only if this returns false.
    ///
    /// False means that no request was sent, or that each was refused before the call. It is true when
    /// the connection was cut, when a time limit passed or the caller cancelled the call, when the
    /// response cannot be read, and after HTTP 408 and 5xx without a JSON-RPC body: a proxy sends these
    /// also while the server works. A JSON-RPC error is a refusal if its code says so (unknown method,
    /// invalid parameters) or its HTTP status (4xx, 503); after other ones, such as -32603, the server may
    /// have done a part of the work.
    ///
    /// | outcome | `may_have_run` | [`is_retryable`](Self::is_retryable) |
    /// |---|---|---|
    /// | not connected | false | true; after a failure of TLS: false |
    /// | 401, 403, 404, 405, 406, 413, 415 | false | false |
    /// | 429; a JSON-RPC error with a time to wait | false | true, after [`retry_after`](Self::retry_after) |
    /// | 503 with a JSON-RPC error | false | true |
    /// | 408, 502, 503, 504 without a JSON-RPC body | true | true |
    /// | 500 without a JSON-RPC body | true | false |
    /// | connection cut, stream broken, time limit, session lost with its node | true | true |
    /// | a response to the server's own request not delivered | true | true |
    ///
    /// The client repeats calls that may run twice by itself, after 502, 504 and cuts; the answer is then
    /// about all requests of the call. See [`idempotent`](crate::PreparedCall::idempotent).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// match client.call("pay", serde_json::json!({"amount": 3})).await {
    ///     Err(error) if error.may_have_run() => println!("look for the payment first: {error}"),
    ///     Err(error) if error.is_retryable() => println!("pay again later: {error}"),
    ///     outcome => println!("{}", outcome?.text()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn may_have_run(&self) -> bool {
        matches!(self.inner.kind, ErrorKind::MayHaveRun { .. })
    }

    /// Returns whether the caller has cancelled the call
    /// ([`cancel_on`](crate::PreparedCall::cancel_on)).
    pub fn is_cancelled(&self) -> bool {
        matches!(self.inner.kind.root(), ErrorKind::Cancelled)
    }

    /// Returns whether the server requires authentication or denies access (HTTP 401, 403).
    pub fn is_auth(&self) -> bool {
        let kind = self.inner.kind.root();
        matches!(kind, ErrorKind::Channel(ChannelError::Unauthorized { .. }))
            || matches!(
                kind.status(),
                Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            )
    }

    /// Returns the server's challenge: the value of `WWW-Authenticate`, when the HTTP status is 401
    /// or 403 ([`is_auth`](Self::is_auth)). It names the scheme, the missing scopes and the resource
    /// metadata's URL, for programs that authorize themselves. Several headers are joined by commas;
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

    /// Returns the reason why a login failed, or why it could not start.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{AuthError, OAuth};
    /// use mcp::prelude::*;
    ///
    /// # async fn run() {
    /// let builder = Client::builder().oauth(OAuth::interactive("My Agent"));
    /// if let Err(error) = builder.connect("https://mcp.example.com/mcp").await
    ///     && let Some(AuthError::Denied(code)) = error.authorization()
    /// {
    ///     println!("you refused the login: {code}");
    /// }
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorization(&self) -> Option<&AuthError> {
        match self.inner.kind.root() {
            ErrorKind::Channel(ChannelError::Unauthorized { source }) => source.downcast_ref(),
            _ => None,
        }
    }

    /// Returns whether a later attempt may succeed: the server was not reached, is overloaded or too slow, or
    /// the connection was lost. Repeat a call that must not run twice only if
    /// [`may_have_run`](Self::may_have_run) returns false as well; its documentation has a table.
    ///
    /// After the end of a [pipe](crate::Client::is_pipe), another attempt needs a new client or a
    /// [group](crate::group), which starts the server again.
    pub fn is_retryable(&self) -> bool {
        let kind = &self.inner.kind;
        kind.is_transient() || kind.is_timeout() || (self.may_have_run() && kind.is_remote_close())
    }

    /// Returns the time to wait before the next attempt, if the server sent one: `Retry-After` in seconds,
    /// or `retryAfter` in a JSON-RPC error's data.
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.kind.retry_after()
    }

    /// Returns the error that the server responded with.
    pub fn fault(&self) -> Option<&Fault> {
        match self.inner.kind.root() {
            ErrorKind::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Returns the failure of the connection, or of the HTTP request, if that is the cause.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::core::ChannelError;
    ///
    /// # async fn example(client: mcp::Client) {
    /// if let Err(error) = client.call("deploy", ()).await
    ///     && let Some(ChannelError::Status { status, .. }) = error.channel()
    /// {
    ///     println!("HTTP {status}");
    /// }
    /// # }
    /// ```
    pub fn channel(&self) -> Option<&ChannelError> {
        match self.inner.kind.root() {
            ErrorKind::Channel(error) => Some(error),
            _ => None,
        }
    }

    /// Returns why the client cannot use the server's answer, if there was one. The text is one line, and names neither
    /// the call nor the server's address, so that a gateway can pass it on.
    pub fn unreadable_answer(&self) -> Option<String> {
        match self.inner.kind.root() {
            kind @ (ErrorKind::InvalidMessage(_)
            | ErrorKind::WrongId { .. }
            | ErrorKind::Decode(_)
            | ErrorKind::WrongResult
            | ErrorKind::UnknownResultType(_)
            | ErrorKind::Channel(
                ChannelError::Malformed(_) | ChannelError::TooLarge { .. },
            )) => Some(escape_line(&kind.to_string()).into_owned()),
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
