//! The keys that seal what travels in `requestState`.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20_poly1305::{ChaCha20Poly1305, Key as CipherKey, Nonce};
use hmac_sha256::{HMAC, Hash};

use super::Binding;

const FORMAT: u8 = 1;
const ID: usize = 4;
const NONCE: usize = 24;
const TAG: usize = 16;
const HEAD: usize = 1 + ID;
const EXPIRY: usize = 8;

/// The keys that seal what a call keeps between two rounds of asking its client.
///
/// A handler that [asks](crate::Ask) runs again with every answer. What it has learnt so far travels
/// through the client as `requestState`: encrypted, so that the client cannot read it; sealed, so
/// that it cannot change it; and good only for the same caller, the same method with the same
/// parameters, and a limited time.
///
/// Without further ado each process has a random key. Nodes that serve one endpoint together need
/// a common secret, or an answer that reaches another node is refused:
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
/// The specification lets a state be sent more than once, and nothing here keeps count: what may
/// happen only once after an answer has to be guarded by the server's own data, such as a
/// unique number that was made in [`Ask::once`](crate::Ask::once).
// spec: MRTR-07, MRTR-08, MRTR-09, MRTR-16
#[derive(Clone)]
pub struct StateKeys {
    /// The first one seals, all of them open.
    keys: Vec<Key>,
    lifetime: Duration,
    max_bytes: usize,
    clock: Clock,
}

type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

#[derive(Clone)]
struct Key {
    /// Tells keys apart; says nothing about the key.
    id: [u8; ID],
    secret: [u8; 32],
}

/// A secret is too short to be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret for request states needs at least {} bytes, and this one has {bytes}; take random \
     ones, such as `openssl rand -base64 32` makes",
    StateKeys::MIN_SECRET
)]
#[non_exhaustive]
pub struct WeakSecret {
    /// The bytes that it has.
    pub bytes: usize,
}

/// Why a state was not sealed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum SealError {
    #[error("it has {bytes} bytes, and at most {most} are allowed (`StateKeys::max_bytes`)")]
    TooLarge { bytes: usize, most: usize },
    #[error("the operating system gives no random numbers: {0}")]
    NoRandomness(#[from] getrandom::Error),
    #[error("it cannot be encrypted")]
    Cipher,
}

/// A state was not opened. Nobody is told why: it would help only who made it up.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused;

impl Key {
    #[inline]
    fn of(secret: &[u8]) -> Self {
        let derive = |what: &[u8]| {
            let mut hash = Hash::new();
            hash.update(b"mcp request state, ");
            hash.update(what);
            hash.update(secret);
            hash.finalize()
        };
        let mut id = [0; ID];
        id.iter_mut()
            .zip(derive(b"name: "))
            .for_each(|(to, from)| *to = from);
        Self {
            id,
            secret: derive(b"key: "),
        }
    }

    /// The cipher of one state. Random nonces of the cipher's own length would meet after too few
    /// states; so each state has a key of its own, made of a longer one, and uses it once.
    #[inline]
    fn cipher(&self, nonce: &[u8; NONCE]) -> ChaCha20Poly1305 {
        let key = HMAC::mac(nonce, self.secret);
        ChaCha20Poly1305::new(CipherKey::new(key), Nonce::new([0; 12]))
    }
}

impl StateKeys {
    /// Bytes that a secret has at least.
    pub const MIN_SECRET: usize = 32;
    /// How long a state is good when nothing else is said: long enough to fill in a form.
    pub const LIFETIME: Duration = Duration::from_secs(30 * 60);
    /// Bytes that a call may keep when nothing else is said.
    pub const MAX_BYTES: usize = 256 * 1024;

    #[inline]
    fn of(key: Key) -> Self {
        Self {
            keys: vec![key],
            lifetime: Self::LIFETIME,
            max_bytes: Self::MAX_BYTES,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// A key made of a secret: random bytes, or a text that was made of them.
    ///
    /// # Errors
    ///
    /// [`WeakSecret`] when it has fewer than [`MIN_SECRET`](Self::MIN_SECRET) bytes.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, WeakSecret> {
        Ok(Self::of(checked(secret.as_ref())?))
    }

    /// A random key, good for one process.
    ///
    /// # Errors
    ///
    /// What the operating system says when it gives no random numbers.
    #[inline]
    pub fn random() -> std::io::Result<Self> {
        Self::try_random().map_err(std::io::Error::other)
    }

    #[inline]
    fn try_random() -> Result<Self, getrandom::Error> {
        let mut secret = [0; Self::MIN_SECRET];
        getrandom::fill(&mut secret)?;
        Ok(Self::of(Key::of(&secret)))
    }

    /// The key of this process.
    #[inline]
    pub(crate) fn of_process() -> Result<Arc<Self>, SealError> {
        static KEYS: OnceLock<Arc<StateKeys>> = OnceLock::new();
        if let Some(keys) = KEYS.get() {
            return Ok(keys.clone());
        }
        let made = Arc::new(Self::try_random()?);
        Ok(KEYS.get_or_init(|| made).clone())
    }

    /// Adds a former secret: states that it has sealed are good until they expire. To change the
    /// secret of several nodes, make the new one a former one everywhere first.
    ///
    /// # Errors
    ///
    /// [`WeakSecret`] when it has fewer than [`MIN_SECRET`](Self::MIN_SECRET) bytes.
    pub fn former(mut self, secret: impl AsRef<[u8]>) -> Result<Self, WeakSecret> {
        self.keys.push(checked(secret.as_ref())?);
        Ok(self)
    }

    /// Sets how long a client has to answer; whole seconds.
    #[must_use]
    #[inline]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets how many bytes a call may keep between two rounds: answers, results of
    /// [`once`](crate::Ask::once), what is [kept](crate::Ask::keep).
    #[must_use]
    #[inline]
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

    #[inline]
    pub(crate) fn most(&self) -> usize {
        self.max_bytes
    }

    /// Seconds since 1970; none before.
    #[inline]
    fn now(&self) -> u64 {
        let since = (self.clock)().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }

    /// Seals `plain` for the request of `binding`.
    #[inline]
    pub(crate) fn seal(&self, plain: &[u8], binding: &Binding) -> Result<String, SealError> {
        let (bytes, most) = (plain.len(), self.max_bytes);
        if bytes > most {
            return Err(SealError::TooLarge { bytes, most });
        }
        let key = self.keys.first().ok_or(SealError::Cipher)?;
        let expiry = self.now().saturating_add(self.lifetime.as_secs());
        let mut sealed = Vec::with_capacity(HEAD + NONCE + EXPIRY + bytes + TAG);
        sealed.push(FORMAT);
        sealed.extend_from_slice(&key.id);
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce)?;
        let aad = [sealed.as_slice(), binding.as_bytes()].concat();
        sealed.extend_from_slice(&nonce);
        let start = sealed.len();
        sealed.extend_from_slice(&expiry.to_be_bytes());
        sealed.extend_from_slice(plain);
        let timed = sealed.get_mut(start..).unwrap_or_default();
        let tag = key.cipher(&nonce).encrypt(timed, Some(&aad));
        sealed.extend_from_slice(&tag);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens what was sealed for the request of `binding`.
    #[inline]
    pub(crate) fn open(&self, text: &str, binding: &Binding) -> Result<Vec<u8>, Refused> {
        // More than anything that was ever sealed here is not looked at.
        let most = HEAD + NONCE + EXPIRY + self.max_bytes + TAG;
        if text.len() > most.div_ceil(3).saturating_mul(4) {
            return Err(Refused);
        }
        let mut sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| Refused)?;
        let (head, rest) = sealed.split_at_mut_checked(HEAD).ok_or(Refused)?;
        let (nonce, rest) = rest.split_first_chunk_mut::<NONCE>().ok_or(Refused)?;
        let (timed, tag) = rest.split_last_chunk_mut::<TAG>().ok_or(Refused)?;
        let (format, id) = head.split_first().ok_or(Refused)?;
        if *format != FORMAT {
            return Err(Refused);
        }
        let aad = [&*head, binding.as_bytes()].concat();
        let key = self.keys.iter().find(|key| key.id == *id);
        let opened = key
            .ok_or(Refused)?
            .cipher(nonce)
            .decrypt(timed, *tag, Some(&aad));
        opened.map_err(|_| Refused)?;
        let (expiry, plain) = timed.split_first_chunk::<EXPIRY>().ok_or(Refused)?;
        if u64::from_be_bytes(*expiry) <= self.now() {
            return Err(Refused);
        }
        Ok(plain.to_vec())
    }
}

#[inline]
fn checked(secret: &[u8]) -> Result<Key, WeakSecret> {
    let bytes = secret.len();
    if bytes < StateKeys::MIN_SECRET {
        return Err(WeakSecret { bytes });
    }
    Ok(Key::of(secret))
}

/// Shows no key.
impl fmt::Debug for StateKeys {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys")
            .field("keys", &self.keys.len())
            .field("lifetime", &self.lifetime)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
