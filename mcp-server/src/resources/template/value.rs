//! The value of a variable: decoded, and harmless as a part of a path.

use percent_encoding::percent_decode_str;

/// Which characters a value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Within one path segment.
    Segment,
    /// Over several path segments.
    Path,
    /// In the query.
    Query,
}

/// Decodes a value once. Nothing when it is badly encoded, or when a handler that appends it to a
/// directory or to a URL could end up somewhere else: `..` segments, absolute paths, NUL and `\`,
/// and `/` within a segment – however they were encoded.
// spec: RSRC-07
#[inline]
pub(super) fn decode(raw: &str, kind: Kind) -> Option<String> {
    let delimiters: &[char] = match kind {
        Kind::Segment => &['/', '?', '#'],
        Kind::Path => &[],
        Kind::Query => &['#', '?'],
    };
    if raw.contains(delimiters) || !is_well_encoded(raw) {
        return None;
    }
    let value = percent_decode_str(raw).decode_utf8().ok()?;
    let absolute = match kind {
        Kind::Segment => value.contains('/'),
        Kind::Path => value.starts_with('/') || has_drive(&value),
        Kind::Query => value.starts_with('/'),
    };
    // A value such as `x:1` is only dangerous where drives have letters.
    let absolute = absolute || (cfg!(windows) && has_drive(&value));
    let harmful = absolute || value.contains(['\0', '\\']) || value.split('/').any(is_parent);
    (!harmful).then(|| value.into_owned())
}

/// Each `%` has its two digits.
#[inline]
fn is_well_encoded(raw: &str) -> bool {
    raw.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// `..`, and what some systems take for it: dots and spaces at the end of a name do not count there.
#[inline]
fn is_parent(segment: &str) -> bool {
    segment.starts_with("..") && segment.trim_end_matches([' ', '.']).is_empty()
}

/// `C:`, which makes a path absolute on Windows.
#[inline]
fn has_drive(value: &str) -> bool {
    matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
