//! How asking fails.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mcp_core::{BackChannelError, Fault};
use mcp_types::ClientCapabilities;

use crate::request_state::SealError;

/// What was asked has no answer. By `?` it becomes the handler's error; what the client has to know
/// becomes an error of the protocol then, whatever kind of handler it is.
///
/// That the client has not answered *yet* is never an error, and neither is a user who says no.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client does not declare what the question needs. Nothing was sent.
    // spec: MRTR-05, ELIC-02, SAMP-04
    MissingCapability {
        /// Just what is missing.
        required: Arc<ClientCapabilities>,
    },
    /// The client has sent an answer that the question cannot have.
    // spec: MRTR-14, ELIC-13
    InvalidAnswer {
        /// Which question.
        key: Cow<'static, str>,
        /// What is wrong with it.
        reason: String,
    },
    /// The question is none that a client can be asked.
    InvalidQuestion {
        /// Which question.
        key: Cow<'static, str>,
        /// What is wrong with it.
        reason: String,
    },
    /// Two questions of a call, or two pieces of work, have one key: the second would get the
    /// answer of the first.
    // spec: MRTR-04
    KeyReused {
        /// The key.
        key: Cow<'static, str>,
    },
    /// The client was asked and gave no answer.
    NoAnswer(BackChannelError),
    /// What was kept for the next round is of another type now.
    Unreadable {
        /// Its key.
        key: Cow<'static, str>,
        /// What is wrong with it.
        reason: String,
    },
    /// What the call should keep for the next round cannot be kept.
    Unkeepable {
        /// Its key.
        key: Cow<'static, str>,
        /// What is wrong with it.
        reason: String,
    },
    /// The call is over: it was answered, or nobody waits for its answer.
    Over,
}

impl AskError {
    /// What the client is told as an error of the protocol; `None` for what concerns the handler
    /// alone.
    pub fn to_fault(&self) -> Option<Fault> {
        match self {
            Self::MissingCapability { required } => Some(Fault::MissingCapability {
                required: required.clone(),
            }),
            Self::InvalidAnswer { key, reason } => Some(Fault::bad_params(format!(
                "`params.inputResponses.{key}`: {reason}; send an answer that fits"
            ))),
            Self::Unreadable { .. } => Some(start_again()),
            Self::InvalidQuestion { .. } | Self::KeyReused { .. } | Self::Unkeepable { .. } => {
                self.mistake().map(Fault::internal)
            }
            Self::NoAnswer(_) | Self::Over => None,
        }
    }

    /// What the author of the handler has to mend.
    fn mistake(&self) -> Option<String> {
        match self {
            Self::InvalidQuestion { key, reason } => {
                Some(format!("`{key}` cannot be asked: {reason}"))
            }
            Self::KeyReused { key } => Some(format!(
                "`{key}` is used twice in one call; give the second one a key of its own"
            )),
            Self::Unkeepable { key, reason } => Some(format!("`{key}` cannot be kept: {reason}")),
            _ => None,
        }
    }

    /// The fault of the asking that made an error, wherever in its chain of sources that is.
    pub(crate) fn fault_of(error: &(dyn Error + 'static)) -> Option<Fault> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(asking) = error.downcast_ref::<Self>() {
                return asking.to_fault();
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for AskError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCapability { required } => {
                let names = names(required);
                write!(f, "the client cannot be asked: it does not declare {names}")
            }
            Self::InvalidAnswer { key, reason } => {
                write!(f, "the answer to `{key}` does not fit: {reason}")
            }
            Self::NoAnswer(error) => error.fmt(f),
            Self::Unreadable { key, reason } => {
                write!(f, "what was kept as `{key}` cannot be read: {reason}")
            }
            Self::Over => f.write_str("the call is over"),
            Self::InvalidQuestion { .. } | Self::KeyReused { .. } | Self::Unkeepable { .. } => {
                f.write_str(&self.mistake().unwrap_or_default())
            }
        }
    }
}

impl Error for AskError {
    #[inline]
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoAnswer(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BackChannelError> for AskError {
    #[inline]
    fn from(error: BackChannelError) -> Self {
        Self::NoAnswer(error)
    }
}

/// The state that the client has sent is not good. Why, is told to nobody.
// spec: MRTR-07, MRTR-08
pub(super) fn start_again() -> Fault {
    Fault::bad_params(
        "`params.requestState` is not good for this request; send the request anew, without it \
         and without `inputResponses`",
    )
}

/// The state of this call cannot be made.
#[inline]
pub(super) fn unsealed(error: &SealError) -> Fault {
    Fault::internal(format!(
        "what the call keeps until the client has answered cannot be sent: {error}"
    ))
}

/// The names of capabilities, as they are declared.
#[inline]
fn names(required: &ClientCapabilities) -> String {
    let found = serde_json::to_value(required).unwrap_or_default();
    let mut names = Vec::new();
    for (name, settings) in found.as_object().into_iter().flatten() {
        let inner = settings.as_object().into_iter().flatten();
        let before = names.len();
        names.extend(inner.map(|(inner, _)| format!("`{name}.{inner}`")));
        if names.len() == before {
            names.push(format!("`{name}`"));
        }
    }
    names.join(", ")
}
