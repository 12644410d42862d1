//! Headers that a caller sets.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ErrorKind;

/// An invalid header's name. The value may be a secret.
pub(crate) struct InvalidHeader(pub(crate) Box<str>);

impl From<InvalidHeader> for ErrorKind {
    fn from(InvalidHeader(name): InvalidHeader) -> Self {
        Self::Header(name)
    }
}

/// Adds a header to those with the same name.
pub(crate) fn append_header(
    headers: &mut HeaderMap,
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(), InvalidHeader> {
    let (name, value) = parse_header(name, value)?;
    headers.append(name, value);
    Ok(())
}

/// Returns a header whose value is marked as sensitive.
pub(crate) fn parse_header(
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(HeaderName, HeaderValue), InvalidHeader> {
    let shown = name.as_ref().into();
    match (name.try_into(), value.try_into()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => Err(InvalidHeader(shown)),
    }
}
