//! The error type of the facade.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use mcp_types::UnexpectedResult;

/// The error of the functions of this crate, for programs with servers and clients.
///
/// The `is_…` methods classify it. The message names the server, the tool and the cause, and contains
/// no secrets.
pub struct Error(Box<Kind>);

/// A result whose error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

enum Kind {
    #[cfg(feature = "client")]
    Client(mcp_client::Error),
    #[cfg(feature = "client")]
    Config(mcp_client::group::ConfigError),
    #[cfg(feature = "server")]
    Setup(mcp_server::SetupError),
    #[cfg(feature = "server")]
    Edit(mcp_server::EditError),
    #[cfg(feature = "server")]
    Secret(mcp_server::WeakSecret),
    #[cfg(feature = "gateway")]
    Gateway(mcp_gateway::GatewayError),
    #[cfg(feature = "openapi")]
    OpenApi(mcp_gateway::openapi::OpenApiError),
    #[cfg(feature = "gateway")]
    GatewayConfig(mcp_gateway::config::ConfigError),
    #[cfg(all(feature = "server", feature = "skills"))]
    Skills(mcp_skills::SkillsError),
    #[cfg(all(feature = "client", feature = "skills"))]
    Skill(mcp_skills::SkillError),
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

    /// Returns `true` if a timeout elapsed while connecting or waiting for a response.
    #[cfg(feature = "client")]
    pub fn is_timeout(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_timeout)
    }

    /// Returns `true` if the connection was closed before the response arrived.
    #[cfg(feature = "client")]
    pub fn is_closed(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_closed)
    }

    /// Returns `true` if the server requires authorization or denies access (HTTP 401 or 403).
    #[cfg(feature = "client")]
    pub fn is_auth(&self) -> bool {
        self.as_client().is_some_and(mcp_client::Error::is_auth)
    }

    /// Returns the challenge of the server (`WWW-Authenticate`), when the HTTP status is 401 or 403.
    #[cfg(feature = "client")]
    pub fn challenge(&self) -> Option<&str> {
        self.as_client()?.challenge()
    }

    /// Returns the reason why a login failed that the server demanded.
    #[cfg(feature = "auth")]
    pub fn authorization(&self) -> Option<&mcp_auth::AuthError> {
        self.as_client()?.authorization()?.downcast_ref()
    }

    /// Returns `true` if the cause is temporary, so that a retry can succeed.
    ///
    /// Check [`may_have_run`](Self::may_have_run) before retrying a call that must not run twice:
    /// [clients](crate::guide::clients#errors) has a table of both.
    #[cfg(feature = "client")]
    pub fn is_retryable(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::is_retryable)
    }

    /// Returns `true` if the caller cancelled the call
    /// ([`cancel_on`](crate::PreparedCall::cancel_on)).
    #[cfg(feature = "client")]
    pub fn is_cancelled(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::is_cancelled)
    }

    /// Returns `true` if the server may have executed the call, or a part of it: the connection was lost or
    /// a time limit passed after the request was sent, a proxy answered in place of the server (HTTP 408,
    /// 5xx), or the response cannot be read. `false` means that nothing was sent, or that the server refused
    /// the request before the call.
    #[cfg(feature = "client")]
    pub fn may_have_run(&self) -> bool {
        self.as_client()
            .is_some_and(mcp_client::Error::may_have_run)
    }

    /// Returns the delay before the next attempt that the server requested (`Retry-After`).
    #[cfg(feature = "client")]
    pub fn retry_after(&self) -> Option<std::time::Duration> {
        self.as_client()?.retry_after()
    }

    /// Returns the protocol versions of the server if it supports none of this client.
    #[cfg(feature = "client")]
    pub fn supported_versions(&self) -> Option<&[String]> {
        self.as_client()?.supported_versions()
    }

    /// Returns the reason why the client could not provide the input that the server requested.
    #[cfg(feature = "client")]
    pub fn input(&self) -> Option<&mcp_client::InputError> {
        self.as_client()?.input()
    }

    /// Returns the error that the server sent as its response.
    #[cfg(feature = "client")]
    pub fn fault(&self) -> Option<&mcp_core::Fault> {
        self.as_client()?.fault()
    }

    /// Returns the message of a failed tool, for results that were read with
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
            #[cfg(feature = "server")]
            Kind::Edit(error) => error,
            #[cfg(feature = "server")]
            Kind::Secret(error) => error,
            #[cfg(feature = "gateway")]
            Kind::Gateway(error) => error,
            #[cfg(feature = "gateway")]
            Kind::GatewayConfig(error) => error,
            #[cfg(feature = "openapi")]
            Kind::OpenApi(error) => error,
            #[cfg(all(feature = "server", feature = "skills"))]
            Kind::Skills(error) => error,
            #[cfg(all(feature = "client", feature = "skills"))]
            Kind::Skill(error) => error,
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

/// Writes the message and its causes, one per line. `main` prints this form when it returns the
/// error.
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

/// Used by functions that connect to a server of a [`Group`](crate::Group).
#[cfg(feature = "client")]
impl From<Error> for mcp_client::Error {
    fn from(error: Error) -> Self {
        match *error.0 {
            Kind::Client(error) => error,
            #[cfg(feature = "server")]
            Kind::Setup(error) => Self::other(error),
            #[cfg(feature = "server")]
            Kind::Edit(error) => Self::other(error),
            #[cfg(feature = "server")]
            Kind::Secret(error) => Self::other(error),
            #[cfg(feature = "gateway")]
            Kind::Gateway(error) => Self::other(error),
            #[cfg(feature = "gateway")]
            Kind::GatewayConfig(error) => Self::other(error),
            #[cfg(feature = "openapi")]
            Kind::OpenApi(error) => Self::other(error),
            #[cfg(all(feature = "server", feature = "skills"))]
            Kind::Skills(error) => Self::other(error),
            #[cfg(feature = "skills")]
            Kind::Skill(error) => Self::other(error),
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

/// Converts errors of building a channel: an invalid URL or an invalid header.
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

/// Converts errors of handles: a route that exists already, or a server that was dropped.
#[cfg(feature = "server")]
impl From<mcp_server::EditError> for Error {
    fn from(error: mcp_server::EditError) -> Self {
        Self(Box::new(Kind::Edit(error)))
    }
}

#[cfg(feature = "server")]
impl From<mcp_server::WeakSecret> for Error {
    fn from(error: mcp_server::WeakSecret) -> Self {
        Self(Box::new(Kind::Secret(error)))
    }
}

/// Converts mistakes in the settings of a gateway.
#[cfg(feature = "gateway")]
impl From<mcp_gateway::GatewayError> for Error {
    fn from(error: mcp_gateway::GatewayError) -> Self {
        Self(Box::new(Kind::Gateway(error)))
    }
}

/// Converts errors of the configuration file of a gateway.
#[cfg(feature = "gateway")]
impl From<mcp_gateway::config::ConfigError> for Error {
    fn from(error: mcp_gateway::config::ConfigError) -> Self {
        Self(Box::new(Kind::GatewayConfig(error)))
    }
}

/// Converts errors of OpenAPI documents.
#[cfg(feature = "openapi")]
impl From<mcp_gateway::openapi::OpenApiError> for Error {
    fn from(error: mcp_gateway::openapi::OpenApiError) -> Self {
        Self(Box::new(Kind::OpenApi(error)))
    }
}

/// Converts mistakes in the skills of a server.
#[cfg(all(feature = "server", feature = "skills"))]
impl From<mcp_skills::SkillsError> for Error {
    fn from(error: mcp_skills::SkillsError) -> Self {
        Self(Box::new(Kind::Skills(error)))
    }
}

/// Converts errors of loading a skill. An error of a request keeps its classification.
#[cfg(all(feature = "client", feature = "skills"))]
impl From<mcp_skills::SkillError> for Error {
    fn from(error: mcp_skills::SkillError) -> Self {
        match error {
            mcp_skills::SkillError::Client(error) => error.into(),
            error => Self(Box::new(Kind::Skill(error))),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self(Box::new(Kind::Io(error)))
    }
}

/// Converts errors of `parse`: answers to forms, and results of extensions.
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

    #[cfg(feature = "server")]
    #[test]
    fn errors_of_servers_convert() {
        fn change(server: mcp_server::Server) -> super::Result<()> {
            mcp_server::StateKeys::new("0123456789abcdef0123456789abcdef")?;
            let tools = server.tools();
            drop(server);
            tools.extend([])?;
            Ok(())
        }

        let error = change(mcp_server::Server::new("s", "1")).unwrap_err();
        assert!(
            error.to_string().starts_with("the server is gone"),
            "{error}"
        );
    }

    #[test]
    fn parse_error_of_failed_tool_contains_its_message() {
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
