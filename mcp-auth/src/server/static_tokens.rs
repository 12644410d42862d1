//! Fixed tokens, for development and tests.

use std::fmt;

use subtle::ConstantTimeEq;

use super::cache::{Digest, digest};
use super::verifier::VerifiedToken;

/// Fixed access tokens, for development and tests. They never expire.
///
/// A server whose URL is not on this machine refuses them, unless
/// [`allow_public`](Self::allow_public) is called.
///
/// # Examples
///
/// ```
/// use mcp::auth::{ResourceServer, StaticTokens};
///
/// let tokens = StaticTokens::new()
///     .token("token-of-ada", "ada", ["files:read", "files:write"])
///     .token("token-of-bob", "bob", ["files:read"]);
/// let auth = ResourceServer::new("http://localhost:8000/mcp").static_tokens(tokens).build()?;
/// # Ok::<(), mcp::auth::AuthError>(())
/// ```
#[derive(Clone, Default)]
pub struct StaticTokens {
    tokens: Vec<(Digest, VerifiedToken)>,
    pub(super) is_public: bool,
}

impl StaticTokens {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token with its subject and its scopes.
    #[must_use]
    pub fn token(
        mut self,
        token: impl AsRef<str>,
        subject: impl Into<String>,
        scopes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let mut verified = VerifiedToken::new("static", subject);
        verified.scopes = scopes.into_iter().map(Into::into).collect();
        verified.has_checked_audience = true;
        verified.is_permanent = true;
        self.tokens
            .push((digest(token.as_ref().as_bytes()), verified));
        self
    }

    /// Permits fixed tokens on a server that other machines reach. Anybody who reads the source code or
    /// the settings then has access.
    #[must_use]
    pub fn allow_public(mut self) -> Self {
        self.is_public = true;
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Finds a token by its hash. Compares all tokens, in a time that does not depend on their content.
    pub(super) fn find(&self, wanted: &Digest) -> Option<&VerifiedToken> {
        let mut found = None;
        for (known, verified) in &self.tokens {
            if bool::from(known.ct_eq(wanted)) {
                found = Some(verified);
            }
        }
        found
    }
}

/// Shows the number of tokens.
impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTokens")
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}
