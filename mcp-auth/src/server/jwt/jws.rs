//! Signed tokens in compact form.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::super::verifier::VerifyError;
use super::algorithm::Algorithm;
use super::jwk::Jwk;
use crate::fetch::depth;
use crate::limits::MAX_DEPTH;

/// A token whose signature has not been verified.
pub(in crate::server) struct Jws<'a> {
    pub(in crate::server) header: JwsHeader,
    pub(in crate::server) algorithm: Algorithm,
    /// The bytes that are signed.
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The members of the header that are read. Those that name or contain a key (`jku`, `x5u`, `x5c`) are
/// ignored: a key comes from the issuer. Proofs of possession read `jwk`.
#[derive(Deserialize)]
pub(in crate::server) struct JwsHeader {
    alg: String,
    pub(in crate::server) kid: Option<String>,
    pub(in crate::server) typ: Option<String>,
    #[serde(default)]
    crit: Present,
    pub(in crate::server) jwk: Option<Value>,
}

/// True for a member with any value, also `null`.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

impl<'a> Jws<'a> {
    /// Splits a token.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Invalid`] when it is not a signed token, when its algorithm is not asymmetric,
    /// and when it has critical extensions: there are none that this crate knows.
    pub(in crate::server) fn parse(token: &'a str) -> Result<Self, VerifyError> {
        let (signed, signature) = token.rsplit_once('.').ok_or(NO_JWT)?;
        let (header, payload) = signed.split_once('.').ok_or(NO_JWT)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| NO_JWT);
        let header = decode(header)?;
        if depth(&header) > MAX_DEPTH {
            return Err(NO_JWT);
        }
        let header: JwsHeader = serde_json::from_slice(&header).map_err(|_| NO_JWT)?;
        if header.crit.0 {
            return Err(VerifyError::Invalid("it has critical header parameters"));
        }
        let algorithm = Algorithm::from_name(&header.alg)
            .ok_or(VerifyError::Invalid("its algorithm is not asymmetric"))?;
        Ok(Self {
            algorithm,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
            header,
        })
    }

    /// Verifies the signature and returns the claims.
    ///
    /// # Errors
    ///
    /// Returns [`INVALID_SIGNATURE`] when the signature is not by this key, and another
    /// [`VerifyError::Invalid`] when the payload is not a JSON object.
    pub(in crate::server) fn verify(&self, key: &Jwk) -> Result<Map<String, Value>, VerifyError> {
        if !key.verify(self.algorithm, self.signed.as_bytes(), &self.signature) {
            return Err(INVALID_SIGNATURE);
        }
        claims_of(&self.payload)
    }
}

/// The signature is not by the key.
pub(in crate::server) const INVALID_SIGNATURE: VerifyError =
    VerifyError::Invalid("its signature is invalid");
const NO_JWT: VerifyError = VerifyError::Invalid("it is not a signed JSON Web Token");

/// Reads a JSON object that is not nested too deeply.
///
/// # Errors
///
/// Returns [`VerifyError::Invalid`] for other JSON.
pub(in crate::server) fn claims_of(json: &[u8]) -> Result<Map<String, Value>, VerifyError> {
    if depth(json) > MAX_DEPTH {
        return Err(VerifyError::Invalid("its claims are nested too deeply"));
    }
    serde_json::from_slice(json)
        .map_err(|_| VerifyError::Invalid("its claims are not a JSON object"))
}

/// Returns the issuer that a token claims, to select the keys. Nothing is verified. `None` when the token
/// is not a JSON Web Token.
pub(in crate::server) fn unverified_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct IssuerClaim {
        iss: String,
    }
    let mut parts = token.split('.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    if parts.next().is_some() || depth(&payload) > MAX_DEPTH {
        return None;
    }
    let claims: IssuerClaim = serde_json::from_slice(&payload).ok()?;
    Some(claims.iss)
}
