//! [`TokenVerifier`]: the check of a token, and its result.

use std::fmt;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::identity::AccessToken;

/// Checks access tokens, for kinds of tokens that [`ResourceServer`](super::ResourceServer) does not know.
///
/// The resource server itself checks expiry, audience and scopes of the returned token, and the proof of
/// possession, so a verifier only has to tell what the token says.
///
/// # Examples
///
/// ```
/// use mcp::auth::{AccessToken, ResourceServer, TokenVerifier, VerifiedToken, VerifyError};
///
/// /// Tokens that a gateway has checked already.
/// struct Gateway;
///
/// #[async_trait::async_trait]
/// impl TokenVerifier for Gateway {
///     async fn verify(&self, token: &AccessToken) -> Result<VerifiedToken, VerifyError> {
///         let user = token.expose().strip_prefix("user-");
///         let user = user.ok_or(VerifyError::Invalid("it is not a token of the gateway"))?;
///         let mut verified = VerifiedToken::new("https://gateway.example.com", user);
///         verified.scopes = vec!["files:read".to_owned()];
///         verified.audiences = vec!["https://mcp.example.com/mcp".to_owned()];
///         verified.expires_at = Some(2_000_000_000);
///         Ok(verified)
///     }
/// }
///
/// let auth = ResourceServer::new("https://mcp.example.com/mcp")
///     .authorization_server("https://gateway.example.com")
///     .verifier(Gateway);
/// ```
#[async_trait]
pub trait TokenVerifier: Send + Sync + 'static {
    /// Checks a token.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Invalid`] for a token that is not valid, and
    /// [`VerifyError::Unavailable`] when that cannot be decided now.
    async fn verify(&self, token: &AccessToken) -> Result<VerifiedToken, VerifyError>;
}

/// Reason why a token is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is not valid: status 401. The reason goes to the log, clients receive a constant text.
    #[error("the access token is refused: {0}")]
    Invalid(&'static str),
    /// The token cannot be checked now: status 503. The reason goes to the log.
    #[error("the access token cannot be checked: {0}")]
    Unavailable(String),
}

/// The contents of a token that a [`TokenVerifier`] has checked. It needs an [audience](Self::audiences) and an
/// [expiry](Self::expires_at).
///
/// # Examples
///
/// ```
/// use mcp::auth::VerifiedToken;
///
/// let mut token = VerifiedToken::new("https://login.example.com", "ada");
/// token.client = Some("agent".to_owned());
/// token.scopes = vec!["files:read".to_owned()];
/// token.audiences = vec!["https://mcp.example.com/mcp".to_owned()];
/// token.expires_at = Some(2_000_000_000);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// The token issuer.
    pub issuer: String,
    /// The person or program, as the issuer names it.
    pub subject: String,
    /// The client to which the token was issued.
    pub client: Option<String>,
    /// The scopes.
    pub scopes: Vec<String>,
    /// The resources for which the token was issued. One of them must be this server.
    pub audiences: Vec<String>,
    /// The verifier has checked that the token was issued for this server, in another way than by an audience in the
    /// token.
    pub has_checked_audience: bool,
    /// The end of the token in seconds since 1970.
    pub expires_at: Option<u64>,
    /// The token never expires.
    pub is_permanent: bool,
    /// The thumbprint of the key to which the token is bound (`cnf.jkt`).
    pub key_thumbprint: Option<String>,
    /// The claims that handlers read from [`Claims`](super::Claims).
    pub claims: Map<String, Value>,
}

impl VerifiedToken {
    /// A token of a person or program, as its issuer names it.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
            scopes: Vec::new(),
            audiences: Vec::new(),
            has_checked_audience: false,
            expires_at: None,
            is_permanent: false,
            key_thumbprint: None,
            claims: Map::new(),
        }
    }
}

/// Omits the values of claims, which may be personal data.
impl fmt::Debug for VerifiedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedToken")
            .field("issuer", &self.issuer)
            .field("subject", &self.subject)
            .field("client", &self.client)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
