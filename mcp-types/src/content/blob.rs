//! Binary data: bytes for users, base64 on the wire.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

use crate::json::{FromText, Piece, Read, Slot, Write, read_and_written};

/// Padded as RFC 4648 wants it; peers that leave the padding out are understood.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Binary data that travels as standard base64.
///
/// # Examples
///
/// ```
/// use mcp_types::Blob;
///
/// let blob = Blob::from(&b"hi"[..]);
/// assert_eq!(serde_json::to_string(&blob)?, r#""aGk=""#);
/// assert_eq!(serde_json::from_str::<Blob>(r#""aGk=""#)?, blob);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Blob(Bytes);

impl Blob {
    /// The text on the wire.
    pub(crate) fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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

impl Write for Blob {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        Piece::Blob(self)
    }
}

impl Read for Blob {
    #[inline]
    fn blank() -> Self {
        Self::default()
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        Slot::Text(self)
    }
}

impl FromText for Blob {
    fn set(&mut self, text: Cow<'_, str>) -> Result<(), String> {
        let bytes = STANDARD.decode(text.as_bytes());
        let bytes = bytes.map_err(|error| format!("invalid base64: {error}"))?;
        *self = bytes.into();
        Ok(())
    }
}

read_and_written!(Blob);

#[cfg(test)]
mod tests {
    use super::Blob;

    #[test]
    fn padding_may_be_missing_and_nothing_else() {
        for text in [r#""aGk=""#, r#""aGk""#] {
            let blob: Blob = serde_json::from_str(text).unwrap();
            assert_eq!((blob.as_bytes(), blob.len()), (&b"hi"[..], 2));
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
        assert!(serde_json::from_str::<Blob>(r#""""#).unwrap().is_empty());
    }
}
