//! The Base64 sentinel, which allows any string as a header value.
//!
//! A string that is safe as a header value is sent unchanged, every other string as
//! `=?base64?<Base64 of its UTF-8>?=`. The rule holds for `Mcp-Name` and `Mcp-Param-*`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

// spec: XHDR-15 – the markers are lower case and compared exactly.
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Error of [`decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    /// A plain value contains a byte that is not printable ASCII.
    #[error(
        "the value has characters that are not allowed in a plain header value; encode it as \
         {PREFIX}…{SUFFIX}"
    )]
    NotPlain,
    /// The characters between the markers are not Base64.
    #[error("the characters between {PREFIX} and {SUFFIX} are not valid Base64")]
    NotBase64,
    /// The decoded bytes are not UTF-8.
    #[error("the Base64 value does not decode to UTF-8")]
    NotUtf8,
}

/// Encodes `text` as a header value: unchanged where that is safe, else with the Base64 sentinel.
///
/// ```
/// use mcp::http::headers::encode;
///
/// assert_eq!(encode("get weather"), "get weather");
/// assert_eq!(encode("Zürich"), "=?base64?WsO8cmljaA==?=");
/// ```
// spec: XHDR-13
pub fn encode(text: &str) -> HeaderValue {
    if is_plain(text)
        && let Ok(value) = HeaderValue::from_str(text)
    {
        return value;
    }
    let mut encoded =
        String::with_capacity(PREFIX.len() + text.len().div_ceil(3) * 4 + SUFFIX.len());
    encoded.push_str(PREFIX);
    STANDARD.encode_string(text, &mut encoded);
    encoded.push_str(SUFFIX);
    // Base64 is always a legal header value: the fallback is not reachable.
    HeaderValue::try_from(encoded).unwrap_or(HeaderValue::from_static(""))
}

/// Decodes a header value: removes surrounding blanks and the Base64 sentinel.
///
/// # Errors
///
/// Returns [`ValueError`] when a plain value is not printable ASCII, or when an encoded value is not
/// canonical Base64 of UTF-8.
// spec: XHDR-15, XHDR-16
pub(crate) fn decode(value: &[u8]) -> Result<Cow<'_, str>, ValueError> {
    let value = trim_blanks(value);
    if let Some(encoded) = value
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()))
    {
        let bytes = STANDARD
            .decode(encoded)
            .map_err(|_| ValueError::NotBase64)?;
        return String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|_| ValueError::NotUtf8);
    }
    if !value
        .iter()
        .all(|&byte| byte == b'\t' || is_printable(byte))
    {
        return Err(ValueError::NotPlain);
    }
    std::str::from_utf8(value)
        .map(Cow::Borrowed)
        .map_err(|_| ValueError::NotPlain)
}

/// Removes blanks and tabs at both ends. They belong to the header line, not to the value.
// spec: HTTP-SM-09
pub(crate) fn trim_blanks(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Returns the media type in a header value, without its parameters.
pub(crate) fn essence(value: &[u8]) -> &[u8] {
    trim_blanks(value.split(|&byte| byte == b';').next().unwrap_or(value))
}

/// Parses an unsigned number that consists of decimal digits only, without a sign.
pub(crate) fn parse_decimal(digits: &[u8]) -> Option<u64> {
    let (&first, rest) = digits.split_first()?;
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    rest.iter().try_fold(digit(first)?, |number, &byte| {
        number.checked_mul(10)?.checked_add(digit(byte)?)
    })
}

fn is_plain(text: &str) -> bool {
    // spec: XHDR-14 – a plain value that looks like an encoded one is encoded.
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    !looks_encoded && !is_padded && text.bytes().all(is_printable)
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_safe_text_is_unchanged() {
        for text in [
            "",
            "add",
            "get weather",
            "a?b=c",
            "SGVsbG8=",
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
        ] {
            assert_eq!(encode(text), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn encode_unsafe_text_uses_base64() {
        // spec: XHDR-13, XHDR-14
        let table = [
            ("Zürich", "=?base64?WsO8cmljaA==?="),
            (" padded", "=?base64?IHBhZGRlZA==?="),
            ("padded ", "=?base64?cGFkZGVkIA==?="),
            ("\ttab", "=?base64?CXRhYg==?="),
            ("in\tside", "=?base64?aW4Jc2lkZQ==?="),
            ("line\nbreak", "=?base64?bGluZQpicmVhaw==?="),
            (
                "=?base64?SGVsbG8=?=",
                "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?=",
            ),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("\u{7f}", "=?base64?fw==?="),
        ];
        for (text, header) in table {
            assert_eq!(encode(text), header, "{text:?}");
            assert_eq!(decode(header.as_bytes()).as_deref(), Ok(text), "{header}");
        }
    }

    #[test]
    fn encode_then_decode_returns_every_character() {
        for code in (0..0x3000)
            .chain(0x1_F600..0x1_F610)
            .filter_map(char::from_u32)
        {
            let text = format!("{code}x{code}");
            assert_eq!(
                decode(encode(&text).as_bytes()).as_deref(),
                Ok(text.as_str()),
                "{code:?}"
            );
        }
    }

    #[test]
    fn decode_removes_surrounding_blanks() {
        // spec: HTTP-SM-09
        for value in [" add", "add\t", " \t add \t "] {
            assert_eq!(decode(value.as_bytes()).as_deref(), Ok("add"));
        }
        assert_eq!(decode(b" \t ").as_deref(), Ok(""));
        assert_eq!(decode(b" =?base64?YWRk?= ").as_deref(), Ok("add"));
    }

    #[test]
    fn decode_compares_markers_exactly() {
        // spec: XHDR-15
        for value in [
            "=?BASE64?YWRk?=",
            "=?base64?YWRk",
            "=?base64?YWRk=?",
            "x=?base64?YWRk?=",
        ] {
            assert_eq!(decode(value.as_bytes()).as_deref(), Ok(value));
        }
        assert_eq!(
            decode(b"=?base64?YWRk?==?=").as_deref(),
            Err(&ValueError::NotBase64)
        );
        assert_eq!(decode(b"=?base64??=").as_deref(), Ok(""));
        // Too short for both markers.
        assert_eq!(decode(b"=?base64?=").as_deref(), Ok("=?base64?="));
    }

    #[test]
    fn decode_invalid_value_is_an_error() {
        // spec: XHDR-16
        let table: [(&[u8], ValueError); 7] = [
            (b"=?base64?SGVsbG8?=", ValueError::NotBase64),
            (b"=?base64?SGVs!!!bG8=?=", ValueError::NotBase64),
            (b"=?base64?SGVsbG9=?=", ValueError::NotBase64),
            (b"=?base64?/w==?=", ValueError::NotUtf8),
            (b"caf\xc3\xa9", ValueError::NotPlain),
            (b"\xff", ValueError::NotPlain),
            (b"a\x7fb", ValueError::NotPlain),
        ];
        for (value, error) in table {
            assert_eq!(decode(value), Err(error), "{}", value.escape_ascii());
        }
    }
}
