//! [`TokenVerifier`]: the check of a token, and its result.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::identity::{AccessToken, Claims};

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
///         let user = user.ok_or(VerifyError::Invalid("it is no token of the gateway"))?;
///         Ok(VerifiedToken::new("https://gateway.example.com", user)
///             .scopes(["files:read"])
///             .audiences(["https://mcp.example.com/mcp"])
///             .expires_at(2_000_000_000))
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

/// The contents of a token that a [`TokenVerifier`] has checked.
///
/// # Examples
///
/// ```
/// use mcp::auth::VerifiedToken;
///
/// let token = VerifiedToken::new("https://login.example.com", "ada")
///     .client("agent")
///     .scopes(["files:read"])
///     .audiences(["https://mcp.example.com/mcp"])
///     .expires_at(2_000_000_000);
/// ```
#[derive(Debug, Clone)]
pub struct VerifiedToken {
    pub(super) claims: Claims,
    pub(super) scopes: Vec<String>,
    pub(super) audiences: Vec<String>,
    /// Seconds since 1970.
    pub(super) expires_at: Option<u64>,
    pub(super) key_thumbprint: Option<String>,
    /// The verifier has checked the audience.
    pub(super) has_audience: bool,
    /// The token never expires.
    pub(super) is_permanent: bool,
}

impl VerifiedToken {
    /// A token of a person or program, as its issuer names it. It needs an
    /// [audience](Self::audiences) and an [expiry](Self::expires_at).
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            claims: Claims::new(issuer.into(), subject.into()),
            scopes: Vec::new(),
            audiences: Vec::new(),
            expires_at: None,
            key_thumbprint: None,
            has_audience: false,
            is_permanent: false,
        }
    }

    /// Sets the client to which the token was issued.
    #[must_use]
    pub fn client(mut self, id: impl AsRef<str>) -> Self {
        self.claims.set_client(Some(id.as_ref()));
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the resources for which the token was issued. One of them must be this server.
    #[must_use]
    pub fn audiences(mut self, audiences: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.audiences = audiences.into_iter().map(Into::into).collect();
        self
    }

    /// Declares that the verifier has checked that the token was issued for this server, in another way
    /// than by an audience in the token.
    #[must_use]
    pub fn audience_is_verified(mut self) -> Self {
        self.has_audience = true;
        self
    }

    /// Sets the end of the token in seconds since 1970.
    #[must_use]
    pub fn expires_at(mut self, seconds: u64) -> Self {
        self.expires_at = Some(seconds);
        self
    }

    /// Declares that the token never expires.
    #[must_use]
    pub fn never_expires(mut self) -> Self {
        self.is_permanent = true;
        self
    }

    /// Sets the thumbprint of the key to which the token is bound (`cnf.jkt`).
    #[must_use]
    pub fn key_thumbprint(mut self, thumbprint: impl Into<String>) -> Self {
        self.key_thumbprint = Some(thumbprint.into());
        self
    }

    /// Sets the claims that handlers read from [`Claims`].
    #[must_use]
    pub fn claims(mut self, claims: Map<String, Value>) -> Self {
        self.claims.set_members(claims);
        self
    }
}
