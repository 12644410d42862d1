//! Syntax of `_meta` keys, and keys reserved for the protocol.

/// Error for a malformed `_meta` key. Malformed keys are still read and passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The prefix is malformed.
    #[error(
        "the prefix of a `_meta` key is labels joined by dots, each beginning with a letter and \
         ending with a letter or a digit, such as `com.example/`"
    )]
    Prefix,
    /// The name is malformed.
    #[error(
        "the name of a `_meta` key begins and ends with a letter or a digit and has nothing but \
         these and `-`, `_` and `.` between"
    )]
    Name,
}

/// Checks the syntax of a key: an optional prefix with a slash, then a name.
///
/// # Errors
///
/// Returns [`InvalidKey`] with the malformed part.
///
/// # Examples
///
/// ```
/// use mcp::types::meta;
///
/// assert!(meta::check_key("com.example/region").is_ok());
/// assert!(meta::check_key("com..example/region").is_err());
/// assert!(meta::is_reserved_key("io.modelcontextprotocol/anything"));
/// assert!(!meta::is_reserved_key("com.example.mcp/anything"));
/// ```
// spec: META-01, META-04
pub fn check_key(key: &str) -> Result<(), InvalidKey> {
    let (prefix, name) = split(key);
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
        return Err(InvalidKey::Prefix);
    }
    if name.is_empty() || is_name(name) {
        Ok(())
    } else {
        Err(InvalidKey::Name)
    }
}

/// Returns `true` if the prefix of the key is reserved for the protocol.
///
/// Applications make no assumptions about reserved keys that they do not know.
// spec: META-03, META-05
pub fn is_reserved_key(key: &str) -> bool {
    let second = |prefix: &str| prefix.split('.').nth(1).map(str::to_ascii_lowercase);
    let second = split(key).0.and_then(second);
    matches!(second.as_deref(), Some("modelcontextprotocol" | "mcp"))
}

fn split(key: &str) -> (Option<&str>, &str) {
    match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    }
}

fn is_name(name: &str) -> bool {
    let inside = |c: char| alphanumeric(c) || matches!(c, '-' | '_' | '.');
    name.starts_with(alphanumeric) && name.ends_with(alphanumeric) && name.chars().all(inside)
}

fn is_label(label: &str) -> bool {
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(alphanumeric)
        && label.chars().all(|c| alphanumeric(c) || c == '-')
}

fn alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::{InvalidKey, check_key, is_reserved_key};

    #[test]
    fn check_of_valid_key_succeeds() {
        for key in [
            "a",
            "",
            "progressToken",
            "a-b_c.d1",
            "com.example/",
            "com.example/x",
            "a/b",
            "x1-y.b/9",
            keys::SERVER_INFO,
            keys::SKILLS_EXTENSION,
        ] {
            assert_eq!(check_key(key), Ok(()), "{key:?}");
        }
    }

    #[test]
    fn check_of_malformed_key_fails() {
        for key in [
            "/x", "1a/x", "a-/x", "a..b/x", ".a/x", "a./x", "a_b/x", "a/b/c", "ä/x",
        ] {
            assert_eq!(check_key(key), Err(InvalidKey::Prefix), "{key:?}");
        }
        for key in ["-a", "a.", "_", "a b", "com.example/-x", "é", "a\u{0}b"] {
            assert_eq!(check_key(key), Err(InvalidKey::Name), "{key:?}");
        }
    }

    #[test]
    fn key_with_protocol_prefix_is_reserved() {
        for key in [
            keys::PROTOCOL_VERSION,
            "dev.mcp/x",
            "org.modelcontextprotocol.api/x",
            "IO.ModelContextProtocol/x",
            "com.mcp.tools/",
        ] {
            assert!(is_reserved_key(key), "{key}");
        }
        for key in [
            "com.example.mcp/x",
            "mcp/x",
            "mcp.example/x",
            "io.modelcontextprotocol",
            "x",
        ] {
            assert!(!is_reserved_key(key), "{key}");
        }
    }
}
