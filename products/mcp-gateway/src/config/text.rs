//! [`ConfigText`].

use std::fmt;
use std::path::Path;

use mcp_client::group::Variables;
use serde::Deserialize;

use super::error::ConfigError;

/// Largest secret in bytes.
const MAX_SECRET: u64 = 64 << 10;

/// A string of a configuration file, which may contain variables or name a file.
///
/// - `${NAME}` is the environment variable `NAME`, and `${NAME:-default}` has a default.
/// - `file:PATH` is a file's content, without the line break at its end. A URL that begins with `file://`
///   stays as it is.
///
/// `Debug` omits the string, which may be a secret.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ConfigText(String);

impl ConfigText {
    /// Returns the string with its variables replaced, or the content of its file, whose path is relative to `folder`. `key`
    /// is named by errors.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::Invalid`] when a variable has no value, or the file cannot be read.
    pub(super) fn resolve(
        &self,
        folder: &Path,
        key: &str,
        variables: &Variables,
    ) -> Result<String, ConfigError> {
        let filled = variables.fill(&self.0);
        let filled = filled.map_err(|error| ConfigError::invalid(key, error.to_string()))?;
        let path = self
            .0
            .strip_prefix("file:")
            .and(filled.strip_prefix("file:"));
        match path {
            Some(path) if !path.starts_with("//") => {
                let path = folder.join(path);
                let secret = mcp_files::read(&path, MAX_SECRET).map_err(|error| {
                    ConfigError::invalid(key, format!("the file {path:?} cannot be read: {error}"))
                })?;
                Ok(secret.trim_end_matches(['\r', '\n']).to_owned())
            }
            _ => Ok(filled),
        }
    }
}

impl fmt::Debug for ConfigText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfigText(…)")
    }
}
