//! What a key of `_meta` may look like, and which keys belong to the protocol.

/// A key of `_meta` is not as the specification wants it. Such keys are still read and passed on.
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

/// Checks how a key is written: an optional prefix and a slash, then a name.
///
/// # Errors
///
/// [`InvalidKey`] that says which part is malformed.
///
/// # Examples
///
/// ```
/// use mcp_types::meta;
///
/// assert!(meta::check_key("com.example/region").is_ok());
/// assert!(meta::check_key("com..example/region").is_err());
/// assert!(meta::is_reserved_key("io.modelcontextprotocol/anything"));
/// assert!(!meta::is_reserved_key("com.example.mcp/anything"));
/// ```
// spec: META-01, META-04
#[inline]
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

/// The key has a prefix that only the protocol may give meaning to. Make no assumption about what
/// is at such a key unless you know it.
// spec: META-03, META-05
#[inline]
pub fn is_reserved_key(key: &str) -> bool {
    let second = |prefix: &str| prefix.split('.').nth(1).map(str::to_ascii_lowercase);
    let second = split(key).0.and_then(second);
    matches!(second.as_deref(), Some("modelcontextprotocol" | "mcp"))
}

#[inline]
fn split(key: &str) -> (Option<&str>, &str) {
    match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    }
}

#[inline]
fn is_name(name: &str) -> bool {
    let inside = |c: char| alphanumeric(c) || matches!(c, '-' | '_' | '.');
    name.starts_with(alphanumeric) && name.ends_with(alphanumeric) && name.chars().all(inside)
}

#[inline]
fn is_label(label: &str) -> bool {
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(alphanumeric)
        && label.chars().all(|c| alphanumeric(c) || c == '-')
}

#[inline]
fn alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::{InvalidKey, check_key, is_reserved_key};

    #[test]
    fn keys_as_they_should_be() {
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
    fn keys_as_they_should_not_be() {
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
    fn keys_of_the_protocol() {
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
