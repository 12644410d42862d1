//! Webhook secrets, and signatures of the Standard Webhooks format.
//!
//! Spec: <https://www.standardwebhooks.com>

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac_sha256::HMAC;
use subtle::ConstantTimeEq as _;

/// The prefix of secrets.
const PREFIX: &str = "whsec_";
/// The prefix of signatures by HMAC-SHA256.
const VERSION: &str = "v1,";
/// The largest number of signatures in a header that are compared.
const MAX_SIGNATURES: usize = 16;

/// The secret that signs the events of one subscription: `whsec_` and the Base64 of 24 to 64 bytes.
///
/// `Debug` does not show it.
///
/// # Examples
///
/// ```
/// use mcp::events::WebhookSecret;
///
/// let secret = WebhookSecret::generate()?;
/// let signature = secret.sign("msg_1", 1_790_000_000, b"{}");
/// secret.verify("msg_1", 1_790_000_000, b"{}", &signature)?;
/// assert!(secret.verify("msg_1", 1_790_000_000, b"[]", &signature).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

/// A text that is not a webhook secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` and the Base64 of 24 to 64 bytes")]
#[non_exhaustive]
pub struct InvalidSecret;

/// A signature that no secret of the receiver has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature of the webhook is not valid")]
#[non_exhaustive]
pub struct InvalidSignature;

/// The operating system has no random numbers: secrets and challenges cannot be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system has no random numbers; no secret was created")]
#[non_exhaustive]
pub struct NoRandomness;

impl WebhookSecret {
    /// Creates a secret of 32 random bytes.
    ///
    /// # Errors
    ///
    /// Returns [`NoRandomness`] if the operating system has no random numbers.
    pub fn generate() -> Result<Self, NoRandomness> {
        let bytes: [u8; 32] = random_bytes(getrandom::fill)?;
        Ok(Self(bytes.to_vec()))
    }

    /// Reads a secret.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidSecret`] for a text of another form.
    pub fn parse(text: &str) -> Result<Self, InvalidSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidSecret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| InvalidSecret)?;
        match bytes.len() {
            24..=64 => Ok(Self(bytes)),
            _ => Err(InvalidSecret),
        }
    }

    /// Returns the secret as text. It is confidential.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Signs a message: its id, its time in seconds since 1970, its body.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let mac = self.mac(id, timestamp, body);
        format!("{VERSION}{}", STANDARD.encode(mac))
    }

    /// Verifies the signatures of a message. One has to be by this secret. Signatures of other
    /// versions are ignored.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidSignature`] if none is.
    pub fn verify(
        &self,
        id: &str,
        timestamp: u64,
        body: &[u8],
        signatures: &str,
    ) -> Result<(), InvalidSignature> {
        let mac = self.mac(id, timestamp, body);
        let signatures = signatures.split(' ').take(MAX_SIGNATURES);
        let signatures = signatures.filter_map(|text| text.strip_prefix(VERSION));
        let mut given = signatures.filter_map(|text| STANDARD.decode(text).ok());
        if given.any(|given| given.ct_eq(&mac).into()) {
            Ok(())
        } else {
            Err(InvalidSignature)
        }
    }

    fn mac(&self, id: &str, timestamp: u64, body: &[u8]) -> [u8; 32] {
        let mut mac = HMAC::new(&self.0);
        mac.update(format!("{id}.{timestamp}."));
        mac.update(body);
        mac.finalize()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSecret").finish_non_exhaustive()
    }
}

/// Returns random bytes as hexadecimal digits.
///
/// # Errors
///
/// Returns [`NoRandomness`] if the operating system has no random numbers. A predictable secret is worse
/// than none.
#[cfg(feature = "server")]
pub(crate) fn random_hex<const N: usize>() -> Result<String, NoRandomness> {
    let bytes: [u8; N] = random_bytes(getrandom::fill)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Fills bytes from a source of random numbers.
fn random_bytes<const N: usize, E>(
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{NoRandomness, WebhookSecret, random_bytes};

    #[test]
    fn source_without_random_numbers_is_an_error_and_not_a_predictable_secret() {
        let failing = |bytes: &mut [u8]| {
            bytes.fill(1);
            Err(())
        };
        assert_eq!(random_bytes::<32, _>(failing), Err(NoRandomness));
        let working = |bytes: &mut [u8]| {
            bytes.fill(1);
            Ok::<_, ()>(())
        };
        assert_eq!(random_bytes(working), Ok([1; 32]));
    }

    // The example of the Standard Webhooks specification.
    #[test]
    fn signature_matches_the_specification() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn one_valid_signature_among_several_is_enough() {
        let (old, new) = (
            WebhookSecret::generate().unwrap(),
            WebhookSecret::generate().unwrap(),
        );
        let both = format!(
            "v1a,AAAA {} {}",
            old.sign("a", 1, b"x"),
            new.sign("a", 1, b"x")
        );
        assert!(old.verify("a", 1, b"x", &both).is_ok());
        assert!(new.verify("a", 1, b"x", &both).is_ok());
        let other = WebhookSecret::generate().unwrap();
        assert!(other.verify("a", 1, b"x", &both).is_err());
        for (id, time, body) in [("b", 1, b"x"), ("a", 2, b"x"), ("a", 1, b"y")] {
            assert!(old.verify(id, time, body, &both).is_err());
        }
    }

    #[test]
    fn secret_in_another_form_is_refused() {
        for text in [
            "",
            "whsec_",
            "whsec_AAAA",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_%%",
        ] {
            assert!(WebhookSecret::parse(text).is_err(), "{text}");
        }
        let long = format!("whsec_{}", "A".repeat(88));
        assert!(WebhookSecret::parse(&long).is_err());
        let secret = WebhookSecret::generate().unwrap();
        assert_eq!(WebhookSecret::parse(&secret.expose()), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "WebhookSecret { .. }");
    }
}
