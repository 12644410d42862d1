//! URIs and skill names.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Name of the file with the instructions.
pub(crate) const INSTRUCTIONS: &str = "SKILL.md";

/// Maximum length of a skill name.
const MAX_NAME: usize = 64;

/// Bytes that a path segment encodes: all but the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Encodes a path of decoded segments for a URI.
pub(crate) fn encode_path(path: &str) -> String {
    let segments = path.split('/');
    let encoded = segments.map(|segment| utf8_percent_encode(segment, SEGMENT).to_string());
    encoded.collect::<Vec<_>>().join("/")
}

/// Returns true if `name` satisfies the naming rules: 1 to 64 lowercase letters, digits and hyphens,
/// without a hyphen at either end and without two in a row.
// spec: SKILL-07
pub(crate) fn is_valid_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Returns true if a decoded segment cannot leave its directory, on any operating system.
pub(crate) fn is_plain_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment != "."
        && segment != ".."
        && !segment.contains(['/', '\\'])
        && !segment.chars().any(char::is_control)
}

/// Returns the URI of a skill's directory, without a trailing slash. Returns `None` if `uri` is
/// not `<scheme>://<path>/SKILL.md` with plain segments.
// spec: SKILL-06, SKILL-07
pub(crate) fn root_of(uri: &str) -> Option<&str> {
    let root = uri.strip_suffix(INSTRUCTIONS)?.strip_suffix('/')?;
    let (scheme, path) = root.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (is_scheme && is_plain_path(path)).then_some(root)
}

/// Returns the last segment of a skill's directory.
pub(crate) fn skill_name(root: &str) -> &str {
    root.rsplit('/').next().unwrap_or(root)
}

/// Returns true if `uri` is below the directory `root`.
// spec: SKILL-12
pub(crate) fn is_within(root: &str, uri: &str) -> bool {
    let rest = uri
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(is_plain_path)
}

/// Returns true if every segment is plain after decoding, and nothing follows the path.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |segment: &str| {
        let decoded = percent_decode_str(segment).decode_utf8();
        decoded.is_ok_and(|decoded| is_plain_segment(&decoded))
    };
    !path.contains(['?', '#']) && path.split('/').all(is_plain)
}

/// Returns true for a file's decoded path: plain segments with a slash between them.
pub(crate) fn is_plain_file_path(path: &str) -> bool {
    path.split('/').all(is_plain_segment)
}

#[cfg(test)]
mod tests {
    use super::{encode_path, is_plain_file_path, is_valid_name, is_within, root_of, skill_name};

    // spec: SKILL-07
    #[test]
    fn name_with_forbidden_form_is_invalid() {
        for name in ["a", "pdf-processing", "a1-2b", &"x".repeat(64)] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "a-",
            "a--b",
            "A",
            "a_b",
            "ä",
            "a b",
            &"x".repeat(65),
        ] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn encode_path_keeps_slashes_only() {
        assert_eq!(encode_path("a b/ü?.md"), "a%20b/%C3%BC%3F.md");
        assert!(is_plain_file_path("a/b.md"));
        for path in ["", "/a", "a//b", "a/../b", "a\\b", "a/\0", "."] {
            assert!(!is_plain_file_path(path), "{path:?}");
        }
    }

    #[test]
    fn is_within_refuses_dot_segments_in_any_encoding() {
        let root = root_of("skill://acme/pdf/SKILL.md").unwrap();
        assert_eq!((root, skill_name(root)), ("skill://acme/pdf", "pdf"));
        assert!(is_within(root, "skill://acme/pdf/a%20b/c.md"));
        for uri in [
            "skill://acme/pdf",
            "skill://acme/pdf/",
            "skill://acme/pdfs/a",
            "skill://acme/pdf/../x",
            "skill://acme/pdf/%2e%2E/x",
            "skill://acme/pdf/a%2f..%2fb",
            "skill://acme/pdf/a%5cb",
            "skill://acme/pdf/a?x",
            "skill://acme/pdf/a#x",
            "skill://acme/pdf//a",
            "skill://acme/pdf/%ff",
        ] {
            assert!(!is_within(root, uri), "{uri}");
        }
        for uri in [
            "SKILL.md",
            "skill:///SKILL.md",
            "skill://a/../SKILL.md",
            "1x://a/SKILL.md",
        ] {
            assert_eq!(root_of(uri), None, "{uri}");
        }
    }
}
