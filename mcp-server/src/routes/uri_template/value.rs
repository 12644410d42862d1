//! Decoding of variable values, and the form in which URIs are compared.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The component of a URI that a value is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UriComponent {
    /// One path segment.
    Segment,
    /// One path segment in which `%2F` stands for a `/` of the value.
    SegmentWithSlashes,
    /// Several path segments.
    Path,
    /// A query parameter.
    Query,
}

/// Decodes a percent-encoded value once.
///
/// # Errors
///
/// Returns the reason if the encoding is malformed, and if a handler that appends the value to a directory or a
/// URL could leave it: for `..` segments, absolute paths, NUL, `\`, and `/` in a segment, in any encoding.
/// `None`: the value cannot stand here at all.
// spec: RSRC-07
pub(super) fn decode(raw: &str, component: UriComponent) -> Result<String, Option<&'static str>> {
    let delimiters: &[char] = match component {
        UriComponent::Segment | UriComponent::SegmentWithSlashes => &['/', '?', '#'],
        UriComponent::Path => &[],
        UriComponent::Query => &['#', '?'],
    };
    if raw.contains(delimiters) {
        return Err(None);
    }
    let decoded = percent_decode_str(raw).decode_utf8();
    let (true, Ok(value)) = (is_well_encoded(raw), decoded) else {
        return Err(Some("its encoding is malformed"));
    };
    let is_multiple = component == UriComponent::SegmentWithSlashes;
    let is_absolute = match component {
        UriComponent::Segment if value.contains('/') => {
            return Err(Some(
                "it contains an encoded slash, which the template does not permit (`encoded_slashes`)",
            ));
        }
        UriComponent::Segment => false,
        UriComponent::SegmentWithSlashes | UriComponent::Path => {
            value.starts_with('/') || has_drive(&value)
        }
        UriComponent::Query => value.starts_with('/'),
    };
    // A value such as `x:1` is an absolute path on Windows only.
    if is_absolute || (cfg!(windows) && has_drive(&value)) {
        return Err(Some("it is an absolute path"));
    }
    if value.contains(['\0', '\\']) || (is_multiple && value.contains(char::is_control)) {
        return Err(Some("it contains a backslash or a control character"));
    }
    if value.split('/').any(is_parent) {
        return Err(Some("it contains `..`"));
    }
    Ok(value.into_owned())
}

/// Returns a URI, or a part of it, in the form in which equal URIs are the same text (RFC 3986, 6.2.2):
/// unreserved characters stand for themselves, all other encoded bytes have upper-case digits, and characters
/// outside of ASCII are encoded.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        let mut rest = bytes
            .as_slice()
            .iter()
            .map(|digit| char::from(*digit).to_digit(16));
        let encoded = match (byte, rest.next().flatten(), rest.next().flatten()) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match encoded {
            Some(decoded) => {
                bytes.nth(1);
                if is_plain(decoded) {
                    normal.push(char::from(decoded));
                } else {
                    push_encoded(decoded, &mut normal);
                }
            }
            None if byte.is_ascii() => normal.push(char::from(byte)),
            None => push_encoded(byte, &mut normal),
        }
    }
    Cow::Owned(normal)
}

fn push_encoded(byte: u8, text: &mut String) {
    text.push('%');
    let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    let digits = digits.into_iter().flatten();
    text.extend(digits.map(|digit| digit.to_ascii_uppercase()));
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
