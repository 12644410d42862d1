//! Files with consents: lock, stamp, reading and replacing.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest file in bytes. A longer one is neither read nor written.
const MAX_BYTES: usize = 64 << 20;
/// Longest wait for another process that writes the file, and the time between two attempts.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// Properties of a file, which differ after another process has written it.
pub(super) type Stamp = Option<(SystemTime, u64, Identity)>;

/// Number of a file, and the time of its last change in seconds and nanoseconds, which no program can set. A file of the same
/// size with the same time of modification has others.
#[cfg(unix)]
type Identity = (u64, i64, i64);
#[cfg(not(unix))]
type Identity = ();

/// A file with consents, which may not exist.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The user's own file, which only the user can write. Otherwise that of a project, which is not a link.
    pub(super) is_own: bool,
}

impl Place {
    /// Returns the stamp of the file. `None`: it cannot be found.
    pub(super) fn stamp(&self) -> Stamp {
        let metadata = fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let identity = ();
        Some((metadata.modified().ok()?, metadata.len(), identity))
    }

    /// Waits until no other process writes the file. The lock ends when the guard is dropped.
    ///
    /// The lock is that of another file beside it, because the file itself is replaced.
    ///
    /// # Errors
    ///
    /// Returns [`ConsentError::Unwritable`] if the file of the lock cannot be opened, or another process keeps it for 5
    /// seconds.
    pub(super) fn lock(&self) -> Result<File, ConsentError> {
        let locked = self.guard().and_then(|guard| {
            let start = Instant::now();
            loop {
                match guard.try_lock() {
                    Ok(()) => return Ok(guard),
                    Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => {
                        thread::sleep(LOCK_INTERVAL);
                    }
                    Err(TryLockError::WouldBlock) => {
                        return Err(io::Error::new(
                            io::ErrorKind::TimedOut,
                            "another process writes it",
                        ));
                    }
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
        });
        locked.map_err(|source| self.unwritable(source))
    }

    /// Opens the file of a lock. It is not removed: another process could be about to lock it.
    fn guard(&self) -> io::Result<File> {
        let path = self.target()?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".guard");
        let path = path.with_file_name(name);
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let reason = format!("{} is not a file", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        let mut options = File::options();
        options.create(true).write(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    /// Returns the file that is written. The user's own link stays one; that of a project is an error.
    fn target(&self) -> io::Result<PathBuf> {
        if self.is_own {
            return Ok(fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone()));
        }
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_symlink()) {
            return Err(io::Error::other("it is a link"));
        }
        Ok(self.path.clone())
    }

    /// Reads the file. `None`: it does not exist.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, ConsentError> {
        let text = self
            .open()
            .and_then(|file| mcp_files::read_from(file, MAX_BYTES as u64));
        let text = match text {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let path = self.path.clone();
                return Err(ConsentError::Unreadable { path, source });
            }
        };
        let parsed = serde_json::from_str(&text);
        parsed.map(Some).map_err(|error| ConsentError::Malformed {
            path: self.path.clone(),
            message: mcp_types::escape_line(&error.to_string()).into_owned(),
        })
    }

    fn open(&self) -> io::Result<File> {
        if self.is_own {
            return mcp_files::open_own(&self.path);
        }
        mcp_files::open_regular(&self.target()?)
    }

    /// Replaces the file at once: a reader finds the old or the new content. The caller has the [`lock`](Self::lock).
    pub(super) fn write(&self, content: &impl Serialize) -> Result<(), ConsentError> {
        let written = serde_json::to_vec_pretty(content).map_err(io::Error::other);
        let written = written.and_then(|bytes| self.write_bytes(bytes));
        written.map_err(|source| self.unwritable(source))
    }

    fn write_bytes(&self, mut bytes: Vec<u8>) -> io::Result<()> {
        if bytes.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        bytes.push(b'\n');
        mcp_files::replace(&self.target()?, &bytes)
    }

    fn unwritable(&self, source: io::Error) -> ConsentError {
        let path = self.path.clone();
        ConsentError::Unwritable { path, source }
    }
}

/// The error of a file with [`Consents`](super::Consents).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsentError {
    /// The file exists and is not readable, or is longer than 64 MiB.
    #[error("the file {path:?} cannot be read: {source}")]
    #[non_exhaustive]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The content has another format.
    #[error("the file {path:?} is malformed: {message}; restore it, or remove it to be asked anew")]
    #[non_exhaustive]
    Malformed {
        /// The file's path.
        path: PathBuf,
        /// The error with its position.
        message: String,
    },
    /// The file cannot be replaced.
    #[error("the file {path:?} cannot be written: {source}")]
    #[non_exhaustive]
    Unwritable {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}
