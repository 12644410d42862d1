//! Tokens that clients keep for the server, encrypted and authenticated.

use std::io;
use std::sync::Weak;

use mcp_core::Principal;

use crate::registry::SharedRegistry;
use crate::request_state::Binding;

/// Seals tokens that clients keep: ids that carry data of the server, such as those of tasks. A token is
/// encrypted and authenticated with the keys of request states
/// ([`Server::request_state_keys`](crate::Server::request_state_keys)), so each node with the same keys
/// opens it, and it needs no store. It does not expire.
///
/// Get it from [`Server::token_sealer`](crate::Server::token_sealer). Clones are cheap.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// let server = Server::new("shop", "1.0.0");
/// let tokens = server.token_sealer();
/// let token = tokens.seal("order", b"7", None)?;
/// assert_eq!(tokens.open("order", &token, None).as_deref(), Some(&b"7"[..]));
/// // A token for another purpose, or of another principal, is like an unknown one.
/// assert_eq!(tokens.open("invoice", &token, None), None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TokenSealer(Weak<SharedRegistry>);

impl TokenSealer {
    pub(crate) fn new(registry: Weak<SharedRegistry>) -> Self {
        Self(registry)
    }

    /// Encrypts `value` for a purpose and a principal. The token consists of letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// Returns an error when the value is larger than a request state may be
    /// ([`StateKeys::max_bytes`](crate::StateKeys::max_bytes)), when the operating system has no random numbers,
    /// or when the server was dropped.
    pub fn seal(
        &self,
        purpose: &str,
        value: &[u8],
        principal: Option<&Principal>,
    ) -> io::Result<String> {
        let failed =
            |reason: String| io::Error::other(format!("the token cannot be sealed: {reason}"));
        let registry = self.0.upgrade();
        let registry = registry.ok_or_else(|| failed("the server was dropped".to_owned()))?;
        let binding = Binding::of_token(purpose, principal);
        let sealed =
            registry.read(|registry| registry.context.sealer.seal_forever(value, &binding));
        sealed.map_err(|error| failed(error.to_string()))
    }

    /// Decrypts a token. Returns `None` for one that was not sealed for this purpose and principal by a server
    /// with the same keys and name.
    pub fn open(
        &self,
        purpose: &str,
        token: &str,
        principal: Option<&Principal>,
    ) -> Option<Vec<u8>> {
        let registry = self.0.upgrade()?;
        let binding = Binding::of_token(purpose, principal);
        registry.read(|registry| registry.context.sealer.open(token, &binding).ok())
    }
}

#[cfg(test)]
mod tests {
    use mcp_core::Principal;

    use crate::request_state::StateKeys;
    use crate::server::Server;

    const SECRET: &str = "KrM0ZQpgdAnbqXnrA46gEhQ1uK7JdTQW";

    fn server() -> Server {
        Server::new("shop", "1.0.0").request_state_keys(StateKeys::new(SECRET).unwrap())
    }

    #[test]
    fn token_opens_for_its_purpose_principal_and_keys_only() {
        let ada = Principal::new("https://a.example", "ada");
        let bob = Principal::new("https://a.example", "bob");
        let (one, two) = (server(), server());
        let token = one.token_sealer().seal("task", b"7", Some(&ada)).unwrap();
        let open = |purpose, who| two.token_sealer().open(purpose, &token, who);
        assert_eq!(open("task", Some(&ada)).as_deref(), Some(&b"7"[..]));
        for (purpose, who) in [("task", Some(&bob)), ("task", None), ("order", Some(&ada))] {
            assert_eq!(open(purpose, who), None);
        }
        let other = Server::new("shop", "1.0.0");
        assert_eq!(other.token_sealer().open("task", &token, Some(&ada)), None);
    }

    #[test]
    fn keys_that_are_set_later_are_used() {
        let server = Server::new("shop", "1.0.0");
        let tokens = server.token_sealer();
        let server = server.request_state_keys(StateKeys::new(SECRET).unwrap());
        let token = tokens.seal("task", b"7", None).unwrap();
        let other = self::server();
        assert!(other.token_sealer().open("task", &token, None).is_some());
        drop(server);
        let error = tokens.seal("task", b"7", None).unwrap_err().to_string();
        assert!(error.contains("dropped"), "{error}");
    }
}
