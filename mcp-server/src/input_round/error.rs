//! Errors of questions to the client.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use mcp_core::{BackChannelError, Fault};
use mcp_types::ClientCapabilities;

use crate::request_state::SealError;

/// The error of a question that gets no answer.
///
/// The `?` operator converts it into the error type of every handler. Errors that concern the
/// client then become protocol errors; see [`to_fault`](Self::to_fault).
///
/// A question that the client has not answered *yet* is not an error. A user who declines is not an
/// error either; see [`Answer`](crate::Answer).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The client does not declare a capability that the question needs. Nothing was sent.
    #[error(
        "the client cannot be asked: it does not declare {}",
        capability_names(required)
    )]
    MissingCapability {
        /// The missing capabilities only.
        required: Arc<ClientCapabilities>,
    },
    /// The client repeated the call with an answer that does not fit the question. In a session such an
    /// answer is [`NoAnswer`](Self::NoAnswer).
    // spec: MRTR-14, ELIC-13
    #[error("the answer to `{key}` does not fit: {reason}")]
    InvalidAnswer {
        /// The question's key.
        key: Cow<'static, str>,
        /// The problem with the answer.
        reason: String,
    },
    /// The question cannot be sent to a client.
    #[error("`{key}` cannot be asked: {reason}")]
    InvalidQuestion {
        /// The question's key.
        key: Cow<'static, str>,
        /// The problem with the question.
        reason: String,
    },
    /// Two questions of one call, or two results of [`Ask::once`](crate::Ask::once), have the same
    /// key. The second one would receive the answer to the first.
    #[error("`{key}` is used twice in one call; give the second one a key of its own")]
    KeyReused {
        /// The key.
        key: Cow<'static, str>,
    },
    /// The question was sent, and the client gave no answer.
    #[error(transparent)]
    NoAnswer(#[from] BackChannelError),
    /// A value of an earlier run cannot be decoded into the requested type.
    #[error("the value kept as `{key}` cannot be decoded: {reason}")]
    Malformed {
        /// The value's key.
        key: Cow<'static, str>,
        /// The decoder's error.
        reason: String,
    },
    /// A value cannot be stored for the next run: it is not JSON, or it is too large.
    #[error("`{key}` cannot be kept: {reason}")]
    NotSerializable {
        /// The value's key.
        key: Cow<'static, str>,
        /// The problem with the value.
        reason: String,
    },
    /// The call was answered or cancelled before the question was answered.
    #[error("the call is over")]
    Closed,
}

impl AskError {
    /// The protocol error that the client receives. Returns `None` for errors that concern only the
    /// handler: [`NoAnswer`](Self::NoAnswer) and [`Closed`](Self::Closed).
    pub fn to_fault(&self) -> Option<Fault> {
        match self {
            Self::MissingCapability { required } => Some(Fault::MissingCapability {
                required: required.clone(),
            }),
            Self::InvalidAnswer { key, reason } => Some(Fault::bad_params(format!(
                "`params.inputResponses.{key}`: {reason}; send an answer that fits"
            ))),
            Self::Malformed { .. } => Some(invalid_state()),
            Self::InvalidQuestion { .. }
            | Self::KeyReused { .. }
            | Self::NotSerializable { .. } => Some(Fault::internal(self.to_string())),
            Self::NoAnswer(_) | Self::Closed => None,
        }
    }

    /// Returns the fault of the first `AskError` in the source chain of `error`.
    pub(crate) fn find_fault(error: &(dyn Error + 'static)) -> Option<Fault> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(ask_error) = error.downcast_ref::<Self>() {
                return ask_error.to_fault();
            }
            next = error.source();
        }
        None
    }
}

/// The fault for a client that sent an invalid state. It gives no reason, because a reason would help
/// only an attacker.
// spec: MRTR-08
pub(super) fn invalid_state() -> Fault {
    Fault::bad_params(
        "`params.requestState` is not valid for this request; repeat the request without it and \
         without `inputResponses`",
    )
}

/// The fault for a state that cannot be sealed.
pub(super) fn seal_failed(error: &SealError) -> Fault {
    Fault::internal(format!("the state of the call cannot be sealed: {error}"))
}

/// Returns the capability names as the client declares them, such as `sampling.tools`.
fn capability_names(required: &ClientCapabilities) -> String {
    let declared = serde_json::to_value(required).unwrap_or_default();
    let mut names = Vec::new();
    for (name, settings) in declared.as_object().into_iter().flatten() {
        let inner = settings.as_object().into_iter().flatten();
        let count = names.len();
        names.extend(inner.map(|(inner, _)| format!("`{name}.{inner}`")));
        if names.len() == count {
            names.push(format!("`{name}`"));
        }
    }
    names.join(", ")
}
