//! [`Secret`]: a string that is never shown.

use std::{fmt, io};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret string: a client secret, a token, an assertion. `Debug` omits its value, and its memory
/// is overwritten when it is dropped.
///
/// # Examples
///
/// ```
/// use mcp::auth::Secret;
///
/// let secret = Secret::new("s3cret");
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Creates a secret from its value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// Reads a secret from an environment variable.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::NotFound`] when the variable is not set, is empty, or is not UTF-8.
    pub fn from_env(name: &str) -> io::Result<Self> {
        match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(Self::new(value)),
            _ => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("the environment variable {name} is not set"),
            )),
        }
    }

    /// The value. Do not log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Compares two secrets in a time that does not depend on their content.
    pub fn matches(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // spec: EMA-05
        f.write_str("Secret(..)")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

/// Writes the value. Only records of a store are serialized.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
