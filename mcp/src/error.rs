//! The error type of the facade.

use std::error::Error as StdError;
use std::fmt;
use std::io;

/// A program's error: `fn main() -> mcp::Result<()>`. The errors of all crates convert into it.
///
/// Its [`Debug`] form, which `main` prints, has the message and all causes, without secrets. To decide by
/// the cause, match on the error of the function that was called, such as
/// [`client::Error`](crate::client::Error), before it converts.
///
/// # Examples
///
/// ```no_run
/// # #[cfg(all(feature = "client", feature = "http"))] mod example {
/// use mcp::prelude::*;
///
/// #[tokio::main]
/// async fn main() -> mcp::Result<()> {
///     let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
///     let page = std::fs::read_to_string("page.txt")?;
///     match client.call("publish", serde_json::json!({"page": page})).await {
///         Err(error) if error.is_retryable() => println!("try again later: {error}"),
///         result => println!("{}", result?.text()),
///     }
///     Ok(())
/// }
/// # }
/// ```
pub struct Error(Box<dyn StdError + Send + Sync>);

/// A result whose error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Writes the message and the causes that it does not contain, one per line. `main` prints this form when it returns the
/// error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.to_string();
        f.write_str(&message)?;
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.contains(&text) {
                write!(f, "\n  caused by: {text}")?;
            }
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

macro_rules! converts {
    ($($(#[$attribute:meta])* $error:ty,)*) => {
        $(
            $(#[$attribute])*
            impl From<$error> for Error {
                fn from(error: $error) -> Self {
                    Self(error.into())
                }
            }
        )*
    };
}

converts! {
    io::Error,
    serde_json::Error,
    mcp_core::ChannelError,
    mcp_types::UnexpectedResult,
    #[cfg(feature = "auth")]
    mcp_auth::AuthError,
    #[cfg(feature = "client")]
    mcp_client::Error,
    #[cfg(feature = "client")]
    mcp_client::catalog::SnapshotError,
    #[cfg(feature = "client")]
    mcp_client::group::ConfigError,
    #[cfg(feature = "client")]
    mcp_client::group::ConsentError,
    #[cfg(all(feature = "client", feature = "http"))]
    mcp_transport_http::client::DiscoveryError,
    #[cfg(all(feature = "http", feature = "server"))]
    mcp_transport_http::ServeError,
    #[cfg(feature = "server")]
    mcp_server::SetupError,
    #[cfg(feature = "server")]
    mcp_server::EditError,
    #[cfg(feature = "server")]
    mcp_server::WeakSecret,
    #[cfg(feature = "gateway")]
    mcp_gateway::GatewayError,
    #[cfg(feature = "gateway")]
    mcp_gateway::config::ConfigError,
    #[cfg(feature = "gateway")]
    mcp_gateway::openapi::OpenApiError,
    #[cfg(feature = "toolset")]
    mcp_toolset::ReplyError,
    #[cfg(feature = "telemetry")]
    mcp_telemetry::InitError,
    #[cfg(feature = "redis")]
    mcp_redis::RedisError,
    #[cfg(all(feature = "events", feature = "server"))]
    mcp_events::PublishError,
    #[cfg(feature = "gen")]
    mcp_gen::GenerateError,
    #[cfg(all(feature = "server", feature = "skills"))]
    mcp_skills::SkillsError,
    #[cfg(all(feature = "client", feature = "skills"))]
    mcp_skills::SkillError,
}

#[cfg(test)]
mod tests {
    use mcp_core::ChannelError;
    use mcp_types::CallToolResult;

    use super::Error;

    #[cfg(feature = "server")]
    #[test]
    fn errors_from_server_crate_convert() {
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
    fn debug_shows_each_cause_once() {
        let failed = CallToolResult::error("no such file")
            .parse::<f64>()
            .unwrap_err();
        let error = Error::from(failed);
        assert_eq!(format!("{error:?}"), "the tool failed: no such file");
        let other = CallToolResult::from_text("x").parse::<f64>().unwrap_err();
        let text = format!("{:?}", Error::from(other));
        assert_eq!(text.matches("expected value").count(), 1, "{text}");
        let broken = ChannelError::Broken {
            source: Some("reset".into()),
        };
        let text = format!("{:?}", Error::from(broken));
        assert!(text.ends_with("\n  caused by: reset"), "{text}");
    }
}
