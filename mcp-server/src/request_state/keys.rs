//! Keys that encrypt `requestState`.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20_poly1305::{ChaCha20Poly1305, Key as CipherKey, Nonce};
use hmac_sha256::{HMAC, Hash};

use super::binding::Binding;

/// Version of the format of sealed states.
const FORMAT: u8 = 1;
const KEY_ID_LEN: usize = 4;
const NONCE_LEN: usize = 24;
const TAG_LEN: usize = 16;
const HEADER_LEN: usize = 1 + KEY_ID_LEN;
const EXPIRY_LEN: usize = 8;

/// The keys that seal the state of a call between two rounds of input.
///
/// A handler that [asks](crate::Ask) runs again with every answer. Its earlier results and answers
/// travel through the client as `requestState`. The state is encrypted, so the client cannot read
/// it, and authenticated, so the client cannot change it. It is valid for the same caller and the
/// same method with the same parameters, and for a limited time.
///
/// By default each process has a random key. Nodes that serve one endpoint together need a common
/// secret; otherwise a node rejects states that another node has sealed:
///
/// ```
/// use mcp_server::{Server, StateKeys};
///
/// # fn env(_: &str) -> String { "an example of a secret with 32 bytes or more".to_owned() }
/// let keys = StateKeys::new(env("STATE_SECRET"))?.former(env("STATE_SECRET_BEFORE"))?;
/// let server = Server::new("shop", "1.0.0").request_state_keys(keys);
/// # Ok::<(), mcp_server::WeakSecret>(())
/// ```
///
/// The specification allows clients to send a state more than once, and the server does not count
/// uses. Guard effects that may happen only once after an answer by data of your own, such as a
/// unique number created in [`Ask::once`](crate::Ask::once).
// spec: MRTR-07, MRTR-08, MRTR-09, MRTR-16
#[derive(Clone)]
pub struct StateKeys {
    /// The first key seals; all keys open.
    keys: Vec<Key>,
    lifetime: Duration,
    max_bytes: usize,
    clock: Clock,
}

type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

#[derive(Clone)]
struct Key {
    /// Identifies the key in sealed states; derived from the secret by a hash.
    id: [u8; KEY_ID_LEN],
    secret: [u8; 32],
}

/// The error for a secret that is too short.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret for request states needs at least {} bytes, and this one has {bytes}; take random \
     ones, such as `openssl rand -base64 32` makes",
    StateKeys::MIN_SECRET
)]
#[non_exhaustive]
pub struct WeakSecret {
    /// Length of the secret, in bytes.
    pub bytes: usize,
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

/// The error of a state that is forged, expired, or sealed for another request. It has no details,
/// because they would help only an attacker.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidState;

impl Key {
    fn from_secret(secret: &[u8]) -> Self {
        let derive = |label: &[u8]| {
            let mut hash = Hash::new();
            hash.update(b"mcp request state, ");
            hash.update(label);
            hash.update(secret);
            hash.finalize()
        };
        let mut id = [0; KEY_ID_LEN];
        id.iter_mut()
            .zip(derive(b"name: "))
            .for_each(|(to, from)| *to = from);
        Self {
            id,
            secret: derive(b"key: "),
        }
    }

    fn from_user_secret(secret: &[u8]) -> Result<Self, WeakSecret> {
        let bytes = secret.len();
        if bytes < StateKeys::MIN_SECRET {
            return Err(WeakSecret { bytes });
        }
        Ok(Self::from_secret(secret))
    }

    /// Returns the cipher of one state. The cipher's own 12-byte nonces are too short to be random:
    /// they would repeat after too few states. Each state therefore derives a key of its own from a
    /// random 24-byte nonce and uses it once.
    fn cipher(&self, nonce: &[u8; NONCE_LEN]) -> ChaCha20Poly1305 {
        let key = HMAC::mac(nonce, self.secret);
        ChaCha20Poly1305::new(CipherKey::new(key), Nonce::new([0; 12]))
    }
}

impl StateKeys {
    /// Minimum length of a secret, in bytes.
    pub const MIN_SECRET: usize = 32;
    /// Default of [`lifetime`](Self::lifetime): 30 minutes.
    pub const LIFETIME: Duration = Duration::from_secs(30 * 60);
    /// Default of [`max_bytes`](Self::max_bytes): 256 KiB.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Derives a key from a secret: random bytes, or a string that encodes them.
    ///
    /// # Errors
    ///
    /// Returns [`WeakSecret`] when the secret is shorter than [`MIN_SECRET`](Self::MIN_SECRET) bytes.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, WeakSecret> {
        Ok(Self::from_key(Key::from_user_secret(secret.as_ref())?))
    }

    /// Generates a random key for this process.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system when it has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        Self::try_random().map_err(std::io::Error::other)
    }

    fn try_random() -> Result<Self, getrandom::Error> {
        let mut secret = [0; Self::MIN_SECRET];
        getrandom::fill(&mut secret)?;
        Ok(Self::from_key(Key::from_secret(&secret)))
    }

    fn from_key(key: Key) -> Self {
        Self {
            keys: vec![key],
            lifetime: Self::LIFETIME,
            max_bytes: Self::MAX_BYTES,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Returns the random key of this process, for servers without configured keys.
    pub(crate) fn process_default() -> Result<Arc<Self>, SealError> {
        static KEYS: OnceLock<Arc<StateKeys>> = OnceLock::new();
        if let Some(keys) = KEYS.get() {
            return Ok(keys.clone());
        }
        let generated = Arc::new(Self::try_random()?);
        Ok(KEYS.get_or_init(|| generated).clone())
    }

    /// Adds a former secret. States that it has sealed stay valid until they expire. To change the
    /// secret of several nodes, first add the new one as a former secret on every node.
    ///
    /// # Errors
    ///
    /// Returns [`WeakSecret`] when the secret is shorter than [`MIN_SECRET`](Self::MIN_SECRET) bytes.
    pub fn former(mut self, secret: impl AsRef<[u8]>) -> Result<Self, WeakSecret> {
        self.keys.push(Key::from_user_secret(secret.as_ref())?);
        Ok(self)
    }

    /// Sets the time that a client has to answer, in whole seconds; 30 minutes by default.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the maximum size of a call's state, in bytes; 256 KiB by default. The state consists of
    /// answers, results of [`once`](crate::Ask::once) and the [kept](crate::Ask::keep) value.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the clock, for tests and for targets where the standard library has none.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    pub(crate) fn size_limit(&self) -> usize {
        self.max_bytes
    }

    /// Returns the seconds since 1970; zero before.
    fn now(&self) -> u64 {
        let since_epoch = (self.clock)().duration_since(UNIX_EPOCH);
        since_epoch.map_or(0, |since| since.as_secs())
    }

    /// Encrypts `plain` for requests with `binding`.
    pub(crate) fn seal(&self, plain: &[u8], binding: &Binding) -> Result<String, SealError> {
        let (bytes, most) = (plain.len(), self.max_bytes);
        if bytes > most {
            return Err(SealError::TooLarge { bytes, most });
        }
        let key = self.keys.first().ok_or(SealError::Cipher)?;
        let expiry = self.now().saturating_add(self.lifetime.as_secs());
        let capacity = HEADER_LEN + NONCE_LEN + EXPIRY_LEN + bytes + TAG_LEN;
        let mut sealed = Vec::with_capacity(capacity);
        sealed.push(FORMAT);
        sealed.extend_from_slice(&key.id);
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce)?;
        let aad = [sealed.as_slice(), binding.as_bytes()].concat();
        sealed.extend_from_slice(&nonce);
        let start = sealed.len();
        sealed.extend_from_slice(&expiry.to_be_bytes());
        sealed.extend_from_slice(plain);
        let message = sealed.get_mut(start..).unwrap_or_default();
        let tag = key.cipher(&nonce).encrypt(message, Some(&aad));
        sealed.extend_from_slice(&tag);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Decrypts a state that was sealed for requests with `binding`.
    pub(crate) fn open(&self, text: &str, binding: &Binding) -> Result<Vec<u8>, InvalidState> {
        // A state that is longer than any sealed one is not decoded.
        let max_len = HEADER_LEN + NONCE_LEN + EXPIRY_LEN + self.max_bytes + TAG_LEN;
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
        let aad = [&*header, binding.as_bytes()].concat();
        let key = self.keys.iter().find(|key| key.id == *id);
        let cipher = key.ok_or(InvalidState)?.cipher(nonce);
        let decrypted = cipher.decrypt(message, *tag, Some(&aad));
        decrypted.map_err(|_| InvalidState)?;
        let parts = message.split_first_chunk::<EXPIRY_LEN>();
        let (expiry, plain) = parts.ok_or(InvalidState)?;
        if u64::from_be_bytes(*expiry) <= self.now() {
            return Err(InvalidState);
        }
        Ok(plain.to_vec())
    }
}

/// Omits the keys.
impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys")
            .field("keys", &self.keys.len())
            .field("lifetime", &self.lifetime)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
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

    use super::{InvalidState, SealError, StateKeys, WeakSecret};
    use crate::request_state::Binding;

    const ONE: [u8; 32] = [1; 32];
    const TWO: [u8; 32] = [2; 32];

    fn binding(uri: &str, subject: Option<&str>) -> Binding {
        let principal = subject.map(|subject| Principal::new("https://a.example", subject));
        let call = Call::ReadResource(ReadResourceParams::new(uri));
        Binding::new(&call, principal.as_ref())
    }

    fn keys() -> StateKeys {
        StateKeys::new(ONE).unwrap()
    }

    #[test]
    fn sealed_state_opens_for_same_request_only() {
        let here = binding("a://b", Some("ada"));
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
        assert_eq!(
            StateKeys::random().unwrap().open(&text, &here),
            Err(InvalidState)
        );
    }

    #[test]
    fn state_with_changed_or_missing_byte_is_rejected() {
        let here = binding("a://b", None);
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

    #[test]
    fn state_after_lifetime_is_rejected() {
        let here = binding("a://b", None);
        let time = Arc::new(AtomicU64::new(1000));
        let clock = time.clone();
        let keys = keys()
            .lifetime(Duration::from_secs(60))
            .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)));
        let text = keys.seal(b"x", &here).unwrap();
        for (now, valid) in [(1000, true), (1059, true), (1060, false), (9999, false)] {
            time.store(now, Ordering::Relaxed);
            assert_eq!(keys.open(&text, &here).is_ok(), valid, "{now}");
        }
    }

    #[test]
    fn former_key_opens_old_states_and_seals_none() {
        let here = binding("a://b", None);
        let old = keys().seal(b"x", &here).unwrap();
        let rotated = StateKeys::new(TWO).unwrap().former(ONE).unwrap();
        assert_eq!(rotated.open(&old, &here), Ok(b"x".to_vec()));
        let new = rotated.seal(b"x", &here).unwrap();
        assert_eq!(keys().open(&new, &here), Err(InvalidState));
        assert_eq!(
            StateKeys::new(TWO).unwrap().open(&new, &here),
            Ok(b"x".to_vec())
        );
    }

    #[test]
    fn short_secrets_and_large_states_are_rejected() {
        assert_eq!(
            StateKeys::new("hunter2").unwrap_err(),
            WeakSecret { bytes: 7 }
        );
        assert!(keys().former([0; 31]).is_err());
        let keys = keys().max_bytes(10);
        let here = binding("a://b", None);
        let largest = keys.seal(&[b'x'; 10], &here).unwrap();
        assert!(keys.open(&largest, &here).is_ok());
        let error = SealError::TooLarge {
            bytes: 11,
            most: 10,
        };
        assert_eq!(keys.seal(&[b'x'; 11], &here), Err(error));
        assert!(!format!("{keys:?}").contains('1'.to_string().repeat(3).as_str()));
    }
}
