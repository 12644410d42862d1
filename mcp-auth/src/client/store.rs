//! Credential stores.

mod file;
#[cfg(feature = "keychain")]
mod keychain;
mod memory;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::AuthError;
use crate::key::sha256_base64;
use crate::secret::Secret;

pub use file::FileStore;
#[cfg(feature = "keychain")]
pub use keychain::KeychainStore;
pub use memory::MemoryStore;

/// A credential store: tokens and client registrations.
///
/// Each record is one secret string under a key. Implement the trait for a database or a vault, which keeps
/// records as they are. A program with its own form of tokens reads and builds the records whose key has a
/// [`server`](StoreKey::server): they are [`StoredCredentials`](crate::StoredCredentials).
#[async_trait]
pub trait CredentialStore: Send + Sync + 'static {
    /// Returns the record under a key.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the store is not available.
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError>;

    /// Saves a record. It must be durable when the function returns: it may hold the only refresh
    /// token.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the record is not saved.
    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError>;

    /// Removes a record. An unknown key is not an error.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the record may still be stored.
    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError>;

    /// Waits for a key's lock, which one caller holds at a time, among all processes that use
    /// the store. It is held while a token is refreshed.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Timeout`] when another caller holds the lock for longer than `timeout`.
    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError>;
}

/// The kind of records with tokens.
const TOKENS: &str = "tokens";

/// The key of a record. `Display` shows a readable form, and [`file_name`](Self::file_name) a short
/// one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct StoreKey {
    kind: &'static str,
    name: String,
    account: String,
}

impl StoreKey {
    pub(crate) fn tokens(server: &str, account: &str) -> Self {
        Self {
            kind: TOKENS,
            name: server.to_owned(),
            account: account.to_owned(),
        }
    }

    pub(crate) fn registration(issuer: &str, account: &str) -> Self {
        Self {
            kind: "client",
            name: issuer.to_owned(),
            account: account.to_owned(),
        }
    }

    #[cfg(feature = "keychain")]
    fn keychain(service: &str) -> Self {
        Self {
            kind: "keychain",
            name: service.to_owned(),
            account: String::new(),
        }
    }

    /// The MCP server's URL, if the record has its tokens as
    /// [`StoredCredentials`](crate::StoredCredentials). Without credentials, fragment and trailing slash.
    /// `None` for the other records, whose content is private: client registrations.
    pub fn server(&self) -> Option<&str> {
        (self.kind == TOKENS).then_some(&*self.name)
    }

    /// A name of letters, digits, `-` and `_`, different for each key.
    pub fn file_name(&self) -> String {
        let whole = format!("{}\0{}\0{}", self.kind, self.name, self.account);
        format!("{}-{}", self.kind, sha256_base64(&whole))
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL's query may be a secret.
        let name = self.name.split('?').next().unwrap_or_default();
        write!(f, "{} of {name}", self.kind)?;
        match self.account.as_str() {
            "" => Ok(()),
            account => write!(f, " ({account})"),
        }
    }
}

/// Shows the same as `Display`.
impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreKey({self})")
    }
}

/// A lock on a key. Dropping it releases the lock.
pub struct StoreLock(
    #[expect(dead_code, reason = "held until it is dropped")] Box<dyn Send + Sync>,
);

impl StoreLock {
    /// Creates a lock from a value that releases it when it is dropped.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLock").finish_non_exhaustive()
    }
}

fn lock_timeout(timeout: Duration) -> AuthError {
    AuthError::timeout("waiting for the refresh of another process", timeout)
}

#[cfg(test)]
mod tests {
    use super::StoreKey;

    #[test]
    fn keys_differ_and_show_no_query() {
        let key = StoreKey::tokens("https://h/mcp?key=hidden", "ann");
        assert_eq!(key.to_string(), "tokens of https://h/mcp (ann)");
        assert!(!format!("{key:?}").contains("hidden"));
        let others = [
            StoreKey::tokens("https://h/mcp", "ann"),
            StoreKey::tokens("https://h/mcp?key=hidden", "bob"),
            StoreKey::registration("https://h/mcp?key=hidden", "ann"),
        ];
        for other in others {
            assert_ne!(key.file_name(), other.file_name());
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!(key.file_name().chars().all(is_name), "{}", key.file_name());
    }
}
