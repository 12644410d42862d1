//! Headers that a caller sets.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ErrorKind;

/// Adds a header to those with the same name.
pub(crate) fn append_header(
    headers: &mut HeaderMap,
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(), ErrorKind> {
    let (name, value) = parse_header(name, value).map_err(ErrorKind::Header)?;
    headers.append(name, value);
    Ok(())
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
