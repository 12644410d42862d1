//! Headers that a caller sets.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ErrorKind;

/// Adds a header to those with the same name. An invalid one sets `error`, unless it is set.
pub(crate) fn append_header(
    headers: &mut HeaderMap,
    error: &mut Option<ErrorKind>,
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) {
    match parse_header(name, value) {
        Ok((name, value)) => {
            headers.append(name, value);
        }
        Err(name) => drop(error.get_or_insert(ErrorKind::Header(name))),
    }
}

/// Returns a header whose value is marked as sensitive, or the name of an invalid header: the value may be a
/// secret.
pub(crate) fn parse_header(
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(HeaderName, HeaderValue), Box<str>> {
    let shown = name.as_ref().into();
    match (name.try_into(), value.try_into()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => Err(shown),
    }
}
