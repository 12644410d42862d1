//! The one error of programs that use this crate.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use mcp_types::UnexpectedResult;

/// What goes wrong in a program with servers and clients. Ask it what happened with `is_…`.
///
/// Its text names server, tool and cause; never secrets.
pub struct Error(Box<Kind>);

/// The result of what can fail with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

enum Kind {
    #[cfg(feature = "client")]
    Client(mcp_client::Error),
    #[cfg(feature = "client")]
    Config(mcp_client::group::ConfigError),
    #[cfg(feature = "server")]
    Setup(mcp_server::SetupError),
    Io(io::Error),
    Json(serde_json::Error),
    Result(UnexpectedResult),
}

impl Error {
    #[cfg(feature = "client")]
    fn as_client(&self) -> Option<&mcp_client::Error> {
        match &*self.0 {
            Kind::Client(error) => Some(error),
            _ => None,
        }
    }

    /// The server did not answer in time, or could not be reached in time.
    #[cfg(feature = "client")]
    pub fn is_timeout(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_timeout)
    }

    /// The connection ended before the answer was there, or had ended already.
    #[cfg(feature = "client")]
    pub fn is_closed(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_closed)
    }

    /// The server wants to know who asks, or does not let them (HTTP 401, 403).
    #[cfg(feature = "client")]
    pub fn is_auth(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_auth)
    }

    /// The cause may pass by itself: the same call may succeed later. See
    /// [`may_have_run`](Self::may_have_run) for calls that must not be made twice.
    #[cfg(feature = "client")]
    pub fn is_retryable(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::is_retryable)
    }

    /// The caller has cancelled the call ([`cancel_on`](crate::PreparedCall::cancel_on)).
    #[cfg(feature = "client")]
    pub fn is_cancelled(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::is_cancelled)
    }

    /// The connection broke, and the server may have done what it was asked. It was not asked again
    /// because the call is not known to be [idempotent](crate::PreparedCall::idempotent).
    #[cfg(feature = "client")]
    pub fn may_have_run(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::may_have_run)
    }

    /// How long the server wants to be left alone before the next try, when it said so.
    #[cfg(feature = "client")]
    pub fn retry_after(&self) -> Option<std::time::Duration> {
        self.as_client()?.retry_after()
    }

    /// What the server speaks, when that is nothing that this client may speak.
    #[cfg(feature = "client")]
    pub fn supported_versions(&self) -> Option<&[String]> {
        self.as_client()?.supported_versions()
    }

    /// Why the server did not get the input that it asked for.
    #[cfg(feature = "client")]
    pub fn input(&self) -> Option<&mcp_client::InputError> {
        self.as_client()?.input()
    }

    /// The error that the server answered.
    #[cfg(feature = "client")]
    pub fn fault(&self) -> Option<&mcp_core::Fault> {
        self.as_client()?.fault()
    }

    /// What a tool said when it failed, for results that were read with
    /// [`parse`](mcp_types::CallToolResult::parse).
    pub fn tool_error(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Result(UnexpectedResult::ToolFailed(text)) => Some(text),
            #[cfg(feature = "client")]
            Kind::Client(error) => error.tool_error(),
            _ => None,
        }
    }

    fn inner(&self) -> &(dyn StdError + 'static) {
        match &*self.0 {
            #[cfg(feature = "client")]
            Kind::Client(error) => error,
            #[cfg(feature = "client")]
            Kind::Config(error) => error,
            #[cfg(feature = "server")]
            Kind::Setup(error) => error,
            Kind::Io(error) => error,
            Kind::Json(error) => error,
            Kind::Result(error) => error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

/// The text and its causes, a line each: what `main` prints when it returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner().source()
    }
}

#[cfg(feature = "client")]
impl From<mcp_client::Error> for Error {
    fn from(error: mcp_client::Error) -> Self {
        Self(Box::new(Kind::Client(error)))
    }
}

/// For functions that connect to a server of a group.
#[cfg(feature = "client")]
impl From<Error> for mcp_client::Error {
    fn from(error: Error) -> Self {
        match *error.0 {
            Kind::Client(error) => error,
            #[cfg(feature = "server")]
            Kind::Setup(error) => Self::other(error),
            Kind::Config(error) => Self::other(error),
            Kind::Io(error) => Self::other(error),
            Kind::Json(error) => Self::other(error),
            Kind::Result(error) => error.into(),
        }
    }
}

#[cfg(feature = "client")]
impl From<mcp_client::group::ConfigError> for Error {
    fn from(error: mcp_client::group::ConfigError) -> Self {
        Self(Box::new(Kind::Config(error)))
    }
}

/// A channel that cannot be made: a URL that is none, a header that cannot be sent.
#[cfg(feature = "client")]
impl From<mcp_core::ChannelError> for Error {
    fn from(error: mcp_core::ChannelError) -> Self {
        mcp_client::Error::from(error).into()
    }
}

#[cfg(feature = "server")]
impl From<mcp_server::SetupError> for Error {
    fn from(error: mcp_server::SetupError) -> Self {
        Self(Box::new(Kind::Setup(error)))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self(Box::new(Kind::Io(error)))
    }
}

/// For what is read by `parse`: answers of a form, results of extensions.
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self(Box::new(Kind::Json(error)))
    }
}

impl From<UnexpectedResult> for Error {
    fn from(error: UnexpectedResult) -> Self {
        Self(Box::new(Kind::Result(error)))
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::CallToolResult;

    use super::Error;

    #[test]
    fn a_failed_tool_says_why() {
        let failed = CallToolResult::error("no such file")
            .parse::<f64>()
            .unwrap_err();
        let error = Error::from(failed);
        assert_eq!(error.tool_error(), Some("no such file"));
        assert_eq!(format!("{error:?}"), "the tool failed: no such file");
        let other = CallToolResult::from_text("x").parse::<f64>().unwrap_err();
        let error = Error::from(other);
        assert_eq!(error.tool_error(), None);
        assert!(format!("{error:?}").contains("caused by"), "{error:?}");
    }
}
