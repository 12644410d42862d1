//! Failures by whose fault they are, without codes. Codes belong to the wires, HTTP statuses to
//! the HTTP transport.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_types::{ClientCapabilities, ElicitUrlParams, ErrorObject, ParseError};
use serde::Serialize;
use serde_json::value::RawValue;

/// Why a call was not answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The text is no valid message.
    #[error(transparent)]
    InvalidMessage(#[from] ParseError),
    /// The message is valid, but cannot be taken here.
    #[error("{0}")]
    InvalidRequest(Cow<'static, str>),
    /// The parameters do not fit the method.
    #[error("{message}")]
    BadParams {
        /// What is wrong, where, and what to do.
        message: Cow<'static, str>,
        /// More about it.
        data: Option<ErrorData>,
    },
    /// The method does not exist, or is not offered here.
    #[error("method not found: {method}")]
    NoSuchMethod {
        /// Its name.
        method: Box<str>,
    },
    /// The tool, prompt or resource does not exist.
    #[error("unknown {kind}: {id}")]
    NoSuchItem {
        /// What was asked for.
        kind: ItemKind,
        /// Its name or URI.
        id: Box<str>,
    },
    /// The call needs something that the client did not declare.
    #[error("the client does not declare a capability that this call needs")]
    MissingCapability {
        /// Just what is missing.
        required: Arc<ClientCapabilities>,
    },
    /// The revision that the client names is not offered.
    #[error(
        "protocol version {requested:?} is not supported; supported: {}",
        listed(supported)
    )]
    UnsupportedVersion {
        /// What the client named.
        requested: Box<str>,
        /// What is offered.
        supported: Vec<String>,
    },
    /// A mirrored header is missing or says something else than the body.
    #[error("{0}")]
    HeaderMismatch(Cow<'static, str>),
    /// The user has to visit URLs first. Only 2025-11-25 can say so with an error; later revisions
    /// ask with a result.
    // spec: ERR-13
    #[error("the user has to visit a URL first")]
    UrlElicitationRequired {
        /// Where to go.
        elicitations: Vec<ElicitUrlParams>,
    },
    /// The user of a client refuses what a server asked.
    // spec: ERR-10
    #[error("{0}")]
    UserRejected(Cow<'static, str>),
    /// A rule of this server refuses the call.
    #[error("{0}")]
    Refused(Cow<'static, str>),
    /// The call took too long.
    #[error("the call took too long")]
    Deadline,
    /// The server failed for a reason of its own.
    #[error("{0}")]
    Internal(Cow<'static, str>),
    /// An error with a code of its own: a handler's, or a peer's.
    #[error(transparent)]
    Protocol(ErrorObject),
}

/// Raw JSON that goes into an error's `data`.
#[derive(Debug, Clone)]
pub struct ErrorData(Box<RawValue>);

impl ErrorData {
    /// Serializes a value; `None` when it cannot be serialized.
    pub fn new(value: &impl Serialize) -> Option<Self> {
        serde_json::value::to_raw_value(value).ok().map(Self)
    }

    /// The raw JSON.
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }
}

impl PartialEq for ErrorData {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// What a call can ask for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        })
    }
}

impl Fault {
    /// The parameters do not fit the method.
    #[cold]
    pub fn bad_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::BadParams {
            message: message.into(),
            data: None,
        }
    }

    /// Adds data to [`Fault::BadParams`]; without effect on other faults.
    #[must_use]
    pub fn with_data(mut self, value: &impl Serialize) -> Self {
        if let Self::BadParams { data, .. } = &mut self {
            *data = ErrorData::new(value);
        }
        self
    }

    /// The server failed for a reason of its own.
    #[cold]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Internal(message.into())
    }

    /// The method does not exist.
    #[cold]
    pub fn no_such_method(method: impl Into<Box<str>>) -> Self {
        Self::NoSuchMethod {
            method: method.into(),
        }
    }

    /// The tool does not exist.
    #[cold]
    pub fn no_such_tool(name: impl Into<Box<str>>) -> Self {
        Self::NoSuchItem {
            kind: ItemKind::Tool,
            id: name.into(),
        }
    }
}

impl From<mcp_types::ParamError> for Fault {
    fn from(error: mcp_types::ParamError) -> Self {
        Self::bad_params(error.to_string())
    }
}

/// Names, one behind the other.
fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    mcp_types::joined(&names, ", ")
}
