//! Decoding of variable values.

use percent_encoding::percent_decode_str;

/// The component of a URI that a value is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UriComponent {
    /// One path segment.
    Segment,
    /// Several path segments.
    Path,
    /// A query parameter.
    Query,
}

/// Decodes a percent-encoded value once. Returns `None` if the encoding is malformed, and if a handler
/// that appends the value to a directory or a URL could leave it: for `..` segments, absolute paths,
/// NUL, `\`, and `/` in a segment, in any encoding.
// spec: RSRC-07
pub(super) fn decode(raw: &str, component: UriComponent) -> Option<String> {
    let delimiters: &[char] = match component {
        UriComponent::Segment => &['/', '?', '#'],
        UriComponent::Path => &[],
        UriComponent::Query => &['#', '?'],
    };
    if raw.contains(delimiters) || !is_well_encoded(raw) {
        return None;
    }
    let value = percent_decode_str(raw).decode_utf8().ok()?;
    let absolute = match component {
        UriComponent::Segment => value.contains('/'),
        UriComponent::Path => value.starts_with('/') || has_drive(&value),
        UriComponent::Query => value.starts_with('/'),
    };
    // A value such as `x:1` is an absolute path on Windows only.
    let absolute = absolute || (cfg!(windows) && has_drive(&value));
    let harmful = absolute || value.contains(['\0', '\\']) || value.split('/').any(is_parent);
    (!harmful).then(|| value.into_owned())
}

/// Returns whether two hexadecimal digits follow each `%`.
fn is_well_encoded(raw: &str) -> bool {
    raw.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Returns whether a segment is `..`, also on systems that ignore dots and spaces at the end of names.
fn is_parent(segment: &str) -> bool {
    segment.starts_with("..") && segment.trim_end_matches([' ', '.']).is_empty()
}

/// Returns whether a path starts with a drive such as `C:`, which makes it absolute on Windows.
fn has_drive(value: &str) -> bool {
    matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
