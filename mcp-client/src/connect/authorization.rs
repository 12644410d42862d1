//! Connecting with authorization, and logins of connected clients.

use mcp_auth::{AuthError, Authorizer};
use mcp_transport_http::client::HttpChannel;

use super::builder::ClientBuilder;
use super::login::Login;
use super::open::open;
use crate::client::Client;
use crate::error::Error;

/// Number of attempts to connect. A user may need more time for the login than a call has.
const ATTEMPTS: usize = 3;

/// Connects over HTTP with authorization.
pub(crate) async fn open_with_login(
    mut builder: ClientBuilder,
    login: Login,
    channel: HttpChannel,
) -> Result<Client, Error> {
    let authorizer = login.authorizer(&channel)?;
    if let Some(id) = authorizer.extension_id() {
        let capabilities = std::mem::take(&mut builder.profile.capabilities);
        builder.profile.capabilities = capabilities.with_extension(id, &());
    }
    builder.login = Some(Login::Applied(authorizer.clone()));
    let mut attempts = 1;
    loop {
        let channel = channel.clone();
        let channel = channel.map_service(|http| authorizer.service(http));
        let error = match open(builder.clone(), channel).await {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        if !error.is_timeout() || attempts == ATTEMPTS {
            return Err(error);
        }
        // The login continues after the call's timeout.
        match authorizer.wait_for_login().await {
            Some(Ok(())) => {}
            Some(Err(reason)) => return Err(reason.into()),
            None => return Err(error),
        }
        attempts += 1;
    }
}

/// Logins of clients that were connected with [`ClientBuilder::oauth`] or
/// [`ClientBuilder::authorizer`].
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::{AuthStatus, Authorizer, OAuth};
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let client = Client::builder()
///     .oauth(OAuth::interactive("My Agent"))
///     .connect("https://mcp.example.com/mcp")
///     .await?;
/// let status = client.authorizer().map(Authorizer::status);
/// if let Some(AuthStatus::LoggedIn { scopes, .. }) = status {
///     println!("scopes: {scopes}");
/// }
/// client.logout().await?;
/// # Ok(())
/// # }
/// ```
impl Client {
    /// Logs in unless there is a token that has not expired. With a user this opens the login page.
    ///
    /// # Errors
    ///
    /// Returns an error whose [`authorization`](Error::authorization) is the [`AuthError`] of the step
    /// that failed, or [`AuthError::Settings`] when the client was connected without authorization.
    pub async fn login(&self) -> Result<(), Error> {
        Ok(self.required()?.login().await?)
    }

    /// Logs out: revokes the tokens where the authorization server offers that, removes them from
    /// the store, and clears the client's cache. The client stays usable: a call that needs
    /// authorization logs in again.
    ///
    /// # Errors
    ///
    /// Returns an error whose [`authorization`](Error::authorization) is [`AuthError::Store`] when the
    /// tokens may still be stored, or [`AuthError::Settings`] when the client was connected without
    /// authorization.
    pub async fn logout(&self) -> Result<(), Error> {
        let logged_out = self.required()?.logout().await;
        // The next user must not receive private results of this one.
        self.clear_cache();
        Ok(logged_out?)
    }

    /// Returns this client's tokens, to read their [status](Authorizer::status), to watch their
    /// [events](Authorizer::events) or to connect another client. `None` when the client was connected without authorization.
    pub fn authorizer(&self) -> Option<&Authorizer> {
        self.inner.authorizer.as_ref()
    }

    fn required(&self) -> Result<&Authorizer, AuthError> {
        self.authorizer().ok_or_else(|| {
            let message = "the client was connected without authorization; add .oauth(…)";
            AuthError::Settings(message.to_owned())
        })
    }
}
