//! Headers that a request may have once.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Error: a header that may occur once occurs several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedHeader;

/// A header that may occur once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SingleHeader<'a> {
    /// The header's first value.
    pub(crate) first: Option<&'a HeaderValue>,
    is_repeated: bool,
    /// Another value that differs from the first one.
    pub(crate) conflict: Option<&'a HeaderValue>,
}

impl<'a> SingleHeader<'a> {
    /// Looks up the header `name`.
    pub(crate) fn lookup(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut header = Self::default();
        for value in headers.get_all(name) {
            header.add(value);
        }
        header
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, value: &'a HeaderValue) {
        match self.first {
            None => self.first = Some(value),
            Some(first) => {
                self.is_repeated = true;
                if first != value {
                    self.conflict = Some(value);
                }
            }
        }
    }

    /// Returns the value, or `None` when the request does not have the header.
    ///
    /// # Errors
    ///
    /// Returns [`RepeatedHeader`] when the header occurs several times.
    pub(crate) fn value(self) -> Result<Option<&'a HeaderValue>, RepeatedHeader> {
        if self.is_repeated {
            Err(RepeatedHeader)
        } else {
            Ok(self.first)
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::{RepeatedHeader, SingleHeader};

    #[test]
    fn repeated_header_is_an_error() {
        let mut headers = HeaderMap::new();
        assert_eq!(
            SingleHeader::lookup(&headers, &header::HOST).value(),
            Ok(None)
        );
        headers.append(header::HOST, HeaderValue::from_static("a"));
        let value = HeaderValue::from_static("a");
        assert_eq!(
            SingleHeader::lookup(&headers, &header::HOST).value(),
            Ok(Some(&value))
        );
        headers.append(header::HOST, HeaderValue::from_static("b"));
        assert_eq!(
            SingleHeader::lookup(&headers, &header::HOST).value(),
            Err(RepeatedHeader)
        );
    }
}
