//! `ClientBuilder::oauth`, and authorizers as connection targets.

use mcp_auth::{AuthError, Authorizer, OAuth};
use mcp_client::{Client, ClientBuilder};
use mcp_core::ChannelError;
use mcp_transport_http::client::{HttpChannel, HttpClient};

use crate::error::Result;
use crate::target::{Target, sealed};

/// Adds `oauth` to [`ClientBuilder`].
pub trait WithOAuth {
    /// Connects with authorization: the client logs in when the server demands it, adds the token
    /// to its requests, and renews it. Set the other settings of the builder first.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{FileStore, OAuth};
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::builder()
    ///     .oauth(OAuth::interactive("My Agent").store(FileStore::new("tokens")))
    ///     .connect("https://mcp.example.com/mcp")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    fn oauth(self, oauth: OAuth) -> OAuthBuilder;
}

impl WithOAuth for ClientBuilder {
    fn oauth(self, oauth: OAuth) -> OAuthBuilder {
        OAuthBuilder {
            builder: self,
            oauth,
        }
    }
}

/// Settings of a client with authorization, created by [`WithOAuth::oauth`].
#[derive(Debug)]
#[must_use = "connects with `connect`"]
pub struct OAuthBuilder {
    builder: ClientBuilder,
    oauth: OAuth,
}

impl OAuthBuilder {
    /// Connects to the server at a URL, and waits for the user to log in if that is necessary.
    ///
    /// # Errors
    ///
    /// Returns an error when the server cannot be reached, when authorization fails, or when a
    /// setting is invalid.
    pub async fn connect(self, url: impl AsRef<str>) -> Result<Client> {
        let authorizer = self.oauth.authorizer(url)?;
        authorizer.connect(self.builder).await
    }
}

impl sealed::Sealed for Authorizer {}

/// Connects to the server of the authorizer.
impl Target for Authorizer {
    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
        connect(&self, builder).await
    }
}

impl sealed::Sealed for &Authorizer {}

impl Target for &Authorizer {
    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
        connect(self, builder).await
    }
}

/// Number of attempts to connect. A user may need more time for the login than a call has.
const ATTEMPTS: usize = 3;

async fn connect(authorizer: &Authorizer, builder: ClientBuilder) -> Result<Client> {
    let mut attempts = 1;
    loop {
        let http = authorizer.service(HttpClient::new()?);
        let channel = HttpChannel::with_service(authorizer.server().as_str(), http)?;
        let error = match builder.clone().over(channel).await {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        if !error.is_timeout() || attempts == ATTEMPTS {
            return Err(error.into());
        }
        // The login continues after the timeout of the call.
        match authorizer.wait_for_login().await {
            Some(Ok(())) => {}
            Some(Err(reason)) => return Err(reason.into()),
            None => return Err(error.into()),
        }
        attempts += 1;
    }
}

impl From<AuthError> for crate::Error {
    fn from(error: AuthError) -> Self {
        ChannelError::from(error).into()
    }
}
