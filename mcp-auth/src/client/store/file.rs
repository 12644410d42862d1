//! [`FileStore`]: credentials in a folder, shared by processes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use super::{CredentialStore, StoreKey, StoreLock, lock_timeout};
use crate::error::AuthError;
use crate::secret::Secret;

/// Largest size of a record in bytes.
const MAX_RECORD: u64 = 256 << 10;
/// Time between two attempts to get a lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(25);

/// A store in a folder: one file per record, readable by its owner only (mode 0600 on Unix).
///
/// A record is written to a new file, which then replaces the old one, so that a crash leaves a
/// complete record. Processes that share the folder lock a file while they refresh a token. The
/// records are not encrypted. A folder to which other users can write is refused.
///
/// # Examples
///
/// ```
/// use mcp::auth::{FileStore, OAuth};
///
/// let oauth = OAuth::interactive("My Agent").store(FileStore::new("/var/lib/my-agent/tokens"));
/// ```
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
}

impl FileStore {
    /// Creates a store in a folder. The folder is created when the first record is saved.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    fn record(&self, key: &StoreKey) -> PathBuf {
        self.folder.join(format!("{}.json", key.file_name()))
    }

    /// Runs file operations on a thread for blocking work.
    async fn run<T: Send + 'static>(
        &self,
        key: &StoreKey,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, AuthError> {
        let path = self.record(key);
        let shown = path.display().to_string();
        let checked = move || {
            check_folder(&path)?;
            work(&path)
        };
        let done = tokio::task::spawn_blocking(checked).await;
        let failed = |error: io::Error| AuthError::Store(format!("{shown}: {error}"));
        done.map_err(io::Error::other).flatten().map_err(failed)
    }
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        self.run(key, read).await
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        let record = record.clone();
        self.run(key, move |path| write(path, record.expose().as_bytes()))
            .await
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        let remove = |path: &Path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        self.run(key, remove).await
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        // The lock file is never removed: another process could be about to lock it.
        let file = self
            .run(key, |path| open_private(&path.with_extension("lock")))
            .await?;
        let locked = async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => sleep(LOCK_INTERVAL).await,
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
        };
        match tokio::time::timeout(timeout, locked).await {
            Ok(Ok(())) => Ok(StoreLock::new(file)),
            Ok(Err(error)) => Err(AuthError::Store(format!("cannot lock the file: {error}"))),
            Err(_) => Err(lock_timeout(timeout)),
        }
    }
}

/// Reads a record. Returns `None` for a file that is too large or not UTF-8: it is damaged.
fn read(path: &Path) -> io::Result<Option<Secret>> {
    use io::ErrorKind::{FileTooLarge, InvalidData, NotFound};

    match mcp_files::read(path, MAX_RECORD) {
        Ok(text) => Ok(Some(Secret::new(text))),
        Err(error) if matches!(error.kind(), NotFound | FileTooLarge | InvalidData) => Ok(None),
        Err(error) => Err(error),
    }
}

// spec: AUTH-C-31
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_folder(path)?;
    mcp_files::replace_private(path, bytes)
}

/// Opens a file that only its owner can read, and creates it and its folder if needed.
// spec: AUTH-C-31
fn open_private(path: &Path) -> io::Result<File> {
    create_folder(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Checks that only the owner can replace records, if the folder exists.
#[cfg(unix)]
fn check_folder(record: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = record.parent().and_then(|folder| fs::metadata(folder).ok());
    if folder.is_some_and(|folder| folder.permissions().mode() & 0o022 != 0) {
        return Err(io::Error::other(
            "other users can write to the folder; take that away with `chmod go-w`",
        ));
    }
    Ok(())
}

/// Does nothing: outside Unix, a folder's mode does not say who can write to it.
#[cfg(not(unix))]
fn check_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates the folder of a file, if needed. Only the user can open it.
fn create_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::key::random_text;

    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new() -> Self {
            let name = format!("mcp-auth-{}", random_text(12).unwrap());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key() -> StoreKey {
        StoreKey::tokens("https://h/mcp", "")
    }

    // spec: AUTH-C-31
    #[tokio::test]
    async fn records_are_private_and_replaced_as_a_whole() {
        let folder = Folder::new();
        let store = FileStore::new(&folder.0);
        assert!(store.load(&key()).await.unwrap().is_none());
        for text in ["a longer record", "short"] {
            store.save(&key(), &text.into()).await.unwrap();
            assert_eq!(store.load(&key()).await.unwrap().unwrap().expose(), text);
        }
        let files: Vec<_> = fs::read_dir(&folder.0)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                files[0].metadata().unwrap().permissions().mode() & 0o777,
                0o600
            );
            assert_eq!(
                fs::metadata(&folder.0).unwrap().permissions().mode() & 0o777,
                0o700
            );
        }
        store.remove(&key()).await.unwrap();
        store.remove(&key()).await.unwrap();
        assert!(store.load(&key()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn lock_is_held_by_one_store_at_a_time() {
        let folder = Folder::new();
        let (one, two) = (FileStore::new(&folder.0), FileStore::new(&folder.0));
        let lock = one.lock(&key(), Duration::from_secs(9)).await.unwrap();
        let error = two.lock(&key(), Duration::ZERO).await.unwrap_err();
        assert!(matches!(error, AuthError::Timeout { .. }), "{error}");
        let other = StoreKey::tokens("https://h/mcp", "another account");
        two.lock(&other, Duration::ZERO).await.unwrap();
        drop(lock);
        two.lock(&key(), Duration::ZERO).await.unwrap();
        two.lock(&key(), Duration::MAX).await.unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn folder_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        let store = FileStore::new(&folder.0);
        store.save(&key(), &"x".into()).await.unwrap();
        for (mode, is_refused) in [(0o755, false), (0o770, true), (0o702, true), (0o700, false)] {
            fs::set_permissions(&folder.0, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(store.load(&key()).await.is_err(), is_refused, "{mode:o}");
            let saved = store.save(&key(), &"y".into()).await;
            assert_eq!(saved.is_err(), is_refused, "{mode:o}");
        }
    }

    #[tokio::test]
    async fn damaged_record_counts_as_none() {
        let folder = Folder::new();
        let store = FileStore::new(&folder.0);
        store.save(&key(), &"x".into()).await.unwrap();
        fs::write(store.record(&key()), [0xff, 0xfe]).unwrap();
        assert!(store.load(&key()).await.unwrap().is_none());
    }
}
