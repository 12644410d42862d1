//! What one walk over the headers finds, which costs less than looking each one up.

use http::HeaderValue;

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
    /// Here is one.
    pub(crate) fn add(&mut self, value: &'a HeaderValue) {
        self.several = self.first.is_some();
        self.first.get_or_insert(value);
    }

    /// The one value, or none.
    pub(crate) fn only(self) -> Result<Option<&'a HeaderValue>, Twice> {
        match self.several {
            false => Ok(self.first),
            true => Err(Twice),
        }
    }
}
