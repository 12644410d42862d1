//! Proofs of possession on requests (DPoP).
//!
//! Spec: RFC 9449, and the Model Context Protocol's DPoP extension.

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use parking_lot::Mutex;
use serde_json::json;
use url::Url;

use crate::clock;
use crate::error::{AuthError, bare};
use crate::key::{ProofKey, random_text, sha256_base64};
use crate::secret::Secret;

pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");
pub(crate) const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The only algorithm for this crate's keys.
pub(crate) const ALGORITHM: &str = "ES256";

/// Largest number of origins whose nonce is kept.
const MAX_ORIGINS: usize = 64;

/// Setting for proofs of possession: access tokens that only the holder of a key can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Dpop {
    /// Never: a client requests no bound tokens, a server refuses them.
    #[default]
    Off,
    /// A client binds its tokens if the authorization server or the MCP server supports it. A server
    /// accepts bound tokens with a proof, and others without one.
    Optional,
    /// Always: a server without support is an error of a client, and a server refuses tokens without a key.
    Required,
}

/// The newest nonce of each origin.
#[derive(Default)]
pub(crate) struct Nonces(Mutex<HashMap<String, String>>);

impl Nonces {
    /// Keeps the nonce of a response. Returns whether there was one.
    // spec: DPOP-02
    pub(crate) fn update(&self, url: &Url, headers: &HeaderMap) -> bool {
        let nonce = headers.get(DPOP_NONCE);
        let nonce = nonce.and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| (1..=1024).contains(&nonce.len())) else {
            return false;
        };
        let mut nonces = self.0.lock();
        let origin = url.origin().ascii_serialization();
        if nonces.len() < MAX_ORIGINS || nonces.contains_key(&origin) {
            nonces.insert(origin, nonce.to_owned());
        }
        true
    }

    fn get(&self, url: &Url) -> Option<String> {
        self.0
            .lock()
            .get(&url.origin().ascii_serialization())
            .cloned()
    }

    /// Signs the proof of one request. `token` is the access token of requests to the MCP server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when signing fails.
    // spec: DPOP-01
    pub(crate) fn proof(
        &self,
        key: &ProofKey,
        method: &Method,
        url: &Url,
        token: Option<&Secret>,
    ) -> Result<HeaderValue, AuthError> {
        let mut claims = json!({
            "jti": random_text(16)?,
            "htm": method.as_str(),
            "htu": bare(url).as_str(),
            "iat": clock::unix_now(),
        });
        if let Some(token) = token {
            claims["ath"] = json!(sha256_base64(token.expose()));
        }
        if let Some(nonce) = self.get(url) {
            claims["nonce"] = json!(nonce);
        }
        let proof = key.sign(&claims)?;
        let mut value = HeaderValue::try_from(proof.expose())
            .map_err(|_| AuthError::Key("the proof is not a header value".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}
