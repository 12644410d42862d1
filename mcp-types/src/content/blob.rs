//! Binary data: bytes in Rust, Base64 in JSON.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::de::parse_str;

/// Standard Base64 of RFC 4648. Encoding adds padding, decoding does not require it.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Binary data, a string of standard Base64 in JSON.
///
/// # Examples
///
/// ```
/// use mcp::types::Blob;
///
/// let blob = Blob::from(&b"hi"[..]);
/// assert_eq!(serde_json::to_string(&blob)?, r#""aGk=""#);
/// assert_eq!(serde_json::from_str::<Blob>(r#""aGk=""#)?, blob);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Blob(Bytes);

impl Blob {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes without copying them.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<Bytes> for Blob {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }
}

impl<const N: usize> From<&[u8; N]> for Blob {
    fn from(bytes: &[u8; N]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_str(deserializer, |text| {
            let bytes = STANDARD.decode(text.as_bytes());
            bytes.map_err(|error| format!("invalid base64: {error}"))
        })
        .map(Vec::into)
    }
}

#[cfg(test)]
mod tests {
    use super::Blob;

    #[test]
    fn base64_without_padding_is_accepted_and_other_errors_refused() {
        for text in [r#""aGk=""#, r#""aGk""#] {
            let blob: Blob = serde_json::from_str(text).unwrap();
            assert_eq!(blob.as_bytes(), b"hi");
            assert_eq!(serde_json::to_string(&blob).unwrap(), r#""aGk=""#);
        }
        for text in [
            r#""a""#,
            r#""aGl=""#,
            r#""a-_=""#,
            r#""aG k=""#,
            r#""aGk==""#,
            "7",
        ] {
            assert!(serde_json::from_str::<Blob>(text).is_err(), "{text}");
        }
        assert_eq!(
            serde_json::from_str::<Blob>(r#""""#).unwrap(),
            Blob::default()
        );
    }
}
