//! How reading a resource, getting a prompt and completing an argument fail: always as an error of
//! the protocol.

use std::error::Error;

use mcp_core::{Fault, ItemKind};

use crate::rejection::Rejection;
use crate::round::AskError;

/// What was asked for does not exist. Becomes the error that the protocol has for it, by `?` or as
/// the error of a `Result`.
///
/// # Examples
///
/// ```
/// use mcp_server::NotFound;
///
/// fn profile(id: u64) -> Result<String, NotFound> {
///     (id == 7).then(|| "Ada".to_owned()).ok_or(NotFound)
/// }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, thiserror::Error)]
#[error("not found")]
#[expect(clippy::exhaustive_structs, reason = "users make it")]
pub struct NotFound;

#[derive(Debug)]
enum Kind {
    /// For the log, its text alone for the client.
    Failed(Box<dyn Error + Send + Sync>),
    Fault(Fault),
}

/// What a handler was doing when it failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed<'a> {
    pub(crate) kind: ItemKind,
    /// Its name or its URI.
    pub(crate) id: &'a str,
}

impl Kind {
    // spec: RSRC-05, PROMPT-05, COMP-04
    fn into_fault(self, at: Failed<'_>) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Failed(error) if error.is::<NotFound>() => at.not_found(),
            Self::Failed(error) => {
                if let Some(fault) = AskError::fault_of(&*error) {
                    return fault;
                }
                let (kind, id) = (at.kind, at.id);
                match error.source() {
                    Some(source) => tracing::error!(%kind, id, %error, %source, "handler failed"),
                    None => tracing::error!(%kind, id, %error, "handler failed"),
                }
                Fault::internal(error.to_string())
            }
        }
    }

    fn rejected(rejection: Rejection) -> Self {
        Self::Fault(match rejection {
            Rejection::Arguments(error) => Fault::bad_params(error.to_string()),
            Rejection::Fault(fault) => fault,
        })
    }
}

impl Failed<'_> {
    pub(crate) fn not_found(self) -> Fault {
        Fault::NoSuchItem {
            kind: self.kind,
            id: self.id.into(),
        }
    }
}

/// Writes how an error of a handler becomes one of the protocol.
macro_rules! protocol_errors {
    () => {
        /// The protocol error "invalid params".
        pub fn invalid_params(message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
            Self::fault(Fault::bad_params(message))
        }

        /// A protocol error with a code of your own, outside of -32768 to -32000.
        // spec: ERR-08
        pub fn protocol(code: i64, message: impl Into<String>) -> Self {
            let error = mcp_types::ErrorObject::new(code, message);
            Self::fault(Fault::Protocol(error))
        }

        /// A protocol error.
        pub fn fault(fault: Fault) -> Self {
            Self(Kind::Fault(fault))
        }
    };
}

pub(crate) use protocol_errors;

macro_rules! errors {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            #[derive(Debug)]
            pub struct $name(Kind);

            impl $name {
                /// An internal error; the client is told the text.
                pub fn new(text: impl Into<String>) -> Self {
                    Self::from(text.into())
                }

                /// What was asked for does not exist.
                pub fn not_found() -> Self {
                    Self::from(NotFound)
                }

                protocol_errors!();

                pub(crate) fn into_fault(self, at: Failed<'_>) -> Fault {
                    self.0.into_fault(at)
                }

                pub(crate) fn rejected(rejection: Rejection) -> Self {
                    Self(Kind::rejected(rejection))
                }
            }

            impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for $name {
                fn from(error: E) -> Self {
                    Self(Kind::Failed(error.into()))
                }
            }
        )*
    };
}

errors! {
    /// Why a resource was not read.
    ///
    /// [`NotFound`] says that there is no such resource. Every other error turns into an internal
    /// error by `?`: the client is told its text; its sources go to the log alone. Where already the
    /// text says too much, map it to [`new`](Self::new).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::{NotFound, ResourceError};
    ///
    /// fn note(name: &str) -> Result<String, ResourceError> {
    ///     match std::fs::read_to_string(format!("notes/{name}.md")) {
    ///         Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(NotFound.into()),
    ///         read => Ok(read?),
    ///     }
    /// }
    /// ```
    ResourceError;

    /// Why a prompt was not made. [`invalid_params`](Self::invalid_params) says that its arguments do
    /// not fit; every other error turns into an internal error by `?`: the client is told its text;
    /// its sources go to the log alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::PromptError;
    ///
    /// fn review(file: &str) -> Result<String, PromptError> {
    ///     if file.contains("..") {
    ///         return Err(PromptError::invalid_params("`file`: must stay below the root"));
    ///     }
    ///     Ok(format!("Review this:\n{}", std::fs::read_to_string(file)?))
    /// }
    /// ```
    PromptError;

    /// Why an argument was not completed. Errors turn into an internal error by `?`: the client is
    /// told the text; the sources go to the log alone.
    CompletionError;
}
