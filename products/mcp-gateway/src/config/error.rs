//! [`ConfigError`].

use std::io;
use std::path::PathBuf;

/// An error in a configuration file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file does not exist, is not readable, or is longer than 1 MiB.
    #[error("the file {path:?} cannot be read: {source}")]
    #[non_exhaustive]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is not TOML, or a key is unknown, missing or has another type.
    #[error("line {line}, column {column}: {message}")]
    #[non_exhaustive]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The error.
        message: String,
    },
    /// A value cannot be used.
    #[error("`{key}`: {message}")]
    #[non_exhaustive]
    Invalid {
        /// The key with its tables, such as `servers.files.url`.
        key: String,
        /// The error, and what to do.
        message: String,
    },
}

impl ConfigError {
    pub(super) fn invalid(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            key: key.into(),
            message: message.into(),
        }
    }
}
