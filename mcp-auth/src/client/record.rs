//! [`StoredCredentials`]: tokens as a store keeps them, and the token in use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use url::Url;

use crate::challenge::TokenType;
use crate::clock;
use crate::dpop::{DPOP, Nonces};
use crate::error::{AuthError, OAuthCode};
use crate::key::ProofKey;
use crate::metadata::server::{ServerMetadata, is_same_issuer};
use crate::oauth_client::{Client, ClientKind, Credential};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::token::Tokens;

/// The version of the stored form. Records of other versions are ignored.
const VERSION: u32 = 2;

/// The tokens of one user for one MCP server: the record that a
/// [`CredentialStore`](crate::CredentialStore) keeps under a key with a
/// [`server`](crate::StoreKey::server).
///
/// Build one for tokens that a program brings along, and pass it to
/// [`Authorizer::import`](crate::Authorizer::import) or return it from a store. The token is used without a
/// login, and refreshed at its issuer with the refresh token; the store receives what the refresh returns.
/// A record that a store returns unchanged also knows the issuer's endpoints. A program that keeps
/// only the public fields loses these: they are found again before the first refresh.
///
/// A record converts from and to the text that a store keeps.
///
/// # Examples
///
/// ```
/// use mcp::auth::{AuthError, Secret, StoredCredentials};
///
/// let mut credentials = StoredCredentials::new("https://login.example.com", "my-agent", "access token");
/// credentials.refresh_token = Some(Secret::new("refresh token"));
/// credentials.expires_at = Some(1_800_000_000);
/// credentials.scopes = ["files:read"].into_iter().collect();
///
/// let record = Secret::try_from(&credentials)?;
/// let read = StoredCredentials::try_from(&record)?;
/// assert_eq!(read.client_id, "my-agent");
/// # Ok::<(), AuthError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredCredentials {
    version: u32,
    /// The token issuer, byte for byte. The refresh token is sent to nobody else.
    pub issuer: String,
    /// The client id that the tokens were issued to.
    pub client_id: String,
    /// The secret of a client that has registered itself. A secret of the settings is not stored.
    pub client_secret: Option<Secret>,
    /// The access token.
    pub access_token: Secret,
    /// The refresh token. Without one, the access token is used until the server refuses it.
    pub refresh_token: Option<Secret>,
    /// Seconds since 1970 at which the access token expires. `None` if the issuer did not say.
    pub expires_at: Option<u64>,
    /// The granted scopes.
    pub scopes: Scopes,
    /// Requests with the token need a proof of possession.
    pub(crate) is_dpop: bool,
    lifetime: Option<u64>,
    pub(crate) proof_key: Option<Secret>,
    /// `None` for tokens that the program has brought along, until their first refresh.
    pub(crate) context: Option<TokenContext>,
}

/// The request that a token answers, with everything that is needed to refresh the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TokenContext {
    pub(crate) server: ServerMetadata,
    /// The resource indicator, byte for byte.
    pub(crate) resource: Option<String>,
    pub(crate) requested: Scopes,
    /// The MCP server publishes no metadata (revision 2025-03-26).
    pub(crate) is_legacy: bool,
    pub(crate) client_kind: ClientKind,
    /// The authentication method that the registration of the client set.
    pub(crate) auth_method: Option<String>,
}

/// The parameters of a token request.
pub(crate) struct TokenRequest<'a> {
    pub(crate) server: &'a ServerMetadata,
    /// The resource indicator.
    pub(crate) resource: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
    /// The MCP server accepts tokens with a proof of possession only.
    pub(crate) requires_dpop: bool,
    /// The MCP server publishes no metadata (revision 2025-03-26).
    pub(crate) is_legacy: bool,
    /// The tokens that are replaced, of the same authorization server.
    pub(crate) previous: Option<&'a StoredCredentials>,
}

impl StoredCredentials {
    /// Creates credentials from tokens that the program brings along. `issuer` is the authorization server
    /// that has issued them; [`OAuth::probe`](crate::OAuth::probe) returns the one that a server names.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        access_token: impl Into<Secret>,
    ) -> Self {
        Self {
            version: VERSION,
            issuer: issuer.into(),
            client_id: client_id.into(),
            client_secret: None,
            access_token: access_token.into(),
            refresh_token: None,
            expires_at: None,
            scopes: Scopes::default(),
            is_dpop: false,
            lifetime: None,
            proof_key: None,
            context: None,
        }
    }

    /// Creates a record from a token response.
    pub(crate) fn issued(
        context: TokenContext,
        client: &Client,
        proof_key: Option<&ProofKey>,
        tokens: Tokens,
    ) -> Self {
        let secret = match &client.credential {
            Credential::Secret(secret) if client.kind == ClientKind::Dynamic => Some(secret),
            _ => None,
        };
        let is_dpop = tokens.token_type == TokenType::Dpop;
        let proof_key = proof_key.filter(|_| is_dpop);
        let known = Self::new(&*context.server.issuer, &*client.id, tokens.access);
        Self {
            client_secret: secret.cloned(),
            refresh_token: tokens.refresh,
            expires_at: tokens.expires_at,
            scopes: tokens.scopes.unwrap_or_else(|| context.requested.clone()),
            is_dpop,
            lifetime: tokens.lifetime,
            proof_key: proof_key.map(|key| key.pkcs8.clone()),
            context: Some(context),
            ..known
        }
    }

    /// Returns this record with refreshed tokens. The server may keep the refresh token.
    pub(crate) fn refreshed(&self, context: &TokenContext, tokens: Tokens) -> Self {
        let known = self.clone();
        Self {
            is_dpop: tokens.token_type == TokenType::Dpop,
            access_token: tokens.access,
            expires_at: tokens.expires_at,
            lifetime: tokens.lifetime,
            refresh_token: tokens.refresh.or(known.refresh_token),
            scopes: tokens.scopes.unwrap_or(known.scopes),
            context: Some(context.clone()),
            ..known
        }
    }

    /// Returns whether the access token has expired.
    pub(crate) fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= clock::unix_now())
    }

    /// The time to renew the token: 60 seconds or a tenth of its lifetime before it expires.
    fn renew_at(&self) -> Option<SystemTime> {
        let margin = self.lifetime.map_or(60, |lifetime| (lifetime / 10).min(60));
        let at = self.expires_at?.saturating_sub(margin);
        UNIX_EPOCH.checked_add(Duration::from_secs(at))
    }

    pub(crate) fn expires_in(&self) -> Option<u64> {
        self.expires_at
            .map(|at| at.saturating_sub(clock::unix_now()))
    }

    pub(crate) fn proof_key(&self) -> Result<Option<ProofKey>, AuthError> {
        self.proof_key
            .clone()
            .map(ProofKey::from_stored)
            .transpose()
    }

    /// Returns whether the MCP server may be one without metadata: it had none when the token was
    /// requested, or that is not known.
    pub(crate) fn may_be_legacy(&self) -> bool {
        self.context
            .as_ref()
            .is_none_or(|context| context.is_legacy)
    }

    /// Returns whether the tokens are of this server, with the same token endpoint.
    // spec: AUTH-C-08, AUTH-C-15, AUTH-C-16
    pub(crate) fn is_of(&self, server: &ServerMetadata) -> bool {
        let is_same_endpoint = self.context.as_ref().is_none_or(|context| {
            context.server.token_endpoint.origin() == server.token_endpoint.origin()
        });
        is_same_issuer(&self.issuer, &server.issuer) && is_same_endpoint
    }
}

/// Reads a record from the store.
impl TryFrom<&Secret> for StoredCredentials {
    type Error = AuthError;

    fn try_from(record: &Secret) -> Result<Self, AuthError> {
        // The message of the parser could quote a token.
        let read = serde_json::from_str(record.expose()).ok();
        let read = read.filter(|read: &Self| read.version == VERSION);
        read.ok_or_else(|| AuthError::Store("the record has no credentials".to_owned()))
    }
}

/// Writes the record for a store.
impl TryFrom<&StoredCredentials> for Secret {
    type Error = AuthError;

    fn try_from(credentials: &StoredCredentials) -> Result<Self, AuthError> {
        let text = serde_json::to_string(credentials);
        let failed = |error: serde_json::Error| AuthError::Store(error.to_string());
        text.map(Self::new).map_err(failed)
    }
}

/// The token in use.
pub(crate) struct ActiveToken {
    pub(crate) record: StoredCredentials,
    /// The token comes from a login or a grant, not from the store or a refresh.
    is_new: bool,
    /// The server accepted a request with the token.
    accepted: AtomicBool,
    /// The `Authorization` header of requests.
    header: HeaderValue,
    renew_at: Option<SystemTime>,
    key: Option<ProofKey>,
    /// A refresh has failed.
    pause: Mutex<Option<Pause>>,
}

/// The time until the next refresh.
struct Pause {
    end: Instant,
    /// The refusal of the authorization server.
    code: Option<OAuthCode>,
}

impl ActiveToken {
    pub(crate) fn new(record: StoredCredentials, is_new: bool) -> Result<Self, AuthError> {
        let scheme = if record.is_dpop { "DPoP" } else { "Bearer" };
        let key = if record.is_dpop {
            record.proof_key()?
        } else {
            None
        };
        Ok(Self {
            header: authorization(scheme, &record.access_token)?,
            renew_at: record.renew_at(),
            record,
            is_new,
            accepted: AtomicBool::new(false),
            key,
            pause: Mutex::default(),
        })
    }

    /// Returns whether to refresh the token before it is used: it expires soon, and no refresh has failed
    /// just now, or it has expired.
    pub(crate) fn is_due(&self) -> bool {
        self.renew_at.is_some_and(|at| at <= SystemTime::now())
            && (self.record.is_expired() || self.paused(|_| ()).is_none())
    }

    /// Postpones the next refresh after one that failed. `code`: the authorization server has refused it.
    pub(crate) fn postpone(&self, time: Duration, code: Option<OAuthCode>) {
        let end = Instant::now() + time;
        *self.pause.lock() = Some(Pause { end, code });
    }

    /// Returns the refusal of a refresh that is not repeated yet.
    pub(crate) fn refresh_refusal(&self) -> Option<OAuthCode> {
        self.paused(|pause| pause.code.clone()).flatten()
    }

    fn paused<T>(&self, read: impl FnOnce(&Pause) -> T) -> Option<T> {
        let pause = self.pause.lock();
        pause
            .as_ref()
            .filter(|pause| pause.end > Instant::now())
            .map(read)
    }

    /// Sets the headers of a request to the MCP server. Proofs of possession need its URL.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the proof of possession cannot be signed.
    // spec: AUTH-C-27
    pub(crate) fn set_headers(
        &self,
        headers: &mut HeaderMap,
        nonces: &Nonces,
        method: &Method,
        url: Option<&Url>,
    ) -> Result<(), AuthError> {
        if let Some(key) = &self.key
            && let Some(url) = url
        {
            let proof = nonces.proof(key, method, url, Some(&self.record.access_token))?;
            headers.insert(DPOP, proof);
        }
        headers.insert(AUTHORIZATION, self.header.clone());
        Ok(())
    }

    pub(crate) fn is_dpop(&self) -> bool {
        self.key.is_some()
    }

    pub(crate) fn set_accepted(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    /// Returns whether the server has refused every request with this newly issued token.
    pub(crate) fn is_useless(&self) -> bool {
        self.is_new && !self.accepted.load(Ordering::Relaxed)
    }
}

/// The `Authorization` header's value.
pub(crate) fn authorization(scheme: &str, token: &Secret) -> Result<HeaderValue, AuthError> {
    let invalid = |_| AuthError::Source("the token is not a header value".to_owned());
    let text = format!("{scheme} {}", token.expose());
    let mut value = HeaderValue::try_from(text).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}
