//! The stored form of tokens, and the token in use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderValue, Method};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::client::ClientRecord;
use crate::clock;
use crate::dpop::Nonces;
use crate::error::AuthError;
use crate::key::ProofKey;
use crate::metadata::server::ServerMetadata;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::token::{TokenType, Tokens};

/// The version of the stored form. Records of other versions are ignored.
const VERSION: u32 = 1;

/// Tokens of one MCP server with everything that is needed to refresh them.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    version: u32,
    pub(crate) server: ServerMetadata,
    /// The resource indicator, byte for byte.
    pub(crate) resource: Option<String>,
    /// The MCP server publishes no metadata (revision 2025-03-26).
    #[serde(default)]
    is_legacy: bool,
    pub(crate) client: ClientRecord,
    pub(crate) access: Secret,
    is_dpop: bool,
    pub(crate) expires_at: Option<u64>,
    lifetime: Option<u64>,
    pub(crate) refresh: Option<Secret>,
    pub(crate) granted: Scopes,
    pub(crate) requested: Scopes,
    pub(crate) proof_key: Option<Secret>,
}

/// The request that a token answers.
pub(crate) struct TokenContext {
    pub(crate) server: ServerMetadata,
    pub(crate) resource: Option<String>,
    pub(crate) requested: Scopes,
    pub(crate) is_legacy: bool,
    pub(crate) proof_key: Option<ProofKey>,
}

impl TokenRecord {
    pub(crate) fn new(context: TokenContext, client: ClientRecord, tokens: Tokens) -> Self {
        let is_dpop = tokens.token_type == TokenType::Dpop;
        let proof_key = context.proof_key.filter(|_| is_dpop);
        Self {
            version: VERSION,
            server: context.server,
            resource: context.resource,
            is_legacy: context.is_legacy,
            client,
            access: tokens.access,
            is_dpop,
            expires_at: tokens.expires_at,
            lifetime: tokens.lifetime,
            refresh: tokens.refresh,
            granted: tokens.scopes.unwrap_or_else(|| context.requested.clone()),
            requested: context.requested,
            proof_key: proof_key.map(|key| key.stored().clone()),
        }
    }

    /// Returns this record with refreshed tokens. The server may keep the refresh token.
    pub(crate) fn refreshed(&self, tokens: Tokens) -> Self {
        Self {
            is_dpop: tokens.token_type == TokenType::Dpop,
            access: tokens.access,
            expires_at: tokens.expires_at,
            lifetime: tokens.lifetime,
            refresh: tokens.refresh.or_else(|| self.refresh.clone()),
            granted: tokens.scopes.unwrap_or_else(|| self.granted.clone()),
            ..self.clone()
        }
    }

    /// Reads a stored record. A damaged one counts as none.
    pub(crate) fn from_stored(stored: &Secret) -> Option<Self> {
        let record: Self = serde_json::from_str(stored.expose()).ok()?;
        (record.version == VERSION).then_some(record)
    }

    pub(crate) fn to_stored(&self) -> Result<Secret, AuthError> {
        let text = serde_json::to_string(self);
        let failed = |error: serde_json::Error| AuthError::Store(error.to_string());
        text.map(Secret::new).map_err(failed)
    }

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

    /// Returns true if requests with the token need a proof of possession.
    pub(crate) fn is_dpop(&self) -> bool {
        self.is_dpop
    }

    pub(crate) fn proof_key(&self) -> Result<Option<ProofKey>, AuthError> {
        self.proof_key
            .clone()
            .map(ProofKey::from_stored)
            .transpose()
    }

    /// Returns whether the MCP server had no metadata when the token was requested.
    pub(crate) fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Returns whether the tokens are of this server, with the same token endpoint.
    pub(crate) fn is_of(&self, server: &ServerMetadata) -> bool {
        let known = &self.server;
        known.issuer == server.issuer
            && known.token_endpoint.origin() == server.token_endpoint.origin()
    }
}

/// The token in use.
pub(crate) struct ActiveToken {
    pub(crate) record: TokenRecord,
    /// Tells tokens of one authorizer apart.
    pub(crate) number: u64,
    /// The token comes from a login or a grant, not from the store or a refresh.
    is_new: bool,
    /// The server accepted a request with the token.
    accepted: AtomicBool,
    header: HeaderValue,
    renew_at: Option<SystemTime>,
    key: Option<ProofKey>,
}

impl ActiveToken {
    pub(crate) fn new(record: TokenRecord, number: u64, is_new: bool) -> Result<Self, AuthError> {
        let scheme = if record.is_dpop { "DPoP" } else { "Bearer" };
        let key = if record.is_dpop {
            record.proof_key()?
        } else {
            None
        };
        Ok(Self {
            header: authorization(scheme, &record.access)?,
            renew_at: record.renew_at(),
            record,
            number,
            is_new,
            accepted: AtomicBool::new(false),
            key,
        })
    }

    /// Returns whether the token expires soon, or has expired.
    pub(crate) fn expires_soon(&self) -> bool {
        self.renew_at.is_some_and(|at| at <= SystemTime::now())
    }

    pub(crate) fn authorization(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The proof for a request to the MCP server, if the token needs one.
    pub(crate) fn proof(
        &self,
        nonces: &Nonces,
        method: &Method,
        url: &Url,
    ) -> Result<Option<HeaderValue>, AuthError> {
        let proof = |key| nonces.proof(key, method, url, Some(&self.record.access));
        self.key.as_ref().map(proof).transpose()
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

/// The value of the `Authorization` header.
pub(crate) fn authorization(scheme: &str, token: &Secret) -> Result<HeaderValue, AuthError> {
    let invalid = |_| AuthError::Source("the token is not a header value".to_owned());
    let text = format!("{scheme} {}", token.expose());
    let mut value = HeaderValue::try_from(text).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}
