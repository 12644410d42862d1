//! Files with what a user has agreed to: pins and approvals.

use std::io;
use std::path::{Path, PathBuf};

use mcp_client::group::files;
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
    let text = match files::read(path, MAX_BYTES as u64) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let path = path.to_owned();
            return Err(TrustError::Unreadable { path, source });
        }
    };
    let parsed = serde_json::from_str(&text);
    parsed.map(Some).map_err(|error| TrustError::Malformed {
        path: path.to_owned(),
        message: mcp_types::escape_line(&error.to_string()).into_owned(),
    })
}

/// Replaces a file at once: a reader finds the old or the new content.
pub(crate) fn write(path: &Path, content: &impl Serialize) -> Result<(), TrustError> {
    let written = serde_json::to_vec_pretty(content).map_err(io::Error::other);
    let written = written.and_then(|bytes| write_bytes(path, bytes));
    written.map_err(|source| TrustError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

fn write_bytes(path: &Path, mut bytes: Vec<u8>) -> io::Result<()> {
    if bytes.len() > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    bytes.push(b'\n');
    files::replace(path, &bytes)
}
