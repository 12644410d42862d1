//! [`TokenExchange`]: tokens of other services for a call's user.
//!
//! Spec: RFC 8693.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use url::Url;

use super::cache::{Digest, ExpiringCache, digest};
use super::identity::AccessToken;
use super::settings::issuer_url;
use crate::challenge::TokenType;
use crate::clock;
use crate::egress::{Egress, EgressRules};
use crate::error::AuthError;
use crate::fetch::{Fetcher, TokenForm};
use crate::flight::Flight;
use crate::limits::Limits;
use crate::metadata::server::{ServerMetadata, fetch_document};
use crate::oauth_client::{Client, Credential};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::token::TokenEndpoint;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
/// Number of tokens that are remembered.
const MAX_TOKENS: usize = 10_000;
/// Seconds before its end at which a token is not used any more.
const MARGIN: u64 = 30;
/// Seconds for which metadata is used.
const METADATA_AGE: u64 = 600;

/// Exchanges the caller's token for a token of another service, so that a server can call the service
/// for its user.
///
/// The received token itself is never sent on: it was issued for this server, and a service that accepts
/// it could not tell this server from any other that the user has logged in to. The exchanged token names
/// the service as its audience, and this server as the client.
///
/// Tokens are remembered until they expire, for each caller, resource and scope. Equal exchanges at the same
/// time are one request. The authorization server's metadata is used for ten minutes.
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::{AccessToken, TokenExchange};
/// use mcp::prelude::*;
///
/// async fn calendar(
///     Identity(token): Identity<AccessToken>,
///     State(exchange): State<TokenExchange>,
/// ) -> Result<String, ToolError> {
///     let token = exchange.token(&token, "https://calendar.example.com", ["events:read"]).await?;
///     # fn call(_: &str) -> Result<String, ToolError> { Ok(String::new()) }
///     Ok(call(token.expose())?)
/// }
///
/// # fn run() -> Result<(), mcp::auth::AuthError> {
/// let exchange = TokenExchange::new("https://login.example.com", "mcp-server", "s3cret")?;
/// // The setting `ResourceServer::keep_access_token` lets handlers receive the token.
/// let server = Server::new("assistant", "1.0.0")
///     .state(exchange)
///     .tool(Tool::new("calendar").handler(calendar));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TokenExchange(Arc<ExchangeState>);

struct ExchangeState {
    issuer: String,
    url: Url,
    client: Client,
    fetcher: Fetcher,
    /// The metadata with the time of its fetch, in seconds since 1970. The lock is held during a fetch.
    metadata: tokio::sync::Mutex<Option<(u64, ServerMetadata)>>,
    tokens: ExpiringCache<Arc<Secret>>,
    running: Mutex<HashMap<Digest, Flight<Arc<Secret>>>>,
}

impl TokenExchange {
    /// Creates an exchange at an authorization server with this server's client id and secret.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when the issuer is not a URL.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<Secret>,
    ) -> Result<Self, AuthError> {
        let issuer = issuer.into();
        let egress = Egress::default();
        let url = issuer_url(&issuer, &egress)?;
        let egress = egress.allow_origin(url.as_str())?;
        let fetcher = Fetcher::new(EgressRules::new(&egress, &url), Limits::default())?;
        let client = Client::given(client_id, Credential::Secret(client_secret.into()));
        Ok(Self(Arc::new(ExchangeState {
            issuer,
            url,
            client,
            fetcher,
            metadata: tokio::sync::Mutex::default(),
            tokens: ExpiringCache::new(MAX_TOKENS),
            running: Mutex::default(),
        })))
    }

    /// Returns a token for `resource` in the name of the caller whose token is `subject`. `scopes` may be
    /// empty.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::TokenRejected`] when the authorization server refuses, for example because the
    /// user has not agreed, and [`AuthError::Unavailable`] when it cannot be reached.
    pub async fn token<S: AsRef<str>>(
        &self,
        subject: &AccessToken,
        resource: &str,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<Arc<Secret>, AuthError> {
        let inner = &*self.0;
        let scopes: Vec<String> = scopes
            .into_iter()
            .map(|scope| scope.as_ref().to_owned())
            .collect();
        let scopes = scopes.join(" ");
        let key = format!("{}\n{resource}\n{scopes}", subject.expose());
        let key = digest(key.as_bytes());
        let known = || inner.tokens.get(&key, clock::unix_now());
        let mut form = TokenForm::new(GRANT);
        form.set("subject_token", subject.expose());
        form.set("subject_token_type", ACCESS_TOKEN);
        form.set("requested_token_type", ACCESS_TOKEN);
        form.set("resource", resource);
        if !scopes.is_empty() {
            form.set("scope", scopes.as_str());
        }
        let flight = {
            let mut running = inner.running.lock();
            // Under the lock: nobody would remove the entry of a token that is known already.
            if let Some(token) = known() {
                return Ok(token);
            }
            running.entry(key).or_default().clone()
        };
        let state = Arc::clone(&self.0);
        let work = || async move {
            let outcome = state.exchange(key, form).await;
            state.running.lock().remove(&key);
            outcome
        };
        flight.run(known, work).await
    }
}

impl ExchangeState {
    /// Requests a token, and remembers it under `key`.
    async fn exchange(&self, key: Digest, form: TokenForm) -> Result<Arc<Secret>, AuthError> {
        let server = self.metadata().await?;
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            server: &server,
            key: None,
            requested: &Scopes::default(),
        };
        let tokens = endpoint.request(&self.client, form).await?;
        let malformed = |reason| Err(AuthError::malformed(&server.token_endpoint, reason));
        if tokens.token_type != TokenType::Bearer {
            return malformed("token_type is not Bearer");
        }
        if tokens
            .issued_type
            .is_some_and(|issued| issued != ACCESS_TOKEN)
        {
            return malformed("issued_token_type is not that of an access token");
        }
        let token = Arc::new(tokens.access);
        if let Some(expires_at) = tokens.expires_at {
            let until = expires_at.saturating_sub(MARGIN);
            self.tokens.insert(key, Arc::clone(&token), until);
        }
        Ok(token)
    }

    /// Returns the authorization server's metadata, and fetches it if it is old.
    async fn metadata(&self) -> Result<ServerMetadata, AuthError> {
        let mut known = self.metadata.lock().await;
        let now = clock::unix_now();
        if let Some((fetched, metadata)) = &*known
            && now.saturating_sub(*fetched) < METADATA_AGE
        {
            return Ok(metadata.clone());
        }
        let fetched = fetch_document(&self.fetcher, &self.url).await?;
        let metadata = ServerMetadata::read(&fetched, &self.issuer, &self.fetcher)?;
        *known = Some((now, metadata.clone()));
        Ok(metadata)
    }
}

/// Shows the issuer and the client id.
impl fmt::Debug for TokenExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenExchange")
            .field("issuer", &self.0.issuer)
            .field("client", &self.0.client.id)
            .finish_non_exhaustive()
    }
}
