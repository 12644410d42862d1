//! Data that accompanies a message: its id, its sender and its metadata.

use mcp_types::{ClientCapabilities, LoggingLevel, Meta, ProgressToken, RawObject, RequestId};

use crate::connection::ClientProfile;
use crate::message::{ClientRequest, InputState};

/// A decoded request of a client, with its metadata.
#[derive(Debug)]
pub(crate) struct DecodedRequest {
    /// The request.
    pub(crate) request: ClientRequest,
    /// The input that the client sends along when it repeats a request.
    pub(crate) input: InputState,
    /// The token under which the client wants progress. `None` for a modern request, which has it
    /// in its [`Envelope`](super::Envelope).
    pub(crate) progress_token: Option<ProgressToken>,
    /// Protocol-level metadata (`_meta`). `None` for a modern request, which has it in its
    /// [`Envelope`](super::Envelope).
    pub(crate) meta: Option<RawObject>,
}

impl DecodedRequest {
    /// A request without metadata.
    pub(crate) fn new(request: ClientRequest) -> Self {
        Self {
            request,
            input: InputState::default(),
            progress_token: None,
            meta: None,
        }
    }
}

/// Data that a server sends along with a request to its client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerRequestContext<'a> {
    /// The request id.
    pub(crate) id: &'a RequestId,
    /// The client's capabilities. It receives a mode of elicitation that it declares, although its revision does
    /// not have it.
    pub(crate) capabilities: Option<&'a ClientCapabilities>,
    /// The token under which progress is wanted.
    pub(crate) progress_token: Option<&'a ProgressToken>,
    /// Additional keys for `_meta`.
    pub(crate) meta: Option<&'a Meta>,
}

impl<'a> ServerRequestContext<'a> {
    /// A context of an id, without metadata.
    pub(crate) fn new(id: &'a RequestId) -> Self {
        Self {
            id,
            capabilities: None,
            progress_token: None,
            meta: None,
        }
    }
}

/// Data that a client sends along with a request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ClientRequestContext<'a> {
    /// The request id.
    pub id: &'a RequestId,
    /// The client that sends it.
    pub profile: &'a ClientProfile,
    /// The token under which progress is wanted.
    pub progress_token: Option<&'a ProgressToken>,
    /// The least severe level of log messages that the client wants. `None`: no log messages.
    pub log_level: Option<LoggingLevel>,
    /// The input that the client sends along when it repeats a request.
    pub input: Option<&'a InputState>,
    /// Additional keys for `_meta`.
    pub meta: Option<&'a Meta>,
}

impl<'a> ClientRequestContext<'a> {
    /// A context of an id and a client, without metadata.
    pub fn new(id: &'a RequestId, profile: &'a ClientProfile) -> Self {
        Self {
            id,
            profile,
            progress_token: None,
            log_level: None,
            input: None,
            meta: None,
        }
    }
}
