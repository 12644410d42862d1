//! [`Login`]: the authorization of a builder.

use mcp_auth::{AuthError, Authorizer, OAuth};
use mcp_core::Channel;
use mcp_transport_http::client::HttpChannel;
use url::{Position, Url};

/// The authorization of a builder.
#[derive(Debug, Clone)]
pub(crate) enum Login {
    /// Tokens of each client alone.
    Settings(Box<OAuth>),
    /// Settings that the servers of a group share. Those without HTTP get no token.
    Group(Box<OAuth>),
    Shared(Authorizer),
    /// The HTTP client of the channel adds the tokens.
    Applied(Authorizer),
}

impl Login {
    /// Returns the tokens for the server of a channel.
    pub(crate) fn authorizer(self, channel: &HttpChannel) -> Result<Authorizer, AuthError> {
        let url = channel.url().to_string();
        match self {
            Self::Settings(oauth) => oauth.authorizer(url),
            Self::Group(oauth) => oauth.group_authorizer(url),
            Self::Shared(authorizer) | Self::Applied(authorizer) => {
                if is_same_server(authorizer.server(), &url) {
                    return Ok(authorizer);
                }
                let message = format!(
                    "the authorizer is for {}, not for {}; connect to its URL, or create another one",
                    shown(authorizer.server()),
                    channel.peer()
                );
                Err(AuthError::Settings(message))
            }
        }
    }

    /// Returns the tokens of a client whose channel adds them. `None` for a server of a group that gets none.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when the channel does not use HTTP.
    pub(crate) fn applied(self, peer: &str) -> Result<Option<Authorizer>, AuthError> {
        match self {
            Self::Applied(authorizer) => Ok(Some(authorizer)),
            Self::Group(_) => Ok(None),
            Self::Settings(_) | Self::Shared(_) => Err(AuthError::Settings(format!(
                "{peer} gets no token: authorization needs a URL or an `HttpChannel` as the target; \
                 remove `.oauth(…)`, or connect over HTTP"
            ))),
        }
    }
}

/// Returns whether the URLs are the same, apart from credentials and fragments.
fn is_same_server(server: &Url, url: &str) -> bool {
    let sent = |url: &Url| url[Position::BeforeHost..Position::AfterQuery].to_owned();
    Url::parse(url).is_ok_and(|url| url.scheme() == server.scheme() && sent(&url) == sent(server))
}

/// Returns a URL without parts that may be secrets.
fn shown(url: &Url) -> String {
    let scheme = &url[..Position::BeforeUsername];
    format!(
        "{scheme}{}",
        &url[Position::BeforeHost..Position::AfterPath]
    )
}
