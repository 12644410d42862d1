//! [`KeychainStore`]: encrypted files whose key is in the operating system's keychain.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use keyring_core::{CredentialStore as Keychain, Error as KeychainError};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

use super::{CredentialStore, FileStore, StoreKey, StoreLock};
use crate::error::{AuthError, printable};
use crate::secret::Secret;

/// Time to wait for the keychain, which may ask the user for a password.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The user of the entry in the keychain. Its service is the program name.
const ENTRY: &str = "mcp credentials key";
const KEY_LENGTH: usize = 32;
/// First bytes of an encrypted record: its format version.
const PREFIX: &str = "1.";

/// A store in a folder whose records are encrypted with a key from the operating system's
/// keychain: the Secret Service on Linux (GNOME Keyring, KWallet), the Keychain on macOS, the
/// Credential Manager on Windows (feature `keychain`).
///
/// The keychain holds the key only, since some keychains limit an entry to 2.5 KB, which is less than
/// a token may have. The files are those of a [`FileStore`], with its locks between processes. A
/// record that cannot be decrypted, because the key was removed or the file was changed, is
/// ignored: the user logs in again.
///
/// Servers, containers and sessions over SSH often run no keychain. Then every operation fails with
/// [`AuthError::Keychain`]: nothing is ever stored unencrypted instead. A keychain that is locked asks
/// the user for a password, for which an operation waits up to 60 seconds.
///
/// # Examples
///
/// ```
/// use mcp::auth::{KeychainStore, OAuth};
///
/// let store = KeychainStore::new("My Agent", "/var/lib/my-agent/tokens");
/// let oauth = OAuth::interactive("My Agent").store(store);
/// ```
#[derive(Clone)]
pub struct KeychainStore {
    files: FileStore,
    service: Arc<str>,
    open: fn() -> Result<Arc<Keychain>, KeychainError>,
    cipher: Arc<OnceCell<Cipher>>,
}

impl KeychainStore {
    /// Creates a store in a folder. `service` is the program's name, which users see in their
    /// keychain. The folder and the key are created at the first use.
    pub fn new(service: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self::with_keychain(service, folder, native)
    }

    fn with_keychain(
        service: impl Into<String>,
        folder: impl Into<PathBuf>,
        open: fn() -> Result<Arc<Keychain>, KeychainError>,
    ) -> Self {
        Self {
            files: FileStore::new(folder),
            service: service.into().into(),
            open,
            cipher: Arc::default(),
        }
    }

    /// The cipher with the key of the keychain, which is read once per process.
    async fn cipher(&self) -> Result<&Cipher, AuthError> {
        self.cipher.get_or_try_init(|| self.read_key()).await
    }

    async fn read_key(&self) -> Result<Cipher, AuthError> {
        // Two processes must not create different keys.
        let lock = StoreKey::keychain(&self.service);
        let lock = self.files.lock(&lock, TIMEOUT).await?;
        let (service, open) = (Arc::clone(&self.service), self.open);
        let read = tokio::task::spawn_blocking(move || {
            let _lock = lock;
            open().and_then(|keychain| key(&keychain, &service))
        });
        match tokio::time::timeout(TIMEOUT, read).await {
            Ok(Ok(Ok(key))) => Cipher::new(&key),
            Ok(Ok(Err(error))) => Err(unusable(&error)),
            Ok(Err(_)) => Err(AuthError::Keychain("its client panicked".to_owned())),
            Err(_) => Err(AuthError::timeout("waiting for the keychain", TIMEOUT)),
        }
    }
}

#[async_trait]
impl CredentialStore for KeychainStore {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        let cipher = self.cipher().await?;
        let Some(stored) = self.files.load(key).await? else {
            return Ok(None);
        };
        let record = cipher.open(key, &stored);
        if record.is_none() {
            tracing::warn!(record = %mcp_types::escaped(&key), "a stored record cannot be decrypted and is ignored");
        }
        Ok(record)
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        let sealed = self.cipher().await?.seal(key, record)?;
        self.files.save(key, &sealed).await
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        self.files.remove(key).await
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.files.lock(key, timeout).await
    }
}

/// Shows the folder and the name in the keychain.
impl fmt::Debug for KeychainStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeychainStore")
            .field("files", &self.files)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// Reads the key of a service, and creates it if there is none.
fn key(keychain: &Arc<Keychain>, service: &str) -> Result<Zeroizing<Vec<u8>>, KeychainError> {
    let entry = keychain.build(service, ENTRY, None)?;
    match entry.get_secret() {
        Ok(key) => Ok(Zeroizing::new(key)),
        Err(KeychainError::NoEntry) => {
            let mut key = Zeroizing::new(vec![0; KEY_LENGTH]);
            let random = SystemRandom::new().fill(&mut key);
            random.map_err(|error| KeychainError::PlatformFailure(error.into()))?;
            entry.set_secret(&key)?;
            Ok(key)
        }
        Err(error) => Err(error),
    }
}

/// This operating system's keychain.
#[allow(unreachable_code, reason = "the end is for systems without a keychain")]
fn native() -> Result<Arc<Keychain>, KeychainError> {
    #[cfg(any(target_os = "linux", target_os = "freebsd", target_os = "openbsd"))]
    return Ok(zbus_secret_service_keyring_store::Store::new()?);
    #[cfg(windows)]
    return Ok(windows_native_keyring_store::Store::new()?);
    #[cfg(target_os = "macos")]
    return Ok(apple_native_keyring_store::keychain::Store::new()?);
    Err(KeychainError::NoDefaultStore)
}

fn unusable(error: &KeychainError) -> AuthError {
    AuthError::Keychain(printable(&error.to_string()))
}

/// Encrypts records (ChaCha20-Poly1305). A record is bound to its name.
struct Cipher(LessSafeKey);

impl Cipher {
    /// # Errors
    ///
    /// Returns [`AuthError::Keychain`] when the entry of the keychain is not a key.
    fn new(key: &[u8]) -> Result<Self, AuthError> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key);
        let invalid =
            "its entry for this program is not a key; remove the entry to create a new one";
        key.map(|key| Self(LessSafeKey::new(key)))
            .map_err(|_| AuthError::Keychain(invalid.to_owned()))
    }

    fn seal(&self, key: &StoreKey, record: &Secret) -> Result<Secret, AuthError> {
        let failed = |_| AuthError::Store("the record cannot be encrypted".to_owned());
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(failed)?;
        let mut text = Zeroizing::new(record.expose().as_bytes().to_vec());
        let name = Aad::from(key.file_name());
        let tag = self
            .0
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), name, &mut text)
            .map_err(failed)?;
        let sealed = STANDARD_NO_PAD.encode([&nonce, text.as_slice(), tag.as_ref()].concat());
        Ok(Secret::new(format!("{PREFIX}{sealed}")))
    }

    fn open(&self, key: &StoreKey, stored: &Secret) -> Option<Secret> {
        let sealed = stored.expose().strip_prefix(PREFIX)?;
        let mut sealed = Zeroizing::new(STANDARD_NO_PAD.decode(sealed).ok()?);
        let (nonce, sealed) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self
            .0
            .open_in_place(nonce, Aad::from(key.file_name()), sealed);
        std::str::from_utf8(text.ok()?).ok().map(Secret::new)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::{LazyLock, Mutex};

    use keyring_core::mock;

    use super::super::file::tests::Folder;
    use super::*;

    impl Folder {
        fn files(&self) -> Vec<PathBuf> {
            let files = fs::read_dir(&self.0)
                .unwrap()
                .map(|file| file.unwrap().path());
            files
                .filter(|file| file.extension().is_some_and(|end| end == "json"))
                .collect()
        }
    }

    /// The keychain of all stores of this test program.
    fn mocked() -> Result<Arc<Keychain>, KeychainError> {
        static STORE: LazyLock<Mutex<Arc<mock::Store>>> =
            LazyLock::new(|| Mutex::new(mock::Store::new().unwrap()));
        let keychain: Arc<mock::Store> = Arc::clone(&STORE.lock().unwrap());
        Ok(keychain)
    }

    fn missing() -> Result<Arc<Keychain>, KeychainError> {
        Err(KeychainError::NoStorageAccess("no\nD-Bus".into()))
    }

    fn keys() -> [StoreKey; 2] {
        ["ann", "bob"].map(|account| StoreKey::tokens("https://h/mcp", account))
    }

    #[tokio::test]
    async fn records_are_encrypted_and_read_by_another_process() {
        let folder = Folder::new();
        let store = || KeychainStore::with_keychain("one", &folder.0, mocked);
        let [ann, bob] = keys();
        assert!(store().load(&ann).await.unwrap().is_none());
        store().save(&ann, &"canary-record".into()).await.unwrap();
        let record = store().load(&ann).await.unwrap().unwrap();
        assert_eq!(record.expose(), "canary-record");
        let [file] = &folder.files()[..] else {
            panic!("{:?}", folder.files());
        };
        let stored = fs::read_to_string(file).unwrap();
        assert!(stored.starts_with(PREFIX) && !stored.contains("canary"));
        // The record of another name is none.
        let other = folder.0.join(format!("{}.json", bob.file_name()));
        fs::copy(file, other).unwrap();
        assert!(store().load(&bob).await.unwrap().is_none());
        let shown = format!("{:?}", store());
        assert!(
            shown.contains("one") && !shown.contains("cipher"),
            "{shown}"
        );
        store().remove(&ann).await.unwrap();
        assert!(store().load(&ann).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn changed_record_and_another_key_count_as_no_record() {
        let folder = Folder::new();
        let [ann, _] = keys();
        let store = |service| KeychainStore::with_keychain(service, &folder.0, mocked);
        store("two").save(&ann, &"record".into()).await.unwrap();
        assert!(store("three").load(&ann).await.unwrap().is_none());
        let file = folder.files().remove(0);
        for changed in ["", "1.", "1.AAAA", "{\"version\":1}", "1.\u{e4}"] {
            fs::write(&file, changed).unwrap();
            assert!(
                store("two").load(&ann).await.unwrap().is_none(),
                "{changed}"
            );
        }
    }

    #[tokio::test]
    async fn machine_without_keychain_is_a_typed_error_and_stores_nothing() {
        let folder = Folder::new();
        let [ann, _] = keys();
        let store = KeychainStore::with_keychain("four", &folder.0, missing);
        let saved = store.save(&ann, &"record".into()).await;
        for error in [saved.unwrap_err(), store.load(&ann).await.unwrap_err()] {
            assert!(matches!(error, AuthError::Keychain(_)), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("no\\nD-Bus") && text.contains("FileStore"),
                "{text}"
            );
        }
        assert!(folder.files().is_empty());
    }

    #[tokio::test]
    async fn entry_that_is_no_key_is_a_typed_error() {
        let folder = Folder::new();
        let [ann, _] = keys();
        let entry = mocked().unwrap().build("five", ENTRY, None).unwrap();
        entry.set_secret(b"short").unwrap();
        let store = KeychainStore::with_keychain("five", &folder.0, mocked);
        let error = store.load(&ann).await.unwrap_err();
        assert!(matches!(error, AuthError::Keychain(_)), "{error}");
        assert!(!error.to_string().contains("short"), "{error}");
    }

    #[tokio::test]
    async fn stores_in_one_program_create_one_key() {
        let folder = Folder::new();
        let [ann, _] = keys();
        let stores: Vec<_> = (0..8)
            .map(|_| KeychainStore::with_keychain("six", &folder.0, mocked))
            .collect();
        let save = |store: &KeychainStore| {
            let (store, key) = (store.clone(), ann.clone());
            async move { store.save(&key, &"record".into()).await.unwrap() }
        };
        futures_util::future::join_all(stores.iter().map(save)).await;
        for store in &stores {
            assert!(store.load(&ann).await.unwrap().is_some());
        }
    }
}
