//! The HTTP head of a request, values that layers attach to it, and its headers in logs.

use std::fmt;

use http::request::Parts;
use http::{HeaderMap, HeaderName};

use crate::connection::{ClientAddress, Transport};

/// The HTTP head of a request, and values that layers attach to it, found by their type.
///
/// [`get`](Self::get) also finds the values that the web server's layers have inserted into the
/// HTTP request's extensions. A value that was inserted here hides one of the same type there.
///
/// # Examples
///
/// ```
/// use mcp::core::Extensions;
///
/// let request = http::Request::builder().uri("/mcp").extension("of a layer");
/// let (parts, ()) = request.body(())?.into_parts();
/// let mut extensions = Extensions::from(Box::new(parts));
/// extensions.insert(7_u8);
/// assert_eq!(extensions.get(), Some(&"of a layer"));
/// assert_eq!(extensions.get(), Some(&7_u8));
/// assert_eq!(extensions.parts().map(|parts| parts.uri.path()), Some("/mcp"));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    parts: Option<Box<Parts>>,
    /// The transport of the request. `None`: unknown, or in the same process.
    pub transport: Option<Transport>,
    /// The client address. `None` where the transport does not know it.
    // A field: a value of the map needs three allocations.
    pub client_address: Option<ClientAddress>,
    map: http::Extensions,
}

impl Extensions {
    /// Returns the head of the HTTP request. `None` over transports without HTTP.
    pub fn parts(&self) -> Option<&Parts> {
        self.parts.as_deref()
    }

    /// Returns the value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let of_request = || self.parts.as_ref()?.extensions.get();
        self.map.get().or_else(of_request)
    }

    /// Inserts a value. Returns the value of this type that was inserted here before.
    pub fn insert<T: Clone + Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        self.map.insert(value)
    }

    /// Removes and returns this type's value.
    pub fn remove<T: Send + Sync + 'static>(&mut self) -> Option<T> {
        let inserted = self.map.remove();
        inserted.or_else(|| self.parts.as_mut()?.extensions.remove())
    }
}

/// Omits the URI's query and the header values, which may be secrets.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Extensions");
        if let Some(parts) = &self.parts {
            debug
                .field("method", &parts.method)
                .field("path", &parts.uri.path())
                .field("headers", &HeaderNames(&parts.headers));
        }
        debug.finish_non_exhaustive()
    }
}

impl From<Box<Parts>> for Extensions {
    fn from(parts: Box<Parts>) -> Self {
        Self {
            parts: Some(parts),
            transport: Some(Transport::Http),
            ..Self::default()
        }
    }
}

/// Prints the names of headers without their values.
pub(crate) struct HeaderNames<'a>(pub(crate) &'a HeaderMap);

impl fmt::Debug for HeaderNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.keys().map(HeaderName::as_str);
        f.debug_list().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Request;
    use http::request::Parts;
    use mcp_types::{Page, ProtocolVersion};

    use super::Extensions;
    use crate::call::Exchange;
    use crate::connection::ClientContext;
    use crate::message::Call;

    fn parts(path: &str) -> Parts {
        let request = Request::builder().uri(path).extension("of the request");
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn inserted_value_hides_the_one_in_the_request() {
        let mut extensions = Extensions::from(Box::new(parts("/a")));
        assert_eq!(extensions.insert("inserted"), None);
        assert_eq!(extensions.get(), Some(&"inserted"));
        assert_eq!(extensions.insert("again"), Some("inserted"));
        assert_eq!(extensions.remove(), Some("again"));
        assert_eq!(extensions.remove(), Some("of the request"));
        assert_eq!(extensions.remove::<&str>(), None);
    }

    #[test]
    fn debug_has_no_header_values() {
        let request = Request::builder()
            .uri("https://example.com/mcp?token=hunter2")
            .header("authorization", "Bearer hunter2")
            .header("cookie", "id=hunter2")
            .header("x-tenant", "hunter2")
            .body(())
            .unwrap();
        let mut exchange = Exchange::new(
            Call::ListTools(Page::default()),
            Arc::new(ClientContext::new(ProtocolVersion::LATEST)),
        );
        exchange.extensions = Box::new(request.into_parts().0).into();
        for text in [
            format!("{exchange:?}"),
            format!("{:#?}", exchange.extensions),
        ] {
            assert!(!text.contains("hunter2"), "{text}");
            for shown in ["/mcp", "authorization", "cookie", "x-tenant"] {
                assert!(text.contains(shown), "{text}");
            }
        }
    }
}
