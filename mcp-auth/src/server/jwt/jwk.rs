//! [`KeySet`]: an issuer's public keys, and the search for the key of a token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

use super::super::verifier::VerifyError;
use super::algorithm::{Algorithm, Verification};
use crate::key::sha256_base64;

/// Maximum number of keys per issuer. Further keys are ignored.
const MAX_KEYS: usize = 100;

/// A public key for signatures.
#[derive(Debug, Clone)]
pub(in crate::server) struct Jwk {
    id: Option<String>,
    /// The only algorithm that the key may be used with. `None`: every algorithm for keys of its type.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Debug, Clone)]
enum Material {
    /// Numbers without leading zeros.
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    /// A curve's only algorithm, and an uncompressed point, see [`point`], or the bytes of an Ed25519 key.
    Curve(Algorithm, Vec<u8>),
}

/// The JSON members of a key that [`Jwk::read`] needs.
#[derive(Deserialize)]
struct Document {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    n: Option<String>,
    e: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    // Members of private and symmetric keys.
    d: Option<Value>,
    k: Option<Value>,
}

impl Jwk {
    /// Reads a public key for signatures. Returns `None` for symmetric and private keys, for keys with
    /// another use, for unknown key types and algorithms, and for malformed keys.
    pub(in crate::server) fn read(json: &Value) -> Option<Self> {
        let document = Document::deserialize(json).ok()?;
        let is_for_signatures = document.usage.as_deref().is_none_or(|usage| usage == "sig");
        let verifies =
            |operations: &Vec<String>| operations.iter().any(|operation| operation == "verify");
        if !is_for_signatures || !document.key_ops.as_ref().is_none_or(verifies) {
            return None;
        }
        if document.d.is_some() || document.k.is_some() {
            return None;
        }
        let algorithm = match document.alg.as_deref() {
            None => None,
            Some(name) => Some(Algorithm::from_name(name)?),
        };
        let decode = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
        let curve = document.crv.as_deref();
        let material = match (document.kty.as_str(), curve) {
            ("RSA", _) => Material::Rsa {
                modulus: without_zeros(decode(&document.n)?),
                exponent: without_zeros(decode(&document.e)?),
            },
            ("EC", Some("P-256")) => {
                let point = point(&decode(&document.x)?, &decode(&document.y)?, 32)?;
                Material::Curve(Algorithm::Es256, point)
            }
            ("EC", Some("P-384")) => {
                let point = point(&decode(&document.x)?, &decode(&document.y)?, 48)?;
                Material::Curve(Algorithm::Es384, point)
            }
            ("OKP", Some("Ed25519")) => {
                let x = decode(&document.x).filter(|x| x.len() == 32)?;
                Material::Curve(Algorithm::EdDsa, x)
            }
            _ => return None,
        };
        let key = Self {
            id: document.kid,
            algorithm,
            material,
        };
        key.algorithm
            .is_none_or(|algorithm| key.has_family(algorithm))
            .then_some(key)
    }

    /// Returns whether the key may verify signatures of an algorithm.
    pub(in crate::server) fn fits(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|own| own == algorithm) && self.has_family(algorithm)
    }

    /// Returns whether keys of this type have the algorithm.
    fn has_family(&self, algorithm: Algorithm) -> bool {
        match &self.material {
            Material::Curve(own, _) => *own == algorithm,
            Material::Rsa { .. } => matches!(algorithm.verification(), Verification::Rsa(_)),
        }
    }

    /// Returns whether this key made a message's signature.
    pub(super) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.fits(algorithm) {
            return false;
        }
        match (&self.material, algorithm.verification()) {
            (Material::Rsa { modulus, exponent }, Verification::Rsa(parameters)) => {
                let key = RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                };
                key.verify(parameters, message, signature).is_ok()
            }
            (Material::Curve(_, key), Verification::Other(algorithm)) => {
                let key = UnparsedPublicKey::new(algorithm, key);
                key.verify(message, signature).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the key thumbprint (RFC 7638, SHA-256).
    pub(in crate::server) fn thumbprint(&self) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let curve = |name: &str, point: &[u8]| {
            let (x, y) = point.get(1..).unwrap_or_default().split_at(point.len() / 2);
            let (x, y) = (encode(x), encode(y));
            format!(r#"{{"crv":"{name}","kty":"EC","x":"{x}","y":"{y}"}}"#)
        };
        let members = match &self.material {
            Material::Rsa { modulus, exponent } => {
                let (n, e) = (encode(modulus), encode(exponent));
                format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#)
            }
            Material::Curve(Algorithm::Es256, point) => curve("P-256", point),
            Material::Curve(Algorithm::Es384, point) => curve("P-384", point),
            Material::Curve(_, x) => {
                let x = encode(x);
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)
            }
        };
        sha256_base64(&members)
    }
}

/// Returns the uncompressed form of a point: the byte 4, then two coordinates of `size` bytes.
fn point(x: &[u8], y: &[u8], size: usize) -> Option<Vec<u8>> {
    (x.len() == size && y.len() == size).then(|| [&[4], x, y].concat())
}

/// Removes leading zeros, which `ring` refuses and RFC 7638 forbids.
fn without_zeros(mut bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    bytes.drain(..zeros);
    bytes
}

/// The public keys of an issuer.
#[derive(Debug, Default)]
pub(in crate::server) struct KeySet(Vec<Jwk>);

/// No key has the id of a token, or not exactly one key fits a token without an id.
pub(in crate::server) const UNKNOWN_KEY: VerifyError = VerifyError::Invalid("its key is unknown");
/// The key with the id of a token is for other algorithms.
pub(in crate::server) const WRONG_ALGORITHM: VerifyError =
    VerifyError::Invalid("its key is for another algorithm");

impl KeySet {
    /// Reads the keys of an issuer. Ignores those that [`Jwk::read`] cannot use.
    pub(in crate::server) fn read(keys: &[Value]) -> Self {
        let keys = keys.iter().filter_map(Jwk::read);
        Self(keys.take(MAX_KEYS).collect())
    }

    pub(in crate::server) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the key for a token with this key id and algorithm. For a token without an id, exactly one
    /// key must fit its algorithm.
    ///
    /// # Errors
    ///
    /// Returns [`UNKNOWN_KEY`] or [`WRONG_ALGORITHM`].
    pub(in crate::server) fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<&Jwk, VerifyError> {
        let mut fitting = self.0.iter().filter(|key| key.fits(algorithm));
        let Some(id) = id else {
            let only = fitting.next().filter(|_| fitting.next().is_none());
            return only.ok_or(UNKNOWN_KEY);
        };
        let has_id = |key: &&Jwk| key.id.as_deref() == Some(id);
        fitting.find(has_id).ok_or_else(|| {
            let is_known = self.0.iter().any(|key| has_id(&key));
            if is_known {
                WRONG_ALGORITHM
            } else {
                UNKNOWN_KEY
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Jwk;

    #[test]
    fn thumbprint_matches_rfc_7638() {
        let key = json!({"kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29", "n":
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"});
        let key = Jwk::read(&key).unwrap();
        assert_eq!(
            key.thumbprint(),
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        );
    }

    #[test]
    fn keys_that_do_not_verify_signatures_are_ignored() {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        assert!(Jwk::read(&json!({"kty": "OKP", "crv": "Ed25519", "x": x})).is_some());
        for key in [
            json!({"kty": "oct", "k": "AAAA"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "d": "AAAA"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "use": "enc"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "key_ops": ["encrypt"]}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "alg": "HS256"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "alg": "RS256"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}),
            json!({"kty": "EC", "crv": "P-256", "x": x}),
            json!({"kty": "RSA", "e": "AQAB"}),
            json!("key"),
        ] {
            assert!(Jwk::read(&key).is_none(), "{key}");
        }
    }
}
