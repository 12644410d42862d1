//! Errors of resources, prompts and completions. The client receives all of them as protocol errors.

use std::error::Error;
use std::fmt;

use mcp_core::{Fault, ItemKind, ResultBody};
use mcp_types::{CallToolResult, Method};

use super::mask::log_masked;
use crate::elicitation_id;
use crate::input_round::AskError;
use crate::rejection::Rejection;

/// The error for something that does not exist. Return it from a handler, or convert it by `?`; the
/// client receives the protocol error for an unknown resource or prompt.
///
/// # Examples
///
/// ```
/// use mcp::NotFound;
///
/// fn profile(id: u64) -> Result<String, NotFound> {
///     (id == 7).then(|| "Ada".to_owned()).ok_or(NotFound)
/// }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, thiserror::Error)]
#[error("not found")]
#[expect(clippy::exhaustive_structs, reason = "users construct it")]
pub struct NotFound;

/// Internal representation of the errors.
#[derive(Debug)]
pub(super) enum ErrorRepr {
    /// A message that was written for the client or the language model.
    Text(String),
    /// A handler error. The client receives its message, the log also its sources.
    Handler(Box<dyn Error + Send + Sync>),
    /// A tool's content for the language model.
    Content(Box<CallToolResult>),
    /// A protocol error, as it is.
    Fault(Fault),
}

/// The item that a handler works on, for errors and the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemRef<'a> {
    pub(crate) kind: ItemKind,
    /// Name or URI.
    pub(crate) id: &'a str,
}

impl ItemRef<'_> {
    pub(crate) fn not_found(self) -> Fault {
        Fault::NoSuchItem {
            kind: self.kind,
            id: self.id.into(),
        }
    }
}

impl ErrorRepr {
    /// Converts the error that the handler returns of `id`, an item or a method of the kind `kind`.
    // spec: RSRC-05, PROMPT-05, COMP-04
    fn into_fault(
        self,
        kind: &dyn fmt::Display,
        id: &str,
        masks_errors: bool,
        not_found: impl FnOnce() -> Fault,
    ) -> Fault {
        let error = match self {
            Self::Fault(fault) => return elicitation_id::with_ids(fault),
            Self::Text(message) => {
                tracing::error!(kind = %mcp_types::escaped(&kind), id, error = message, "handler failed");
                return Fault::internal(message);
            }
            Self::Content(result) => {
                let text = Self::Text(result.text());
                return text.into_fault(kind, id, masks_errors, not_found);
            }
            Self::Handler(error) => error,
        };
        if error.is::<NotFound>() {
            return not_found();
        }
        if let Some(fault) = AskError::find_fault(&*error) {
            return fault;
        }
        if masks_errors {
            let number = log_masked(&kind.to_string(), id, &*error);
            return Fault::internal(format!("the {kind} failed (error {number})"));
        }
        match error.source() {
            Some(source) => {
                tracing::error!(kind = %mcp_types::escaped(&kind), id, error = %mcp_types::escaped(&error), source = %mcp_types::escaped(&source), "handler failed")
            }
            None => {
                tracing::error!(kind = %mcp_types::escaped(&kind), id, error = %mcp_types::escaped(&error), "handler failed")
            }
        }
        Fault::internal(error.to_string())
    }
}

impl From<Rejection> for ErrorRepr {
    fn from(rejection: Rejection) -> Self {
        Self::Fault(match rejection {
            Rejection::Arguments(error) => Fault::bad_params(error.to_string()),
            Rejection::Fault(fault) => fault,
        })
    }
}

/// Generates error types with the constructors that all of them have.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name(pub(super) ErrorRepr);

            impl $name {
                /// Creates the protocol error "invalid params".
                pub fn invalid_params(message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                    Self::fault(Fault::bad_params(message))
                }

                /// Creates a protocol error with a code of your own, outside -32768 to -32000.
                // spec: ERR-08
                pub fn protocol(code: i64, message: impl Into<String>) -> Self {
                    let error = mcp_types::ErrorObject::new(code, message);
                    Self::fault(Fault::Protocol(error))
                }

                /// Creates a protocol error from a fault.
                pub fn fault(fault: Fault) -> Self {
                    Self(ErrorRepr::Fault(fault))
                }
            }

            impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for $name {
                fn from(error: E) -> Self {
                    Self(ErrorRepr::Handler(error.into()))
                }
            }
        )*
    };
}

pub(super) use errors;

errors! {
    /// The error of a resource that cannot be read.
    ///
    /// [`NotFound`] becomes the error for an unknown resource. The `?` operator converts every other
    /// error into an internal error: the client receives its message, and its sources go to the log
    /// only. Use [`new`](Self::new) where the message itself must not reach the client.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// fn note(name: &str) -> Result<String, ResourceError> {
    ///     match std::fs::read_to_string(format!("notes/{name}.md")) {
    ///         Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(NotFound.into()),
    ///         read => Ok(read?),
    ///     }
    /// }
    /// ```
    ResourceError;

    /// A prompt error. Use [`invalid_params`](Self::invalid_params) for arguments that are not
    /// acceptable. The `?` operator converts every other error into an internal error: the client
    /// receives its message, and its sources go to the log only.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::PromptError;
    ///
    /// fn review(file: &str) -> Result<String, PromptError> {
    ///     if file.contains("..") {
    ///         return Err(PromptError::invalid_params("`file`: must stay below the root"));
    ///     }
    ///     Ok(format!("Review this:\n{}", std::fs::read_to_string(file)?))
    /// }
    /// ```
    PromptError;

    /// A completion error. The `?` operator converts errors into an internal error: the client
    /// receives the message, and the sources go to the log only.
    CompletionError;

    /// The error of an extension request. Use [`invalid_params`](Self::invalid_params) for
    /// parameters that are not acceptable, and [`protocol`](Self::protocol) for a code of the extension.
    /// The `?` operator converts every other error into an internal error: the client receives its
    /// message, and its sources go to the log only.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::extension::RequestError;
    ///
    /// fn zone(name: &str) -> Result<i32, RequestError> {
    ///     match name {
    ///         "UTC" => Ok(0),
    ///         _ => Err(RequestError::invalid_params("`zone`: only UTC is known")),
    ///     }
    /// }
    /// ```
    RequestError;
}

macro_rules! internal_errors {
    ($($name:ident),*) => {
        $(impl $name {
            /// Creates an internal error. The client receives the message.
            pub fn new(message: impl Into<String>) -> Self {
                Self(ErrorRepr::Text(message.into()))
            }

            /// Creates the error for something that does not exist.
            pub fn not_found() -> Self {
                Self::from(NotFound)
            }

            pub(crate) fn from_rejection(rejection: Rejection) -> Self {
                Self(rejection.into())
            }
        })*
    };
}

internal_errors!(ResourceError, PromptError, CompletionError, RequestError);

macro_rules! errors_of_items {
    ($($name:ident),*) => {
        $(impl $name {
            pub(crate) fn into_fault(self, item: ItemRef<'_>, masks_errors: bool) -> Fault {
                let not_found = || item.not_found();
                self.0.into_fault(&item.kind, item.id, masks_errors, not_found)
            }
        })*
    };
}

errors_of_items!(ResourceError, PromptError, CompletionError);

impl RequestError {
    /// Converts the error that a method handler returns.
    pub(crate) fn into_request_fault(self, method: &str, masks_errors: bool) -> Fault {
        let not_found = || Fault::bad_params("not found");
        self.0
            .into_fault(&"request", method, masks_errors, not_found)
    }
}

/// Returns the body of a result from `method`.
///
/// # Errors
///
/// Returns [`Fault::Internal`] for the result of another method.
pub(super) fn check_method(body: ResultBody, method: Method) -> Result<ResultBody, Fault> {
    if body.forwarded_method() == Some(method) {
        Ok(body)
    } else {
        Err(foreign_result(method))
    }
}

/// The fault of a handler that returns no result of its method.
pub(super) fn foreign_result(method: Method) -> Fault {
    Fault::internal(format!("the handler has returned no result of {method}"))
}
