//! Files with what a user has agreed to: pins and approvals.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest file in bytes. A longer one is neither read nor written.
const MAX_BYTES: usize = 64 << 20;

/// The error of a file with pins or approvals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
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
    #[error(
        "the file {path:?} is malformed: {message}; restore it, or remove it to trust all tools anew"
    )]
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

/// Reads a file. `None`: it does not exist.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, TrustError> {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let path = path.to_owned();
            return Err(TrustError::Unreadable { path, source });
        }
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| TrustError::Malformed {
        path: path.to_owned(),
        message: mcp_types::escape_line(&error.to_string()).into_owned(),
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Replaces a file at once: a reader finds the old or the new content.
pub(crate) fn write(path: &Path, content: &impl Serialize) -> Result<(), TrustError> {
    let written = serde_json::to_vec_pretty(content).map_err(io::Error::other);
    let written = written.and_then(|bytes| write_bytes(path, &bytes));
    written.map_err(|source| TrustError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);

    if bytes.len() > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let written = File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // Best effort: the error of the file itself is reported.
        let _ = fs::remove_file(&temporary);
    }
    moved
}
