//! `ClientBuilder::oauth`, authorizers as connection targets, and logins of connected clients.

use std::future::Future;

use mcp_auth::{AuthError, AuthStatus, Authorizer, OAuth};
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

mod client {
    #![expect(unnameable_types, reason = "seals the trait")]

    pub trait Sealed {}
    impl Sealed for mcp_client::Client {}
}

/// Adds `login`, `logout` and `auth_status` to [`Client`].
///
/// They work with clients that were connected with [`oauth`](WithOAuth::oauth) or over an
/// [`Authorizer`].
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::{AuthStatus, OAuth};
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let client = Client::builder()
///     .oauth(OAuth::interactive("My Agent"))
///     .connect("https://mcp.example.com/mcp")
///     .await?;
/// if let Some(AuthStatus::LoggedIn { scopes, .. }) = client.auth_status() {
///     println!("scopes: {scopes}");
/// }
/// client.logout().await?;
/// # Ok(())
/// # }
/// ```
pub trait ClientAuth: client::Sealed {
    /// Logs in unless there is a token that has not expired. With a user this opens the login page.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed, and [`AuthError::Settings`] when the client
    /// was connected without authorization.
    fn login(&self) -> impl Future<Output = Result<()>> + Send;

    /// Logs out: revokes the tokens where the authorization server offers that, removes them from
    /// the store, and clears the cache of the client. The client stays usable: a call that needs
    /// authorization logs in again.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the tokens may still be stored, and [`AuthError::Settings`]
    /// when the client was connected without authorization.
    fn logout(&self) -> impl Future<Output = Result<()>> + Send;

    /// Returns the state of the login. Sends nothing. `None` when the client was connected without
    /// authorization.
    fn auth_status(&self) -> Option<AuthStatus>;

    /// Returns the tokens of this client, to watch their [events](Authorizer::events) or to connect
    /// another client. `None` when the client was connected without authorization.
    fn authorizer(&self) -> Option<&Authorizer>;
}

impl ClientAuth for Client {
    async fn login(&self) -> Result<()> {
        Ok(required(self)?.login().await?)
    }

    async fn logout(&self) -> Result<()> {
        let logged_out = required(self)?.logout().await;
        // The next user must not receive private results of this one.
        self.clear_cache();
        Ok(logged_out?)
    }

    fn auth_status(&self) -> Option<AuthStatus> {
        self.authorizer().map(Authorizer::status)
    }

    fn authorizer(&self) -> Option<&Authorizer> {
        self.attached()
    }
}

fn required(client: &Client) -> Result<&Authorizer, AuthError> {
    client.authorizer().ok_or_else(|| {
        let message = "the client was connected without authorization; add .oauth(…)";
        AuthError::Settings(message.to_owned())
    })
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
    let mut builder = builder.attach(authorizer.clone());
    if let Some(id) = authorizer.extension_id() {
        builder = builder.declare_extension(id, &());
    }
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
