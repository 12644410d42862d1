//! Proofs of possession on requests to this server (DPoP).
//!
//! Spec: RFC 9449, section 4.3, and the Model Context Protocol's DPoP extension.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use mcp_core::Principal;
use ring::hmac;
use serde_json::{Map, Value};
use url::Url;

use super::cache::digest;
use super::jwt::{Algorithm, Jwk, Jws};
use super::proof_memory::ProofMemory;
use super::verifier::VerifyError;
use crate::clock;
use crate::dpop::DPOP;
use crate::key::sha256_base64;
use crate::limits::MAX_TOKEN;
use crate::secret::Secret;

/// Seconds that the time of a proof may differ from that of this server.
const WINDOW: u64 = 300;
/// Seconds for which a nonce is valid.
const NONCE_LIFETIME: u64 = 300;
/// Number of proofs that are remembered.
const MAX_PROOFS: usize = 200_000;
/// Largest length of a proof's id.
const MAX_ID: usize = 256;

/// The key of the nonces that proofs must contain. Nonces need no memory: nodes with the same key accept
/// each other's.
#[derive(Debug, Clone)]
pub(super) struct NonceKey(hmac::Key);

impl NonceKey {
    pub(super) fn new(secret: &Secret) -> Self {
        Self(hmac::Key::new(
            hmac::HMAC_SHA256,
            secret.expose().as_bytes(),
        ))
    }

    pub(super) fn nonce(&self, now: u64) -> String {
        let time = now.to_be_bytes();
        let tag = hmac::sign(&self.0, &time);
        URL_SAFE_NO_PAD.encode([&time, tag.as_ref()].concat())
    }

    fn accepts(&self, nonce: &str, now: u64) -> bool {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(nonce) else {
            return false;
        };
        let Some((time, tag)) = bytes.split_first_chunk::<8>() else {
            return false;
        };
        let created = u64::from_be_bytes(*time);
        hmac::verify(&self.0, time, tag).is_ok()
            && created <= now.saturating_add(WINDOW)
            && now <= created.saturating_add(NONCE_LIFETIME)
    }
}

/// Reason why a proof is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProofError {
    Invalid(&'static str),
    /// The proof needs a new nonce.
    UseNonce,
}

impl From<VerifyError> for ProofError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Invalid(reason) => Self::Invalid(reason),
            VerifyError::Unavailable(_) => Self::Invalid("it cannot be checked"),
        }
    }
}

/// Checks proofs for one resource.
pub(super) struct ProofChecker {
    resource: Url,
    nonces: Option<NonceKey>,
    seen: ProofMemory,
}

impl ProofChecker {
    pub(super) fn new(resource: Url, nonces: Option<NonceKey>) -> Self {
        Self {
            resource,
            nonces,
            seen: ProofMemory::new(MAX_PROOFS),
        }
    }

    /// Returns a nonce for the next proofs.
    pub(super) fn nonce(&self) -> Option<String> {
        let nonces = self.nonces.as_ref()?;
        Some(nonces.nonce(clock::unix_now()))
    }

    /// Checks the proof of a request. `token` is the access token of `principal`, which is bound to the key with
    /// `thumbprint`.
    ///
    /// # Errors
    ///
    /// Returns [`ProofError`] for the first rule that the proof violates.
    // spec: DPOP-03
    pub(super) fn check(
        &self,
        head: &Parts,
        token: &str,
        thumbprint: &str,
        principal: &Principal,
    ) -> Result<(), ProofError> {
        let invalid = |reason| Err(ProofError::Invalid(reason));
        let mut proofs = head.headers.get_all(DPOP).iter();
        let (Some(proof), None) = (proofs.next(), proofs.next()) else {
            return invalid("there is not exactly one proof");
        };
        let proof = proof.to_str().ok().filter(|proof| proof.len() <= MAX_TOKEN);
        let Some(proof) = proof else {
            return invalid("it is not a short ASCII text");
        };
        let jws = Jws::parse(proof)?;
        let is_proof = jws.header.typ.as_deref();
        if !is_proof.is_some_and(|typ| typ.eq_ignore_ascii_case("dpop+jwt")) {
            return invalid("its type is not dpop+jwt");
        }
        if !Algorithm::DEFAULT.contains(&jws.algorithm) {
            return invalid("its algorithm is not accepted");
        }
        let key = jws.header.jwk.as_ref().and_then(Jwk::read);
        let Some(key) = key else {
            return invalid("it has no public key");
        };
        if key.thumbprint() != thumbprint {
            return invalid("its key is not that of the token");
        }
        let claims = jws.verify(&key)?;
        self.check_claims(&claims, head, token)?;
        let now = clock::unix_now();
        let id = text(&claims, "jti").filter(|id| !id.is_empty() && id.len() <= MAX_ID);
        let Some(id) = id else {
            return invalid("it has no short id");
        };
        let id = digest(format!("{thumbprint} {id}").as_bytes());
        let Principal {
            issuer, subject, ..
        } = principal;
        // The length separates issuer and subject: two different pairs never give the same text.
        let owner = digest(format!("{}:{issuer}{subject}", issuer.len()).as_bytes());
        if self.seen.insert(owner, id, now + 2 * WINDOW + 1, now) {
            Ok(())
        } else {
            invalid("it was used before")
        }
    }

    fn check_claims(
        &self,
        claims: &Map<String, Value>,
        head: &Parts,
        token: &str,
    ) -> Result<(), ProofError> {
        let invalid = |reason| Err(ProofError::Invalid(reason));
        if text(claims, "htm") != Some(head.method.as_str()) {
            return invalid("it is for another method");
        }
        if !text(claims, "htu").is_some_and(|url| self.is_own_url(url, head)) {
            return invalid("it is for another URL");
        }
        let now = clock::unix_now();
        let issued = claims.get("iat").and_then(Value::as_f64);
        if !issued.is_some_and(|issued| (issued - now as f64).abs() <= WINDOW as f64) {
            return invalid("its time is too far from that of this server");
        }
        if text(claims, "ath") != Some(&*sha256_base64(token)) {
            return invalid("it is for another token");
        }
        let nonce = text(claims, "nonce");
        match &self.nonces {
            Some(nonces) if !nonce.is_some_and(|nonce| nonces.accepts(nonce, now)) => {
                Err(ProofError::UseNonce)
            }
            _ => Ok(()),
        }
    }

    /// Compares a URL with the resource's URL, and with the request's path at the resource's
    /// origin. The origin never comes from the request.
    fn is_own_url(&self, url: &str, head: &Parts) -> bool {
        let Ok(url) = Url::parse(url) else {
            return false;
        };
        let path = url.path().trim_end_matches('/');
        let is_path = |own: &str| path == own.trim_end_matches('/');
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        url.origin() == self.resource.origin()
            && !has_credentials
            && (is_path(self.resource.path()) || is_path(head.uri.path()))
    }
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claims.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde_json::{Value, json};

    use super::*;
    use crate::key::{ProofKey, random_text};

    const URL: &str = "https://mcp.example/mcp";
    const TOKEN: &str = "token";

    struct Case {
        key: ProofKey,
        checker: ProofChecker,
    }

    impl Case {
        fn new(nonces: Option<NonceKey>) -> Self {
            Self {
                key: ProofKey::generate().unwrap(),
                checker: ProofChecker::new(URL.parse().unwrap(), nonces),
            }
        }

        fn thumbprint(&self) -> String {
            let proof = self.key.sign(&json!({})).unwrap();
            let jws = Jws::parse(proof.expose()).unwrap();
            Jwk::read(jws.header.jwk.as_ref().unwrap())
                .unwrap()
                .thumbprint()
        }

        fn check(&self, change: Value) -> Result<(), ProofError> {
            let mut claims = json!({
                "jti": random_text(8).unwrap(), "htm": "POST", "htu": URL,
                "iat": clock::unix_now(), "ath": sha256_base64(TOKEN),
            });
            for (name, value) in change.as_object().unwrap() {
                if value.is_null() {
                    drop(claims.as_object_mut().unwrap().remove(name))
                } else {
                    claims[name] = value.clone()
                }
            }
            let proof = self.key.sign(&claims).unwrap();
            self.check_headers(&[proof.expose()])
        }

        fn check_headers(&self, proofs: &[&str]) -> Result<(), ProofError> {
            let mut request = Request::post("/inner").body(()).unwrap();
            for proof in proofs {
                request.headers_mut().append(DPOP, proof.parse().unwrap());
            }
            let head = request.into_parts().0;
            let principal = Principal::new("issuer", "ada");
            let thumbprint = self.thumbprint();
            self.checker.check(&head, TOKEN, &thumbprint, &principal)
        }
    }

    // spec: DPOP-03
    #[test]
    fn proof_with_any_wrong_claim_is_refused() {
        let case = Case::new(None);
        let now = clock::unix_now();
        for change in [
            json!({}),
            json!({"htu": "https://mcp.example/mcp/"}),
            json!({"htu": "https://MCP.example:443/mcp?q"}),
            json!({"htu": "https://mcp.example/inner"}),
            json!({"iat": now - 290}),
        ] {
            assert_eq!(case.check(change.clone()), Ok(()), "{change}");
        }
        for change in [
            json!({"jti": null}),
            json!({"jti": ""}),
            json!({"jti": "x".repeat(257)}),
            json!({"htm": "GET"}),
            json!({"htm": null}),
            json!({"htu": null}),
            json!({"htu": "https://other.example/mcp"}),
            json!({"htu": "http://mcp.example/mcp"}),
            json!({"htu": "https://mcp.example/mcp2"}),
            json!({"htu": "https://u@mcp.example/mcp"}),
            json!({"iat": now - 310}),
            json!({"iat": now + 310}),
            json!({"iat": now.to_string()}),
            json!({"iat": null}),
            json!({"ath": null}),
            json!({"ath": sha256_base64("other")}),
        ] {
            let checked = case.check(change.clone());
            assert!(
                matches!(checked, Err(ProofError::Invalid(_))),
                "{change} {checked:?}"
            );
        }
    }

    #[test]
    fn proof_is_refused_if_repeated_or_not_exactly_one() {
        let case = Case::new(None);
        let claims = json!({
            "jti": "1", "htm": "POST", "htu": URL, "iat": clock::unix_now(),
            "ath": sha256_base64(TOKEN),
        });
        let proof = case.key.sign(&claims).unwrap();
        let proof = proof.expose();
        assert_eq!(case.check_headers(&[proof]), Ok(()));
        for proofs in [&[proof][..], &[], &[proof, proof], &["a, b"], &["a.b.c"]] {
            assert!(case.check_headers(proofs).is_err(), "{proofs:?}");
        }
        let other = ProofKey::generate().unwrap();
        let proof = other
            .sign(&json!({"jti": "2", "htm": "POST", "htu": URL}))
            .unwrap();
        assert!(case.check_headers(&[proof.expose()]).is_err());
    }

    #[test]
    fn nonces_from_another_key_or_time_are_refused() {
        let key = NonceKey::new(&Secret::new("nonces"));
        let case = Case::new(Some(key.clone()));
        let now = clock::unix_now();
        assert_eq!(case.check(json!({"nonce": key.nonce(now)})), Ok(()));
        for nonce in [
            json!(null),
            json!(""),
            json!("AAAAAAAAAAAA"),
            json!(key.nonce(now - 310)),
            json!(key.nonce(now + 310)),
            json!(NonceKey::new(&Secret::new("other")).nonce(now)),
        ] {
            let checked = case.check(json!({"nonce": nonce}));
            assert_eq!(checked, Err(ProofError::UseNonce), "{nonce}");
        }
    }
}
