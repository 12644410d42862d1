//! One value of a message, as text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

use super::Scanner;

/// The text of a JSON value, borrowed from the message in which it came and checked with it.
///
/// Nothing is decoded until somebody asks for it.
///
/// # Examples
///
/// ```
/// use mcp_types::Message;
///
/// let text = br#"{"jsonrpc":"2.0","id":1,"result":{"tools": [], "ttlMs": 5}}"#;
/// let Message::Response(response) = Message::parse(text)? else { unreachable!() };
/// let result = response.outcome.unwrap();
/// assert_eq!(result.as_str(), r#"{"tools": [], "ttlMs": 5}"#);
///
/// let names: Vec<_> = result.members().map(|(name, _)| name).collect();
/// assert_eq!(names, ["tools", "ttlMs"]);
/// # Ok::<(), mcp_types::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawJson<'a>(&'a str);

impl<'a> RawJson<'a> {
    /// Takes text that was found to be a value.
    pub(super) fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// It is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// It is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Reads the value as `T`.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the value does not fit `T`.
    pub fn read<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.0)
    }

    /// The text of a string, borrowed unless it has escapes; `None` for other values.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        match inner.as_bytes().contains(&b'\\') {
            false => Some(Cow::Borrowed(inner)),
            true => self.read().ok().map(Cow::Owned),
        }
    }

    /// The members of an object in their order, a repeated one every time; none for other values. A
    /// name whose escapes make no character is given as it stands.
    pub fn members(self) -> impl Iterator<Item = (Cow<'a, str>, RawJson<'a>)> + Clone {
        let mut scanner = Scanner::new(self.0);
        let is_object = scanner.expect(b'{').is_ok();
        Members {
            scanner: is_object.then_some(scanner),
            first: true,
        }
    }
}

impl fmt::Debug for RawJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for RawJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[derive(Clone)]
struct Members<'a> {
    scanner: Option<Scanner<'a>>,
    first: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, RawJson<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let scanner = self.scanner.as_mut()?;
        let first = std::mem::replace(&mut self.first, false);
        // The text was checked: only its end is nothing.
        let name = scanner.name(first).ok().flatten()?;
        let value = scanner.value().ok()?;
        Some((name.decode_or_keep(), value))
    }
}
