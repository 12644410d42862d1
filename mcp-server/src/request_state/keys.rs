//! Keys that encrypt `requestState`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chacha20poly1305::aead::KeyInit;
use chacha20poly1305::{Key as CipherKey, XChaCha20Poly1305};
use hmac_sha256::HKDF;
use zeroize::Zeroizing;

pub(super) const KEY_ID_LEN: usize = 4;
const KEY_LEN: usize = 32;

/// The keys that seal the state of a call between two rounds of input.
///
/// A handler that [asks](crate::Ask) runs again with every answer. Its earlier results and answers
/// travel through the client as `requestState`. The state is encrypted, so the client cannot read
/// it, and authenticated, so the client cannot change it (XChaCha20-Poly1305). It is valid for the
/// same server name, the same caller and the same method with the same parameters, and for a limited time.
///
/// A key is derived from its secret with HKDF-SHA256. This does not make a weak secret strong: a
/// password or another phrase that people remember can be guessed offline from one sealed state. Use
/// random bytes, for example from `openssl rand -base64 32`. Keys are overwritten in memory when they
/// are dropped.
///
/// By default each process has a random key, and a state is valid for one endpoint only: for one
/// [`Server`](crate::Server), or for the servers that an endpoint makes for its requests. Nodes that serve
/// one endpoint together need a common secret; otherwise a node rejects states that another node has
/// sealed. Servers of one name that must not accept each other's states, such as those for staging and
/// production, need different secrets:
///
/// ```
/// use mcp::{Server, StateKeys};
///
/// # fn env(_: &str) -> String { "YmU1NGM0ZjAtZTNkMy00NjQ5LWE1OWUtYzE5".to_owned() }
/// let keys = StateKeys::new(env("STATE_SECRET"))?.former(env("STATE_SECRET_BEFORE"))?;
/// let server = Server::new("shop", "1.0.0").request_state_keys(keys);
/// # Ok::<(), mcp::WeakSecret>(())
/// ```
///
/// The specification allows clients to send a state more than once, and the server does not count
/// uses. Guard effects that may happen only once after an answer by data of your own, such as a
/// unique number created in [`Ask::once`](crate::Ask::once).
// spec: MRTR-08, MRTR-16
#[derive(Clone)]
pub struct StateKeys {
    /// The first key seals; all keys open.
    keys: Vec<Key>,
    pub(super) lifetime: Duration,
    pub(super) max_bytes: usize,
    pub(super) accepts_unsolicited_answers: bool,
    clock: Clock,
}

type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

#[derive(Clone)]
pub(super) struct Key {
    /// Identifies the key in sealed states.
    pub(super) id: [u8; KEY_ID_LEN],
    secret: Zeroizing<[u8; KEY_LEN]>,
}

/// The error for a secret that is too short or not random.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret for request states needs at least {} bytes with {} different values, and this one has \
     {bytes} bytes with {distinct}; take random ones, such as `openssl rand -base64 32` makes",
    StateKeys::MIN_SECRET,
    StateKeys::MIN_DISTINCT
)]
pub struct WeakSecret {
    /// Length of the secret, in bytes.
    bytes: usize,
    /// Number of different byte values in the secret.
    distinct: usize,
}

impl Key {
    fn from_secret(secret: &[u8]) -> Self {
        let root = Zeroizing::new(HKDF::extract("mcp request state", secret));
        let mut key = Self {
            id: [0; KEY_ID_LEN],
            secret: Zeroizing::new([0; KEY_LEN]),
        };
        HKDF::expand(&mut key.id, *root, "id");
        HKDF::expand(&mut *key.secret, *root, "key");
        key
    }

    fn from_user_secret(secret: &[u8]) -> Result<Self, WeakSecret> {
        let bytes = secret.len();
        let distinct = BTreeSet::from_iter(secret).len();
        if bytes < StateKeys::MIN_SECRET || distinct < StateKeys::MIN_DISTINCT {
            return Err(WeakSecret { bytes, distinct });
        }
        Ok(Self::from_secret(secret))
    }

    pub(super) fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(<&CipherKey>::from(&*self.secret))
    }
}

impl StateKeys {
    /// Minimum length of a secret, in bytes.
    const MIN_SECRET: usize = 32;
    /// Minimum number of different byte values in a secret. Random secrets of 32 bytes have more, also as
    /// hexadecimal digits.
    const MIN_DISTINCT: usize = 8;
    /// Default of [`lifetime`](Self::lifetime).
    pub(crate) const LIFETIME: Duration = Duration::from_secs(30 * 60);
    /// Default of [`max_bytes`](Self::max_bytes).
    pub(crate) const MAX_BYTES: usize = 256 * 1024;

    /// Derives a key from a secret: random bytes, or a string that encodes them.
    ///
    /// # Errors
    ///
    /// Returns [`WeakSecret`] when the secret is shorter than 32 bytes, or has fewer than 8 different bytes.
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
        let mut secret = Zeroizing::new([0; Self::MIN_SECRET]);
        getrandom::fill(&mut *secret)?;
        Ok(Self::from_key(Key::from_secret(&*secret)))
    }

    fn from_key(key: Key) -> Self {
        Self {
            keys: vec![key],
            lifetime: Self::LIFETIME,
            max_bytes: Self::MAX_BYTES,
            accepts_unsolicited_answers: false,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Returns this process's random key, for servers without configured keys.
    pub(super) fn process_default() -> Result<&'static Self, getrandom::Error> {
        static KEYS: OnceLock<StateKeys> = OnceLock::new();
        if let Some(keys) = KEYS.get() {
            return Ok(keys);
        }
        let generated = Self::try_random()?;
        Ok(KEYS.get_or_init(|| generated))
    }

    /// Adds a former secret. States that it has sealed stay valid until they expire. To change the
    /// secret of several nodes, first add the new one as a former secret on every node.
    ///
    /// # Errors
    ///
    /// Returns [`WeakSecret`] when the secret is shorter than 32 bytes, or has fewer than 8 different bytes.
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

    /// Accepts answers in a request without a state, which the server has not asked for; off by
    /// default. Such answers are ignored otherwise, and the question is asked.
    ///
    /// Switch it on for clients that send known answers with their first request, and only if no
    /// handler relies on an answer as a confirmation: a client can then answer a question that its
    /// user has never seen.
    #[must_use]
    pub fn accept_unsolicited_answers(mut self) -> Self {
        self.accepts_unsolicited_answers = true;
        self
    }

    /// Sets the clock, for tests and for targets where the standard library has none.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// Returns the key that seals.
    pub(super) fn sealing_key(&self) -> Option<&Key> {
        self.keys.first()
    }

    pub(super) fn find_key(&self, id: [u8; KEY_ID_LEN]) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// Returns the time at which a state that is sealed now expires, in seconds since 1970.
    pub(super) fn expiry(&self) -> u64 {
        self.now().saturating_add(self.lifetime.as_secs())
    }

    /// Returns the seconds since 1970; zero before.
    pub(super) fn now(&self) -> u64 {
        let since_epoch = (self.clock)().duration_since(UNIX_EPOCH);
        since_epoch.map_or(0, |since| since.as_secs())
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
    use super::{StateKeys, WeakSecret};

    #[test]
    fn weak_secrets_are_rejected() {
        for (secret, distinct) in [
            ("hunter2", 7),
            (&*"ab".repeat(100), 2),
            (&"\0".repeat(32), 1),
        ] {
            let bytes = secret.len();
            let weak = WeakSecret { bytes, distinct };
            assert_eq!(StateKeys::new(secret).unwrap_err(), weak);
            let keys = StateKeys::random().unwrap();
            assert_eq!(keys.former(secret).unwrap_err(), weak);
        }
        assert!(StateKeys::new("0123456789abcdef0123456789abcdef").is_ok());
    }

    #[test]
    fn debug_has_no_keys() {
        let secret = "0123456789abcdef0123456789abcdef";
        let keys = StateKeys::new(secret).unwrap();
        let key = &keys.keys[0];
        let shown = format!("{keys:?}");
        assert!(shown.starts_with("StateKeys { keys: 1, "), "{shown}");
        assert!(!shown.contains(&format!("{:?}", *key.secret)), "{shown}");
        // The key differs from the secret and from its id.
        assert_ne!(&key.secret[..], secret.as_bytes());
        assert_ne!(key.secret[..4], key.id);
    }
}
