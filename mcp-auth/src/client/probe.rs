//! [`OAuth::probe`]: what a server supports, without a login.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;

use crate::challenge::Challenge;
use crate::client::discovery::{Discovered, Discovery};
use crate::client::grants::{select_scopes, within};
use crate::client::login::Login;
use crate::client::oauth::OAuth;
use crate::client::record::ActiveToken;
use crate::error::AuthError;
use crate::scope::Scopes;

/// Login support of an MCP server, from [`OAuth::probe`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginSupport {
    /// The server accepts requests without a token, and publishes no authorization metadata.
    None,
    /// The server demands a token, and publishes no authorization metadata: its user needs a token from
    /// elsewhere.
    TokenOnly,
    /// The server names an authorization server, at which a login is possible.
    #[non_exhaustive]
    Login {
        /// The server demands a token. Otherwise it accepts requests without one, and may demand one for
        /// some of its tools.
        is_required: bool,
        /// The authorization server that a login would use.
        issuer: String,
        /// The scopes that a login would request.
        scopes: Scopes,
        /// The authorization server registers unknown clients.
        registers_clients: bool,
        /// The authorization server accepts a [client metadata URL](OAuth::client_metadata_url).
        accepts_metadata_url: bool,
        /// The authorization server offers logins on [another device](OAuth::device).
        offers_device_login: bool,
    },
}

impl OAuth {
    /// Finds out whether an MCP server supports a login, without one: sends the server one `ping` without a
    /// token, and reads the metadata. Nothing is registered, shown or stored, and no token is sent.
    ///
    /// The checks are those of a login with these settings: URLs, resource, [issuer](Self::issuer).
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Unavailable`] when the server or its authorization server cannot be reached,
    /// and the error that a login would have for its metadata.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{LoginSupport, OAuth};
    ///
    /// # async fn run() -> Result<(), mcp::auth::AuthError> {
    /// let oauth = OAuth::interactive("My Agent");
    /// match oauth.probe("https://mcp.example.com/mcp").await? {
    ///     LoginSupport::Login { issuer, is_required: true, .. } => println!("log in at {issuer}"),
    ///     LoginSupport::TokenOnly => println!("this server needs a token"),
    ///     _ => println!("connect without a login"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn probe(&self, server: impl AsRef<str>) -> Result<LoginSupport, AuthError> {
        self.check()?;
        let login = Login::new(self.clone(), server.as_ref())?;
        let limit = self.limits.discovery;
        within(
            "finding the authorization server",
            limit,
            login.login_support(),
        )
        .await
    }
}

impl Login {
    async fn login_support(&self) -> Result<LoginSupport, AuthError> {
        let (status, challenge) = self.probe(None).await?;
        let is_required = status == StatusCode::UNAUTHORIZED;
        let oauth = &self.oauth;
        let discovery = Discovery {
            login: self,
            allows_legacy: oauth.legacy,
            allows_unnamed: false,
            preferred: None,
        };
        let Some(found) = discovery.published(challenge.as_ref()).await? else {
            return Ok(if is_required {
                LoginSupport::TokenOnly
            } else {
                LoginSupport::None
            });
        };
        let Discovered { resource, server } = found;
        let challenged = challenge.as_ref().and_then(|one| one.scope.as_ref());
        let offered = resource.map(|resource| resource.scopes());
        Ok(LoginSupport::Login {
            is_required,
            scopes: select_scopes(oauth, challenged, offered.as_ref(), &server),
            registers_clients: server.registration_endpoint.is_some(),
            accepts_metadata_url: server.client_id_metadata_document_supported == Some(true),
            offers_device_login: server.device_authorization_endpoint.is_some(),
            issuer: server.issuer,
        })
    }

    /// Sends a `ping` request, with a token if there is one. Returns the response's status and challenge.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Unavailable`] when the server cannot be reached, or fails temporarily.
    pub(crate) async fn probe(
        &self,
        token: Option<&ActiveToken>,
    ) -> Result<(StatusCode, Option<Challenge>), AuthError> {
        let fetcher = &self.fetcher;
        let mut url = self.server.clone();
        url.set_fragment(None);
        let mut may_repeat = token.is_some_and(ActiveToken::is_dpop);
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let accepted = "application/json, text/event-stream";
            headers.insert(ACCEPT, HeaderValue::from_static(accepted));
            if let Some(token) = token {
                token.set_headers(&mut headers, &fetcher.nonces, &Method::POST, Some(&url))?;
            }
            let ping =
                json!({"jsonrpc": "2.0", "id": 1, "method": mcp_types::Method::Ping.as_str()});
            let body = Bytes::from(ping.to_string());
            let head = fetcher.post_for_head(&url, headers, body).await?;
            if head.status.is_server_error() || head.status == StatusCode::TOO_MANY_REQUESTS {
                let reason = format!("HTTP status {}", head.status);
                return Err(AuthError::unavailable(&url, reason));
            }
            let challenge = Challenge::select(&head.headers, self.prefers_dpop());
            fetcher.nonces.update(&url, &head.headers);
            let demands_nonce = challenge.as_ref().is_some_and(Challenge::is_use_dpop_nonce);
            if !(demands_nonce && std::mem::replace(&mut may_repeat, false)) {
                return Ok((head.status, challenge));
            }
        }
    }
}
