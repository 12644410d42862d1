//! What a server asks of the client: input of the user, of the language model, or the roots. One
//! set of handlers serves every revision.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client>

mod handlers;
mod request;
mod visits;

use std::error::Error as StdError;
use std::fmt;

use mcp_core::Fault;
use mcp_core::mrtr::{InputResponseError, MrtrError};
use mcp_types::{BrokenConversation, ElicitParams, FormError, InputRequest, Method};

pub use handlers::IntoInput;
pub(crate) use handlers::{Inputs, stray_root};
pub use request::{Asker, ElicitRequest, SampleRequest, UrlRequest};
pub(crate) use visits::{Visit, Visits};

/// The cause of a handler's failure, in the handler's own words.
pub(crate) type Cause = Box<dyn StdError + Send + Sync>;

/// What a server can want of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// The user fills in a form.
    Form,
    /// The user visits a URL.
    Url,
    /// The language model goes on with a conversation.
    Sampling,
    /// The roots.
    Roots,
    /// Something that this library does not know, by its method or mode.
    Other(Box<str>),
}

impl InputKind {
    /// What a request wants.
    pub fn of(request: &InputRequest) -> Self {
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

    /// What to do for a handler.
    fn advice(&self) -> &'static str {
        match self {
            Self::Form => "; give one with `ClientBuilder::on_elicit`",
            Self::Url => "; give one with `ClientBuilder::on_elicit_url`",
            Self::Sampling => "; give one with `ClientBuilder::on_sample`",
            Self::Roots => "; give them with `ClientBuilder::roots`",
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

/// The server asked for input and did not get it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// No handler was given for what the server wants.
    #[error("the server asks for {wants}, for which this client has no handler{}", .wants.advice())]
    NoHandler {
        /// What the server wants.
        wants: InputKind,
    },
    /// The handler gave no answer.
    #[error("the handler for {wants} gave no answer: {source}")]
    Failed {
        /// What the server wants.
        wants: InputKind,
        /// Why.
        source: Cause,
    },
    /// The handler panicked.
    #[error("the handler for {wants} panicked")]
    Panicked {
        /// What the server wants.
        wants: InputKind,
    },
    /// The answer does not fit the form.
    // spec: ELIC-13
    #[error("the answer does not fit the form: {0}")]
    Unfit(#[from] FormError),
    /// The answer to the form cannot be written.
    #[error("the answer to the form cannot be sent: {0}")]
    Unsendable(String),
    /// The server wants a language model that calls tools, which the client does not declare.
    // spec: SAMP-03
    #[error("the server asks for sampling with tools, which this client does not declare")]
    NoSamplingTools,
    /// The user did not agree to visit a URL that the server wants visited before it does what it
    /// was asked.
    // spec: ELIC-18
    #[error("the user does not visit {url}, which the server wants first")]
    Unvisited {
        /// Which URL.
        url: String,
    },
    /// The conversation that the server wants continued is none.
    // spec: SAMP-08, SAMP-09
    #[error("the conversation to go on with is malformed: {0}")]
    Conversation(#[from] BrokenConversation),
    /// What the server asks cannot be followed.
    #[error(transparent)]
    Round(#[from] MrtrError),
    /// The answers do not fit what was asked.
    #[error(transparent)]
    Answer(#[from] InputResponseError),
}

/// The user, or the program in the user's name, does not want to answer. Handlers for sampling
/// return it; forms and URLs have [`ElicitResult::decline`](mcp_types::ElicitResult::decline).
// spec: MRTR-17, ERR-10
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the user refuses: {0}")]
pub struct Rejected(String);

impl Rejected {
    /// Says why.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl InputError {
    /// What a session is told instead of an answer: nothing of what went wrong inside of this
    /// program.
    // spec: ERR-10
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
            error @ (Self::NoSamplingTools | Self::Conversation(_)) => {
                Fault::bad_params(error.to_string())
            }
            _ => Fault::internal("the client could not get the answer"),
        }
    }

    /// A handler has [rejected](Rejected) it.
    pub fn is_rejected(&self) -> bool {
        matches!(self, Self::Failed { source, .. } if source.is::<Rejected>())
    }
}
