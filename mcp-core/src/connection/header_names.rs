//! HTTP headers in logs.

use std::fmt;

use http::{HeaderMap, HeaderName};

/// Prints the names of headers without their values.
pub(crate) struct HeaderNames<'a>(pub(crate) &'a HeaderMap);

impl fmt::Debug for HeaderNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.keys().map(HeaderName::as_str);
        f.debug_list().entries(names).finish()
    }
}
