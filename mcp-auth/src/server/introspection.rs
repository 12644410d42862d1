//! Opaque tokens: the issuer is asked about each one.
//!
//! Spec: RFC 7662.

use http::header::AUTHORIZATION;
use serde_json::Value;
use tokio::sync::Semaphore;
use url::Url;

use super::cache::{Digest, ExpiringCache};
use super::identity::AccessToken;
use super::issuer::Issuer;
use super::jwt::{ClaimRules, claims_of, from_claims};
use super::verifier::{VerifiedToken, VerifyError};
use crate::clock;
use crate::error::AuthError;
use crate::fetch::{Fetched, Fetcher, TokenForm};
use crate::metadata::server::is_same_issuer;
use crate::oauth_client::basic;
use crate::secret::Secret;

/// Seconds for which the answer about a token that is not active is remembered.
const INACTIVE_SECONDS: u64 = 10;
/// Number of inactive tokens that are remembered.
const MAX_INACTIVE: usize = 10_000;
/// Number of questions that run at the same time.
const MAX_REQUESTS: usize = 64;
/// Lifetime in seconds of a token whose expiry is not known: then it is checked again, and its streams end.
const DEFAULT_LIFETIME: u64 = 300;

/// The client with which a resource server asks its issuer about opaque tokens.
///
/// Answers are remembered for at most 60 seconds, so a revoked token may be accepted that long.
///
/// # Examples
///
/// ```
/// use mcp::auth::{Introspection, ResourceServer};
///
/// let auth = ResourceServer::new("https://mcp.example.com/mcp")
///     .issuer("https://login.example.com")
///     .introspection(Introspection::new("mcp-server", "s3cret"));
/// ```
#[derive(Debug, Clone)]
pub struct Introspection {
    client_id: String,
    client_secret: Secret,
    pub(super) endpoint: Option<String>,
}

impl Introspection {
    /// Creates the client with its id and its secret. It authenticates with HTTP Basic.
    pub fn new(client_id: impl Into<String>, client_secret: impl Into<Secret>) -> Self {
        Self {
            client_id: client_id.into(),
            client_secret: client_secret.into(),
            endpoint: None,
        }
    }

    /// Sets the endpoint's URL. Default: the one in the metadata of the issuer.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// The form of a question.
    fn form(&self, token: &AccessToken) -> Result<TokenForm, AuthError> {
        let mut form = TokenForm::default();
        form.set("token", token.expose());
        form.set("token_type_hint", "access_token");
        let credentials = basic(&self.client_id, &self.client_secret)?;
        form.headers.insert(AUTHORIZATION, credentials);
        Ok(form)
    }
}

/// Asks one issuer.
pub(super) struct Introspector {
    settings: Introspection,
    endpoint: Option<Url>,
    issuer: Issuer,
    fetcher: Fetcher,
    rules: ClaimRules,
    inactive: ExpiringCache<()>,
    permits: Semaphore,
}

impl Introspector {
    /// `endpoint` is the settings' URL.
    pub(super) fn new(
        settings: Introspection,
        endpoint: Option<Url>,
        issuer: Issuer,
        fetcher: Fetcher,
        rules: ClaimRules,
    ) -> Self {
        Self {
            settings,
            endpoint,
            issuer,
            fetcher,
            rules,
            inactive: ExpiringCache::new(MAX_INACTIVE),
            permits: Semaphore::new(MAX_REQUESTS),
        }
    }

    /// Asks the issuer about a token.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Invalid`] for a token that is not active, and
    /// [`VerifyError::Unavailable`] when there is no answer.
    pub(super) async fn verify(
        &self,
        token: &AccessToken,
        digest: Digest,
    ) -> Result<VerifiedToken, VerifyError> {
        const INACTIVE: VerifyError = VerifyError::Invalid("it is not active");

        let now = clock::unix_now();
        if self.inactive.get(&digest, now).is_some() {
            return Err(INACTIVE);
        }
        let answer = self.ask(token).await?;
        let mut claims = claims_of(&answer.body).map_err(|_| {
            VerifyError::Unavailable("the answer about a token is not JSON".to_owned())
        })?;
        if claims.get("active") != Some(&Value::Bool(true)) {
            self.inactive.insert(digest, (), now + INACTIVE_SECONDS);
            return Err(INACTIVE);
        }
        let issuer = self.issuer.name();
        let is_foreign = |found: &Value| {
            let found = found.as_str();
            !found.is_some_and(|found| is_same_issuer(issuer, found))
        };
        if claims.get("iss").is_some_and(is_foreign) {
            return Err(VerifyError::Invalid("its issuer is another one"));
        }
        claims.remove("active");
        let mut token = from_claims(issuer, claims, &self.rules)?;
        token.expires_at.get_or_insert(now + DEFAULT_LIFETIME);
        Ok(token)
    }

    async fn ask(&self, token: &AccessToken) -> Result<Fetched, VerifyError> {
        let failed = |error: AuthError| VerifyError::Unavailable(error.to_string());
        let _permit = self.permits.acquire().await;
        let endpoint = match &self.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => self.issuer.introspection_endpoint().await?,
        };
        let form = self.settings.form(token).map_err(failed)?;
        let answer = self.fetcher.post_form(&endpoint, &form).await;
        let answer = answer.map_err(failed)?;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(VerifyError::Unavailable(format!(
                "the issuer refused a question about a token: {}",
                answer.failure()
            )))
        }
    }
}
