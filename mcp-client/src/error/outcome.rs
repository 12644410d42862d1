//! Outcomes of requests that fail: may the server have executed the call, and may a later attempt
//! succeed?
//!
//! | outcome | may have run | retryable |
//! |---|---|---|
//! | not connected: refused, no such name | no | yes |
//! | not connected: TLS | no | no |
//! | redirection; 4xx other than 408 and 429; the server has ended the session | no | no |
//! | 429; a JSON-RPC error with a time to wait | no | yes |
//! | 503 with a JSON-RPC error | no | yes |
//! | 408, 502, 503, 504 without a JSON-RPC body | yes | yes |
//! | other 5xx without a JSON-RPC body | yes | no |
//! | connection cut, stream broken, time limit, session lost with its node | yes | yes |
//! | a response to the server's own request not delivered | yes | yes |
//! | response that cannot be read | yes | no |
//! | JSON-RPC error that refuses the request: method, parameters, version, capability | no | no |
//! | other JSON-RPC errors, such as -32603 | yes | no |
//!
//! The table is about one request. A call that is repeated may have run if one of its requests may have.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use http::StatusCode;
use mcp_core::{ChannelError, CloseReason, Fault, TlsError};
use mcp_types::codes;
use serde::Deserialize;

use super::ErrorKind;

impl ErrorKind {
    /// Returns false if the request was certainly not sent, or was refused before the call.
    pub(crate) fn may_have_run(&self) -> bool {
        match self.root() {
            Self::Channel(error) => match error {
                ChannelError::Connect { .. }
                | ChannelError::SessionExpired
                | ChannelError::Unauthorized { .. }
                | ChannelError::NotSendable(_) => false,
                ChannelError::Status { status, .. } => !is_refusal(*status),
                _ => true,
            },
            Self::Fault { fault, status, .. } => fault_may_have_run(fault, *status),
            _ => true,
        }
    }

    /// Returns whether the stream of one request broke. Another request may succeed.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(
            self.root(),
            Self::NoResponse | Self::Channel(ChannelError::Broken { .. })
        )
    }

    /// Returns whether the server's address refused the connection, so that nothing was sent: the server restarts.
    pub(crate) fn is_refused_connection(&self) -> bool {
        let Self::Channel(ChannelError::Connect { source, .. }) = self.root() else {
            return false;
        };
        has_io_error(&**source, io::ErrorKind::ConnectionRefused)
    }

    /// Returns whether the server, or a host on the path to it, did not answer in time.
    pub(crate) fn is_timeout(&self) -> bool {
        match self.root() {
            Self::TimedOut(_) | Self::TotalTimeout(_) => true,
            Self::Channel(error) => has_io_error(error, io::ErrorKind::TimedOut),
            Self::Other(cause) => has_io_error(&**cause, io::ErrorKind::TimedOut),
            _ => false,
        }
    }

    /// Returns whether the connection to the server was lost: between this client and the server, or
    /// between a proxy and the server. A call that may run twice is repeated then.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_broken()
            || matches!(
                self.root(),
                Self::Channel(ChannelError::Status { status, .. }) if is_lost(*status)
            )
    }

    /// Returns whether a later attempt may succeed. Timeouts are not included: see
    /// [`is_timeout`](Self::is_timeout).
    pub(crate) fn is_transient(&self) -> bool {
        if matches!(self, Self::BackingOff { .. }) {
            return true;
        }
        match self.root() {
            Self::NoResponse => true,
            // Another attempt meets the same certificate.
            Self::Channel(
                ChannelError::Broken {
                    source: Some(source),
                }
                | ChannelError::Connect { source, .. },
            ) => !is_tls(&**source),
            Self::Channel(
                ChannelError::Broken { source: None } | ChannelError::NotDelivered { .. },
            ) => true,
            Self::Fault { .. } if self.retry_after().is_some() => true,
            _ => self.status().is_some_and(|status| {
                is_lost(status)
                    || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS]
                        .contains(&status)
            }),
        }
    }

    /// Returns the time to wait before the next attempt, if the server sent one: in the header
    /// `Retry-After`, or in a JSON-RPC error's data.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self.root() {
            Self::Channel(ChannelError::Status { retry_after, .. }) => *retry_after,
            Self::Fault {
                fault, retry_after, ..
            } => retry_after.or_else(|| fault_retry_after(fault)),
            _ => None,
        }
    }

    /// Returns whether the client has no message of the server, so that the error does not say whether
    /// the call was executed.
    pub(crate) fn is_unanswered(&self) -> bool {
        match self.root() {
            Self::NoResponse | Self::TimedOut(_) | Self::TotalTimeout(_) => true,
            Self::Channel(error) => !matches!(
                error,
                ChannelError::Closed(CloseReason::Local)
                    | ChannelError::TooLarge { .. }
                    | ChannelError::Malformed(_)
            ),
            _ => false,
        }
    }
}

/// Returns whether a server that answered with this error may have executed the call. An error code
/// that says nothing about it counts as yes: the handler may have failed after half of its work.
pub(crate) fn fault_may_have_run(fault: &Fault, status: Option<StatusCode>) -> bool {
    if status.is_some_and(|status| is_refusal(status) || status == StatusCode::SERVICE_UNAVAILABLE)
    {
        return false;
    }
    match fault {
        Fault::Deadline | Fault::Internal(_) | Fault::UserRejected(_) => true,
        Fault::Protocol(error) => !refuses(error.code) && fault_retry_after(fault).is_none(),
        _ => false,
    }
}

/// Returns true for statuses by which a server, or a proxy, refuses a request before the call.
fn is_refusal(status: StatusCode) -> bool {
    (status.is_redirection() || status.is_client_error()) && status != StatusCode::REQUEST_TIMEOUT
}

/// Returns true for error codes that the protocol defines for requests that are not executed.
fn refuses(code: i64) -> bool {
    matches!(
        code,
        codes::PARSE_ERROR
            | codes::INVALID_REQUEST
            | codes::METHOD_NOT_FOUND
            | codes::INVALID_PARAMS
            | codes::REFUSED
            | codes::RESOURCE_NOT_FOUND
            | codes::URL_ELICITATION_REQUIRED
            | codes::EVENTS_CALLBACK_ENDPOINT_ERROR..=codes::HEADER_MISMATCH
    )
}

/// Returns the time to wait of an error, also of one whose code only other libraries know.
fn fault_retry_after(fault: &Fault) -> Option<Duration> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        retry_after: f64,
    }

    let Fault::Protocol(error) = fault else {
        return fault.retry_after();
    };
    let data: Data = error.data_as()?;
    Duration::try_from_secs_f64(data.retry_after).ok()
}

/// Returns whether a proxy has no answer of the server.
fn is_lost(status: StatusCode) -> bool {
    use StatusCode as S;
    [S::BAD_GATEWAY, S::SERVICE_UNAVAILABLE, S::GATEWAY_TIMEOUT].contains(&status)
}

/// Returns whether one of the causes is this error of the operating system or the HTTP client.
fn has_io_error(error: &(dyn StdError + 'static), kind: io::ErrorKind) -> bool {
    causes(error).any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == kind)
    })
}

/// Returns whether one of the sources is a failure of TLS.
fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<TlsError>())
}

fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
