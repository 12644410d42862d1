//! Keys that sign assertions and proofs, and JSON Web Tokens.
//!
//! Spec: RFC 7515, RFC 7518.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    Ed25519KeyPair, KeyPair, RsaKeyPair,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::error::AuthError;
use crate::secret::Secret;

/// A private key that signs assertions of the client (`private_key_jwt`). `Debug` shows its public half only.
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::PrivateKey;
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let pem = std::fs::read_to_string("key.pem")?;
/// let key = PrivateKey::from_pem(&pem)?.key_id("2026-11");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PrivateKey {
    pair: Arc<Pair>,
    /// The algorithm's name in JWTs.
    pub(crate) algorithm: &'static str,
    key_id: Option<String>,
}

#[derive(Debug)]
enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl PrivateKey {
    /// Reads a PKCS#8 key in PEM (`BEGIN PRIVATE KEY`): EC P-256 (ES256), EC P-384 (ES384), Ed25519
    /// (EdDSA) or RSA (RS256).
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the text is not such a key.
    pub fn from_pem(pem: &str) -> Result<Self, AuthError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| invalid("it is not a PKCS#8 key in PEM (BEGIN PRIVATE KEY)"))?;
        Self::from_pkcs8(der.secret_pkcs8_der())
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let (pair, algorithm) = if let Ok(pair) =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
        {
            (Pair::Ecdsa(pair), "ES256")
        } else if let Ok(pair) =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der, &random)
        {
            (Pair::Ecdsa(pair), "ES384")
        } else if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            (Pair::Ed25519(pair), "EdDSA")
        } else if let Ok(pair) = RsaKeyPair::from_pkcs8(der) {
            (Pair::Rsa(pair), "RS256")
        } else {
            let message =
                "its type is none of EC P-256, EC P-384, Ed25519, RSA (2048 to 4096 bits)";
            return Err(invalid(message));
        };
        Ok(Self {
            pair: Arc::new(pair),
            algorithm,
            key_id: None,
        })
    }

    /// Sets the `kid` header of assertions.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        self.key_id = Some(id.into());
        self
    }

    /// Signs a token with the given header fields and claims.
    pub(crate) fn sign(&self, mut header: Value, claims: &Value) -> Result<Secret, AuthError> {
        header["alg"] = json!(self.algorithm);
        if let Some(id) = &self.key_id {
            header["kid"] = json!(id);
        }
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        let input = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let random = SystemRandom::new();
        let failed = |_| invalid("signing failed");
        let signature = match &*self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, input.as_bytes()).map_err(failed)?;
                signature.as_ref().to_vec()
            }
            Pair::Ed25519(pair) => pair.sign(input.as_bytes()).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let encoding = &signature::RSA_PKCS1_SHA256;
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, input.as_bytes(), &mut signature)
                    .map_err(failed)?;
                signature
            }
        };
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(Secret::new(format!("{input}.{signature}")))
    }
}

/// A key of one authorization server for proofs of possession (ES256).
#[derive(Clone)]
pub(crate) struct ProofKey {
    key: PrivateKey,
    pub(crate) pkcs8: Secret,
    public: Value,
}

impl ProofKey {
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the system has no random numbers.
    pub(crate) fn generate() -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| invalid("the system gives no random numbers"))?;
        Self::from_stored(Secret::new(URL_SAFE_NO_PAD.encode(pkcs8.as_ref())))
    }

    /// Reads a key that [`stored`](Self::stored) returned.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when it is not such a key.
    pub(crate) fn from_stored(pkcs8: Secret) -> Result<Self, AuthError> {
        let der = URL_SAFE_NO_PAD
            .decode(pkcs8.expose())
            .map_err(|_| invalid("the stored key is not Base64"))?;
        let key = PrivateKey::from_pkcs8(&der)?;
        let Pair::Ecdsa(pair) = &*key.pair else {
            return Err(invalid("the stored key is not an EC key"));
        };
        let point = pair.public_key().as_ref();
        let Some((x, y)) = point.get(1..33).zip(point.get(33..65)) else {
            return Err(invalid("the stored key is not a P-256 key"));
        };
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let public = json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y)});
        Ok(Self { key, pkcs8, public })
    }

    /// Signs a proof.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when signing fails.
    pub(crate) fn sign(&self, claims: &Value) -> Result<Secret, AuthError> {
        let header = json!({"typ": "dpop+jwt", "jwk": self.public});
        self.key.sign(header, claims)
    }
}

/// Returns 32 random bytes in Base64 for URLs: a state or a verifier.
///
/// # Errors
///
/// Returns [`AuthError::Key`] when the system has no random numbers.
pub(crate) fn random_text(bytes: usize) -> Result<String, AuthError> {
    use ring::rand::SecureRandom as _;
    let mut buffer = vec![0; bytes];
    SystemRandom::new()
        .fill(&mut buffer)
        .map_err(|_| invalid("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(buffer))
}

/// The SHA-256 hash of a text, in Base64 for URLs.
pub(crate) fn sha256_base64(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()))
}

fn invalid(reason: &str) -> AuthError {
    AuthError::Key(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn proof_key_survives_storage_and_signs() {
        let key = ProofKey::generate().unwrap();
        let same = ProofKey::from_stored(key.pkcs8.clone()).unwrap();
        assert_eq!(key.public, same.public);
        let token = same.sign(&json!({"jti": "x"})).unwrap();
        let (input, signature) = token.expose().rsplit_once('.').unwrap();
        let Pair::Ecdsa(pair) = &*key.key.pair else {
            panic!("another key");
        };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key());
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        public.verify(input.as_bytes(), &signature).unwrap();
        let header = URL_SAFE_NO_PAD
            .decode(input.split('.').next().unwrap())
            .unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["alg"], "ES256");
        assert_eq!(header["jwk"].get("d"), None);
    }

    #[test]
    fn pkce_challenge_matches_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(
            sha256_base64(verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        assert_eq!(random_text(32).unwrap().len(), 43);
    }

    #[test]
    fn from_pem_refuses_other_text() {
        for pem in [
            "",
            "secret",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ] {
            let error = PrivateKey::from_pem(pem).unwrap_err().to_string();
            assert!(
                error.starts_with("the signing key cannot be used"),
                "{error}"
            );
        }
    }
}
