//! Call errors, independent of error codes and HTTP statuses. Wires and the HTTP transport map
//! them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_types::{ClientCapabilities, ElicitUrlParams, ErrorObject, ParseError};
use serde::Serialize;
use serde_json::Value;

/// The error of a call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are not a valid message.
    #[error(transparent)]
    InvalidMessage(#[from] ParseError),
    /// The message is valid, but not acceptable in this state.
    #[error("{0}")]
    InvalidRequest(Cow<'static, str>),
    /// The parameters do not fit the method.
    #[error("{message}")]
    BadParams {
        /// The error, its location, and its remedy.
        message: Cow<'static, str>,
        /// Additional data for the error's `data`.
        data: Option<Box<Value>>,
    },
    /// The method does not exist, or is not offered here.
    #[error("method not found: {method}")]
    NoSuchMethod {
        /// The method name.
        method: Box<str>,
    },
    /// The tool, prompt or resource does not exist.
    #[error("unknown {kind}: {id}")]
    NoSuchItem {
        /// The kind of item.
        kind: ItemKind,
        /// The name or URI of the item.
        id: Box<str>,
    },
    /// The call needs a capability that the client did not declare.
    #[error(
        "the client does not declare a capability that this call needs{}",
        missing(required)
    )]
    MissingCapability {
        /// The missing capabilities.
        required: Arc<ClientCapabilities>,
    },
    /// The revision that the client names is not offered.
    #[error(
        "protocol version {requested:?} is not supported; supported: {}",
        supported.join(", ")
    )]
    UnsupportedVersion {
        /// The requested revision.
        requested: Box<str>,
        /// The revisions that the server offers.
        supported: Vec<String>,
    },
    /// A mirrored header is missing or differs from the body.
    #[error("{0}")]
    HeaderMismatch(Cow<'static, str>),
    /// The user has to visit URLs before the call. Only 2025-11-25 has this error; later revisions
    /// ask with a result.
    // spec: ERR-13
    #[error("the user has to visit a URL first")]
    UrlElicitationRequired {
        /// The URLs.
        elicitations: Vec<ElicitUrlParams>,
    },
    /// The user of the client has rejected a server request.
    // spec: ERR-10
    #[error("{0}")]
    UserRejected(Cow<'static, str>),
    /// The server refuses the call: a rule forbids it.
    #[error("{0}")]
    Refused(Cow<'static, str>),
    /// The caller has made too many calls. This one did not start, and may be repeated. Over HTTP this is
    /// the status 429 with `Retry-After`.
    #[error("{message}")]
    RateLimited {
        /// The limit, and the remedy.
        message: Cow<'static, str>,
        /// The time to wait before the call is repeated.
        retry_after: Duration,
    },
    /// The server has too much to do. The call did not start, and may be repeated. Over HTTP this is the
    /// status 503 with `Retry-After`.
    #[error("{message}")]
    Overloaded {
        /// The limit, and the remedy.
        message: Cow<'static, str>,
        /// The time to wait before the call is repeated.
        retry_after: Duration,
    },
    /// The token of the caller lacks scopes that the call needs. Over HTTP this is the status 403 with
    /// a challenge, and the client asks its user for the scopes.
    #[error("the call needs the scopes: {}", required.join(" "))]
    InsufficientScope {
        /// All scopes that the call needs, also those that the caller has.
        required: Vec<String>,
    },
    /// The time limit of the call has passed.
    #[error("the call took too long")]
    Deadline,
    /// An internal error of the server.
    #[error("{0}")]
    Internal(Cow<'static, str>),
    /// An error with a code chosen by a handler or a peer.
    #[error(transparent)]
    Protocol(ErrorObject),
}

/// The kind of an item that a call names.
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
    /// Creates [`Fault::BadParams`] without data.
    pub fn bad_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::BadParams {
            message: message.into(),
            data: None,
        }
    }

    /// Adds data to [`Fault::BadParams`]. Has no effect on other faults.
    #[must_use]
    pub fn with_data(mut self, value: &impl Serialize) -> Self {
        if let Self::BadParams { data, .. } = &mut self {
            *data = serde_json::to_value(value).ok().map(Box::new);
        }
        self
    }

    /// Creates [`Fault::Internal`].
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Internal(message.into())
    }

    /// Creates [`Fault::RateLimited`]. The message gets the time to wait.
    pub fn rate_limited(message: impl fmt::Display, retry_after: Duration) -> Self {
        Self::RateLimited {
            message: with_wait(message, retry_after),
            retry_after,
        }
    }

    /// Creates [`Fault::Overloaded`]. The message gets the time to wait.
    pub fn overloaded(message: impl fmt::Display, retry_after: Duration) -> Self {
        Self::Overloaded {
            message: with_wait(message, retry_after),
            retry_after,
        }
    }

    /// Returns the time to wait before the call is repeated, in whole seconds, if the call was refused
    /// because of too many calls.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                Some(Duration::from_secs(whole_seconds(*retry_after)))
            }
            _ => None,
        }
    }

    /// Creates [`Fault::NoSuchMethod`].
    pub fn no_such_method(method: impl Into<Box<str>>) -> Self {
        Self::NoSuchMethod {
            method: method.into(),
        }
    }

    /// Creates [`Fault::NoSuchItem`] for a tool.
    pub fn no_such_tool(name: impl Into<Box<str>>) -> Self {
        Self::NoSuchItem {
            kind: ItemKind::Tool,
            id: name.into(),
        }
    }
}

fn with_wait(message: impl fmt::Display, wait: Duration) -> Cow<'static, str> {
    format!("{message}; try again in {} s", whole_seconds(wait)).into()
}

/// Returns a time in seconds, rounded up, and at least one.
fn whole_seconds(time: Duration) -> u64 {
    let rest = u64::from(time.subsec_nanos() > 0);
    time.as_secs().saturating_add(rest).max(1)
}

/// Describes missing capabilities by their names and what a call needs them for. A peer may have sent them.
fn missing(required: &ClientCapabilities) -> String {
    const MAX_LISTED: usize = 8;
    const MAX_CHARS: usize = 120;
    let declared = serde_json::to_value(required).unwrap_or_default();
    let mut names = Vec::new();
    for (name, settings) in declared.as_object().into_iter().flatten() {
        let inner = settings.as_object().into_iter().flatten();
        let count = names.len();
        names.extend(inner.map(|(inner, _)| format!("{name}.{inner}")));
        if names.len() == count {
            names.push(name.clone());
        }
    }
    let descriptions = names.iter().take(MAX_LISTED).map(|name| {
        let purpose = match &**name {
            "sampling" => " (it asks the language model)",
            "sampling.tools" => " (it asks the language model, with tools)",
            "sampling.context" => " (it asks the language model, with the context of servers)",
            "elicitation" | "elicitation.form" => " (it asks the user)",
            "elicitation.url" => " (it asks the user to visit a URL)",
            "roots" => " (it asks for the roots)",
            _ => "",
        };
        let name: String = name.chars().take(MAX_CHARS).collect();
        format!("`{}`{purpose}", name.escape_debug())
    });
    match descriptions.collect::<Vec<_>>() {
        descriptions if descriptions.is_empty() => String::new(),
        descriptions => format!(": {}", descriptions.join(", ")),
    }
}

impl From<mcp_types::ParamError> for Fault {
    fn from(error: mcp_types::ParamError) -> Self {
        Self::bad_params(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_types::ClientCapabilities;
    use serde_json::json;

    use super::Fault;

    #[test]
    fn missing_capabilities_are_named() {
        let start = "the client does not declare a capability that this call needs";
        for (required, expected) in [
            (json!({}), ""),
            (
                json!({"sampling": {}}),
                ": `sampling` (it asks the language model)",
            ),
            (
                json!({"roots": {}, "elicitation": {"url": {}}}),
                ": `roots` (it asks for the roots), `elicitation.url` (it asks the user to visit a URL)",
            ),
            // The text of a peer.
            (
                json!({"extensions": {"a\u{1b}[2J\n": {}}}),
                ": `extensions.a\\u{1b}[2J\\n`",
            ),
        ] {
            let required: ClientCapabilities = serde_json::from_value(required).unwrap();
            let fault = Fault::MissingCapability {
                required: Arc::new(required),
            };
            assert_eq!(fault.to_string(), format!("{start}{expected}"));
        }
    }
}
