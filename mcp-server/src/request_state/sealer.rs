//! Encryption of one server's states.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::XNonce;
use chacha20poly1305::aead::AeadInOut;
use hmac_sha256::Hash;
use mcp_core::ServerIdentity;

use super::binding::{Binding, update};
use super::keys::{KEY_ID_LEN, StateKeys};

/// Format version of sealed states: format, key id, nonce, ciphertext of expiry and state, tag.
const FORMAT: u8 = 3;
const NONCE_LEN: usize = 24;
const TAG_LEN: usize = 16;
const HEADER_LEN: usize = 1 + KEY_ID_LEN;
const EXPIRY_LEN: usize = 8;

/// The keys of one server with its name. States that were sealed under another name do not open.
#[derive(Debug)]
pub(crate) struct Sealer {
    server: Box<str>,
    /// `None`: the process's random key.
    keys: Option<StateKeys>,
    identity: ServerIdentity,
}

impl Default for Sealer {
    fn default() -> Self {
        Self::new("", None)
    }
}

/// The error of a state that cannot be sealed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum SealError {
    #[error("it has {bytes} bytes, and at most {most} are allowed (`StateKeys::max_bytes`)")]
    TooLarge { bytes: usize, most: usize },
    #[error("the operating system gives no random numbers: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error("it cannot be encrypted")]
    Cipher,
}

/// The error of a state that is forged, expired, or sealed for another request or server. It has no
/// details, because they would help only an attacker.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidState;

impl Sealer {
    pub(crate) fn new(server: impl Into<Box<str>>, keys: Option<StateKeys>) -> Self {
        Self {
            server: server.into(),
            keys,
            identity: ServerIdentity::unique(),
        }
    }

    /// Returns the endpoint whose requests a state is valid for: the one that makes a server for each
    /// request (`made_by`), or else this server. `None` for configured keys, which several endpoints may
    /// share.
    ///
    /// Servers without configured keys share the random key of the process: without the endpoint, two servers of
    /// one name would accept each other's states. A key per server would separate the servers that one endpoint
    /// makes.
    pub(crate) fn endpoint(&self, made_by: Option<&ServerIdentity>) -> Option<ServerIdentity> {
        match &self.keys {
            Some(_) => None,
            None => Some(made_by.copied().unwrap_or(self.identity)),
        }
    }

    /// Returns true if answers in a request without a state are accepted.
    pub(crate) fn accepts_unsolicited_answers(&self) -> bool {
        let configured = self.keys.as_ref();
        configured.is_some_and(|keys| keys.accepts_unsolicited_answers)
    }

    /// Returns the maximum size of a state, in bytes.
    pub(crate) fn size_limit(&self) -> usize {
        let configured = self.keys.as_ref();
        configured.map_or(StateKeys::MAX_BYTES, |keys| keys.max_bytes)
    }

    /// Returns the time for which a state is valid.
    pub(crate) fn lifetime(&self) -> Duration {
        let configured = self.keys.as_ref();
        configured.map_or(StateKeys::LIFETIME, |keys| keys.lifetime)
    }

    fn keys(&self) -> Result<&StateKeys, getrandom::Error> {
        match &self.keys {
            Some(keys) => Ok(keys),
            None => StateKeys::process_default(),
        }
    }

    /// Encrypts `plain` for requests with `binding`, for the lifetime of states.
    pub(crate) fn seal(&self, plain: &[u8], binding: &Binding) -> Result<String, SealError> {
        let keys = self.keys()?;
        self.seal_until(keys.expiry(), plain, binding)
    }

    /// Encrypts `plain` without an expiry.
    pub(crate) fn seal_forever(
        &self,
        plain: &[u8],
        binding: &Binding,
    ) -> Result<String, SealError> {
        self.seal_until(u64::MAX, plain, binding)
    }

    /// Encrypts `plain`. `expiry` is in seconds since 1970.
    fn seal_until(
        &self,
        expiry: u64,
        plain: &[u8],
        binding: &Binding,
    ) -> Result<String, SealError> {
        let keys = self.keys()?;
        let (bytes, most) = (plain.len(), keys.max_bytes);
        if bytes > most {
            return Err(SealError::TooLarge { bytes, most });
        }
        let key = keys.sealing_key().ok_or(SealError::Cipher)?;
        let capacity = HEADER_LEN + NONCE_LEN + EXPIRY_LEN + bytes + TAG_LEN;
        let mut sealed = Vec::with_capacity(capacity);
        sealed.push(FORMAT);
        sealed.extend_from_slice(&key.id);
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce)?;
        let data = self.associated_data(&sealed, binding);
        sealed.extend_from_slice(&nonce);
        let start = sealed.len();
        sealed.extend_from_slice(&expiry.to_be_bytes());
        sealed.extend_from_slice(plain);
        let message = sealed.get_mut(start..).unwrap_or_default();
        let encrypted =
            key.cipher()
                .encrypt_inout_detached(&XNonce::from(nonce), &data, message.into());
        let tag = encrypted.map_err(|_| SealError::Cipher)?;
        sealed.extend_from_slice(&tag);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Decrypts a state that was sealed for requests with `binding`.
    pub(crate) fn open(&self, text: &str, binding: &Binding) -> Result<Vec<u8>, InvalidState> {
        let keys = self.keys().map_err(|_| InvalidState)?;
        // A state that is longer than any sealed one is not decoded.
        let max_len = HEADER_LEN + NONCE_LEN + EXPIRY_LEN + keys.max_bytes + TAG_LEN;
        if text.len() > max_len.div_ceil(3).saturating_mul(4) {
            return Err(InvalidState);
        }
        let mut sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidState)?;
        let parts = sealed.split_at_mut_checked(HEADER_LEN);
        let (header, rest) = parts.ok_or(InvalidState)?;
        let parts = rest.split_first_chunk_mut::<NONCE_LEN>();
        let (nonce, rest) = parts.ok_or(InvalidState)?;
        let parts = rest.split_last_chunk_mut::<TAG_LEN>();
        let (message, tag) = parts.ok_or(InvalidState)?;
        let (format, id) = header.split_first().ok_or(InvalidState)?;
        if *format != FORMAT {
            return Err(InvalidState);
        }
        let id = id.try_into().map_err(|_| InvalidState)?;
        let key = keys.find_key(id).ok_or(InvalidState)?;
        let data = self.associated_data(header, binding);
        let decrypted = key.cipher().decrypt_inout_detached(
            &XNonce::from(*nonce),
            &data,
            (&mut *message).into(),
            &(*tag).into(),
        );
        // spec: MRTR-07
        decrypted.map_err(|_| InvalidState)?;
        let parts = message.split_first_chunk::<EXPIRY_LEN>();
        let (expiry, plain) = parts.ok_or(InvalidState)?;
        if u64::from_be_bytes(*expiry) <= keys.now() {
            return Err(InvalidState);
        }
        Ok(plain.to_vec())
    }

    /// Returns the data that a state is valid for: format and key, server, request.
    fn associated_data(&self, header: &[u8], binding: &Binding) -> Vec<u8> {
        let mut server = Hash::new();
        update(&mut server, b's', self.server.as_bytes());
        [header, &server.finalize(), binding.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, UNIX_EPOCH};

    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use mcp_core::{Call, Principal};
    use mcp_types::ReadResourceParams;

    use super::{InvalidState, SealError, Sealer, StateKeys};
    use crate::request_state::Binding;

    const ONE: &str = "KrM0ZQpgdAnbqXnrA46gEhQ1uK7JdTQW";
    const TWO: &str = "x8HwNp4cbVhGzsNf2o6yPbnm1e0uXl5R";

    fn binding(uri: &str, subject: Option<&str>) -> Binding {
        let principal = subject.map(|subject| Principal::new("https://a.example", subject));
        let call = Call::ReadResource(ReadResourceParams::from(uri));
        Binding::new(&call, principal.as_ref())
    }

    fn keys() -> StateKeys {
        StateKeys::new(ONE).unwrap()
    }

    fn sealer(keys: StateKeys) -> Sealer {
        Sealer::new("shop", Some(keys))
    }

    #[test]
    fn sealed_state_opens_for_same_request_only() {
        let here = binding("a://b", Some("ada"));
        let keys = || sealer(keys());
        let text = keys().seal(b"ticket 7", &here).unwrap();
        assert!(!text.contains("ticket"), "{text}");
        assert!(!text.contains(['+', '/', '=', ' ']), "{text}");
        assert_eq!(keys().open(&text, &here), Ok(b"ticket 7".to_vec()));
        assert_ne!(keys().seal(b"ticket 7", &here).unwrap(), text);
        for other in [
            binding("a://c", Some("ada")),
            binding("a://b", Some("bob")),
            binding("a://b", None),
        ] {
            assert_eq!(keys().open(&text, &other), Err(InvalidState));
        }
        let random = sealer(StateKeys::random().unwrap());
        assert_eq!(random.open(&text, &here), Err(InvalidState));
    }

    #[test]
    fn state_opens_for_same_server_and_secret_only() {
        let here = binding("a://b", None);
        let with = |secret: &str| Some(StateKeys::new(secret).unwrap());
        let text = Sealer::new("shop", with(ONE)).seal(b"x", &here);
        let text = text.unwrap();
        for (server, secret, opens) in [
            ("shop", ONE, true),
            ("bank", ONE, false),
            ("", ONE, false),
            ("shope", ONE, false),
            ("shop", TWO, false),
        ] {
            let opened = Sealer::new(server, with(secret)).open(&text, &here);
            assert_eq!(opened.is_ok(), opens, "{server} {secret}");
        }
        // The random key of the process is common to its servers.
        let text = Sealer::new("shop", None).seal(b"x", &here).unwrap();
        assert!(Sealer::new("shop", None).open(&text, &here).is_ok());
        assert_eq!(
            Sealer::new("bank", None).open(&text, &here),
            Err(InvalidState)
        );
    }

    // spec: MRTR-07
    #[test]
    fn state_with_changed_or_missing_byte_is_rejected() {
        let here = binding("a://b", None);
        let keys = || sealer(keys());
        let text = keys().seal(b"x", &here).unwrap();
        let sealed = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(keys().open(&changed, &here), Err(InvalidState), "{index}");
            let cut = URL_SAFE_NO_PAD.encode(&sealed[..index]);
            assert_eq!(keys().open(&cut, &here), Err(InvalidState), "{index}");
        }
        for forged in ["", "AA", "-TAMPERED", "é", &format!("{text}-TAMPERED")] {
            assert_eq!(keys().open(forged, &here), Err(InvalidState), "{forged}");
        }
        let long = "A".repeat(10_000_000);
        assert_eq!(keys().open(&long, &here), Err(InvalidState));
    }

    // spec: MRTR-08
    #[test]
    fn state_after_lifetime_is_rejected() {
        let here = binding("a://b", None);
        let time = Arc::new(AtomicU64::new(1000));
        let clock = time.clone();
        let keys = keys()
            .lifetime(Duration::from_secs(60))
            .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)));
        let keys = sealer(keys);
        let text = keys.seal(b"x", &here).unwrap();
        for (now, valid) in [(1000, true), (1059, true), (1060, false), (9999, false)] {
            time.store(now, Ordering::Relaxed);
            assert_eq!(keys.open(&text, &here).is_ok(), valid, "{now}");
        }
    }

    #[test]
    fn former_key_opens_old_states_and_seals_none() {
        let here = binding("a://b", None);
        let new_keys = || StateKeys::new(TWO).unwrap();
        let old = sealer(keys()).seal(b"x", &here).unwrap();
        let rotated = sealer(new_keys().former(ONE).unwrap());
        assert_eq!(rotated.open(&old, &here), Ok(b"x".to_vec()));
        let new = rotated.seal(b"x", &here).unwrap();
        assert_eq!(sealer(keys()).open(&new, &here), Err(InvalidState));
        assert_eq!(sealer(new_keys()).open(&new, &here), Ok(b"x".to_vec()));
    }

    #[test]
    fn large_state_is_rejected() {
        let here = binding("a://b", None);
        let sealer = sealer(keys().max_bytes(10));
        let largest = sealer.seal(&[b'x'; 10], &here).unwrap();
        assert!(sealer.open(&largest, &here).is_ok());
        let error = SealError::TooLarge {
            bytes: 11,
            most: 10,
        };
        assert_eq!(sealer.seal(&[b'x'; 11], &here), Err(error));
    }
}
