//! Several headers found in one walk, which costs less than looking each one up.

use http::{HeaderMap, HeaderName, HeaderValue};

/// What a request says in one header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found<'a> {
    /// The first value.
    pub(crate) first: Option<&'a HeaderValue>,
    several: bool,
}

/// A header that may have one value has several.
pub(crate) struct Twice;

impl<'a> Found<'a> {
    /// The one value, or none.
    pub(crate) fn only(self) -> Result<Option<&'a HeaderValue>, Twice> {
        match self.several {
            false => Ok(self.first),
            true => Err(Twice),
        }
    }
}

/// Finds headers by their names.
pub(crate) fn find<'a, const N: usize>(
    headers: &'a HeaderMap,
    names: &[HeaderName; N],
) -> [Found<'a>; N] {
    let mut found = [Found::default(); N];
    for (name, value) in headers {
        let places = names.iter().zip(&mut found);
        if let Some((_, place)) = places.into_iter().find(|(wanted, _)| *wanted == name) {
            place.several = place.first.is_some();
            place.first.get_or_insert(value);
        }
    }
    found
}
