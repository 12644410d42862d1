//! SHA-256 of files.

use hmac_sha256::Hash;

/// Returns the SHA-256 of `bytes`.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Hash::hash(bytes)
}
