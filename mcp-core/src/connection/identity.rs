//! [`ServerIdentity`]: a server's identity in a cache that several clients share.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use hmac_sha256::Hash;

/// The identity of a server, for caches that several clients share. Two channels have equal
/// identities only if they reach the same server.
///
/// An endpoint that makes a server for each request inserts its own identity into the extensions of each
/// call: its servers accept each other's request states.
///
/// It is a SHA-256 hash, so it reveals no secret of a URL, an argument or an environment variable.
/// `Display` writes the hash in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ServerIdentity([u8; 32]);

impl ServerIdentity {
    /// Creates the identity of a server that these parts determine. `kind` separates transports.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::core::ServerIdentity;
    ///
    /// let one = ServerIdentity::from_parts("url", ["https://example.com/mcp?tenant=1"]);
    /// let two = ServerIdentity::from_parts("url", ["https://example.com/mcp?tenant=2"]);
    /// assert_ne!(one, two);
    /// ```
    pub fn from_parts(kind: &str, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut hash = Hash::new();
        let mut add = |part: &[u8]| {
            // The length separates the parts unambiguously.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(kind.as_bytes());
        parts.into_iter().for_each(|part| add(part.as_ref()));
        Self(hash.finalize())
    }

    /// Creates an identity that no other server of this process has.
    pub fn unique() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self::from_parts("unique", [number.to_le_bytes()])
    }
}

impl fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerIdentity({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::ServerIdentity;

    #[test]
    fn identity_depends_on_each_part_and_its_bounds() {
        let of = |parts: &[&str]| ServerIdentity::from_parts("command", parts);
        assert_eq!(of(&["npx", "a"]), of(&["npx", "a"]));
        for other in [
            of(&["npx"]),
            of(&["npxa"]),
            of(&["np", "xa"]),
            of(&["a", "npx"]),
        ] {
            assert_ne!(of(&["npx", "a"]), other);
        }
        assert_ne!(of(&["a"]), ServerIdentity::from_parts("url", ["a"]));
        assert_ne!(ServerIdentity::unique(), ServerIdentity::unique());
        assert_eq!(of(&[]).to_string().len(), 64);
    }
}
