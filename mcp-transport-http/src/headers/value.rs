//! The Base64 sentinel: how any string travels in a header value.
//!
//! A string that is safe as a header value goes as it is, everything else as
//! `=?base64?<Base64 of its UTF-8>?=`. The rule holds for `Mcp-Name` and `Mcp-Param-*`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

// spec: XHDR-15 – the markers are lower case and exact.
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Why a header value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A plain value contains a byte that is not printable ASCII.
    #[error(
        "it has characters that a plain header value may not have; encode it as {PREFIX}…{SUFFIX}"
    )]
    NotPlain,
    /// The text between the markers is not Base64.
    #[error("the text between {PREFIX} and {SUFFIX} is not valid Base64")]
    NotBase64,
    /// The Base64 text decodes to something that is not UTF-8.
    #[error("the Base64 text does not decode to UTF-8")]
    NotUtf8,
}

/// Writes `text` as a header value, plain where that is safe, else behind the Base64 sentinel.
///
/// ```
/// use mcp_transport_http::headers::encode;
///
/// assert_eq!(encode("get weather"), "get weather");
/// assert_eq!(encode("Zürich"), "=?base64?WsO8cmljaA==?=");
/// ```
// spec: XHDR-13
#[inline]
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
    // Base64 text is always a legal header value, so the fallback is never taken.
    HeaderValue::try_from(encoded).unwrap_or(HeaderValue::from_static(""))
}

/// Reads a header value: surrounding blanks are dropped, the Base64 sentinel is undone.
///
/// ```
/// use mcp_transport_http::headers::decode;
///
/// assert_eq!(decode(b"  add ").as_deref(), Ok("add"));
/// assert_eq!(decode(b"=?base64?WsO8cmljaA==?=").as_deref(), Ok("Zürich"));
/// assert!(decode(b"=?base64?WsO8cmljaA?=").is_err());
/// ```
///
/// # Errors
///
/// [`ValueError`] when a plain value is not printable ASCII, or when the encoded one is not
/// canonical Base64 of UTF-8.
// spec: XHDR-15, XHDR-16
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, ValueError> {
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

/// Drops blanks and tabs at both ends, which belong to the header line and not to the value.
// spec: HTTP-SM-09
pub(crate) fn trim_blanks(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Digits, and nothing else.
#[cfg(feature = "server")]
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let (&first, rest) = digits.split_first()?;
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    rest.iter().try_fold(digit(first)?, |number, &byte| {
        number.checked_mul(10)?.checked_add(digit(byte)?)
    })
}

fn is_plain(text: &str) -> bool {
    // spec: XHDR-14 – a plain value that looks encoded is encoded.
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    !looks_encoded && !is_padded && text.bytes().all(is_printable)
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests;
