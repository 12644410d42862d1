//! Errors of input requests.

use std::error::Error as StdError;
use std::fmt;

use mcp_core::Fault;
use mcp_types::{BrokenConversation, ElicitParams, FormError, InputRequest, Method, UrlError};

/// The error of a handler.
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// The kind of input that a server requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// Form elicitation: the user fills in a form.
    Form,
    /// URL elicitation: the user visits a URL.
    Url,
    /// Sampling: the language model continues a conversation.
    Sampling,
    /// The client's roots.
    Roots,
    /// An unknown method or mode.
    Other(Box<str>),
}

impl InputKind {
    /// Returns the kind of a request.
    pub(crate) fn of(request: &InputRequest) -> Self {
        match request {
            InputRequest::Elicit(params) => match &**params {
                ElicitParams::Form(_) => Self::Form,
                ElicitParams::Url(_) => Self::Url,
                other => Self::Other(format!("{} ({})", Method::Elicit, other.mode()).into()),
            },
            InputRequest::CreateMessage(_) => Self::Sampling,
            InputRequest::ListRoots => Self::Roots,
            other => Self::Other(other.method().into()),
        }
    }

    /// Returns a hint how to add a handler.
    fn hint(&self) -> &'static str {
        match self {
            Self::Form => "; set one with `ClientBuilder::on_elicit`",
            Self::Url => "; set one with `ClientBuilder::on_elicit_url`",
            Self::Sampling => "; set one with `ClientBuilder::on_sample`",
            Self::Roots => "; set them with `ClientBuilder::roots`",
            Self::Other(_) => "",
        }
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => write!(f, "{} (form)", Method::Elicit),
            Self::Url => write!(f, "{} (url)", Method::Elicit),
            Self::Sampling => Method::CreateMessage.fmt(f),
            Self::Roots => Method::ListRoots.fmt(f),
            Self::Other(name) => f.write_str(name),
        }
    }
}

/// The error when the server requests input and does not receive it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client has no handler for the request.
    #[error("the server requests {wants}, for which this client has no handler{}", .wants.hint())]
    NoHandler {
        /// The requested input.
        wants: InputKind,
    },
    /// The handler returned an error.
    #[error("the handler for {wants} failed: {source}")]
    Failed {
        /// The requested input.
        wants: InputKind,
        /// The handler's error.
        source: BoxError,
    },
    /// The handler panicked.
    #[error("the handler for {wants} panicked")]
    Panicked {
        /// The requested input.
        wants: InputKind,
    },
    /// The answer does not match the form's schema.
    // spec: ELIC-13
    #[error("the answer does not match the form: {0}")]
    InvalidForm(#[from] FormError),
    /// The answer to the form cannot be serialized.
    #[error("the answer to the form cannot be serialized: {0}")]
    NotSendable(String),
    /// The server requests sampling with tools, which the client does not declare.
    #[error("the server requests sampling with tools, which this client does not declare")]
    NoSamplingTools,
    /// The server requests a visit of a URL that must not be opened: neither `https` nor `http` on the
    /// same machine. No handler has received it.
    #[error("the server requests a visit of a URL that is not opened: {0}")]
    UnsafeUrl(#[from] UrlError),
    /// The user did not agree to visit a URL that the server requires.
    #[error("the user does not visit {url}, which the server requires")]
    NotConfirmed {
        /// The URL.
        url: String,
    },
    /// The conversation in a sampling request is malformed.
    #[error("the conversation of the sampling request is malformed: {0}")]
    Conversation(#[from] BrokenConversation),
    /// A layer of the client answered the request with a fault.
    #[error("a layer of the client refuses {wants}: {fault}")]
    Refused {
        /// The requested input.
        wants: InputKind,
        /// The layer's answer.
        fault: Fault,
    },
    /// The input requests of the server are invalid.
    #[error("{0}")]
    Round(String),
    /// The responses do not match the input requests.
    #[error("{0}")]
    Answer(String),
}

/// The error of a handler when the user, or the program on the user's behalf, refuses to answer.
/// Handlers for sampling return it. Forms and URLs have
/// [`ElicitResult::decline`](mcp_types::ElicitResult::decline).
// spec: MRTR-17, ERR-10
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the user refuses: {0}")]
pub struct Rejected(String);

impl Rejected {
    /// Creates the error with a reason, which the server receives.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl InputError {
    /// Converts the error to the fault that a legacy server receives. The fault contains no details
    /// of this program.
    // spec: ERR-10, ERR-11, ERR-12
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::NoHandler { wants } => match wants {
                InputKind::Form | InputKind::Url => {
                    Fault::bad_params(format!("this client does not answer {wants}"))
                }
                InputKind::Sampling => Fault::no_such_method(Method::CreateMessage.as_str()),
                InputKind::Roots => Fault::no_such_method(Method::ListRoots.as_str()),
                InputKind::Other(name) => Fault::no_such_method(name),
            },
            Self::Failed { source, .. } if source.is::<Rejected>() => {
                Fault::UserRejected(source.to_string().into())
            }
            Self::Failed { source, .. } if source.is::<Fault>() => match source.downcast::<Fault>()
            {
                Ok(fault) => *fault,
                Err(_) => Fault::internal("the client could not obtain the answer"),
            },
            Self::Refused { fault, .. } => fault,
            error @ (Self::NoSamplingTools | Self::Conversation(_) | Self::UnsafeUrl(_)) => {
                Fault::bad_params(error.to_string())
            }
            _ => Fault::internal("the client could not obtain the answer"),
        }
    }
}
