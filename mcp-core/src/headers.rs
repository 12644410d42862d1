//! HTTP headers in logs.

use std::fmt;

use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderMap, HeaderName};

/// Headers with credentials by their definition.
const CREDENTIALS: [HeaderName; 4] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SET_COOKIE];

/// Marks the values of headers with credentials as sensitive: their `Debug` prints `Sensitive`, and
/// HTTP/2 does not store them in its compression table.
pub fn mark_sensitive(headers: &mut HeaderMap) {
    for (name, value) in headers {
        if is_sensitive(name) {
            value.set_sensitive(true);
        }
    }
}

/// Returns true for the headers that are defined for credentials, and for others with a name that
/// is usual for them (`x-api-key`, `x-auth-token`).
fn is_sensitive(name: &HeaderName) -> bool {
    let words = [
        "auth", "cookie", "key", "password", "secret", "session", "token",
    ];
    CREDENTIALS.contains(name) || words.iter().any(|word| name.as_str().contains(word))
}

/// Prints the names of headers without their values.
pub struct HeaderNames<'a>(&'a HeaderMap);

impl<'a> HeaderNames<'a> {
    /// The names of `headers`.
    pub fn new(headers: &'a HeaderMap) -> Self {
        Self(headers)
    }
}

impl fmt::Debug for HeaderNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for (name, value) in self.0 {
            let sensitive = value.is_sensitive() || is_sensitive(name);
            let mark = if sensitive { " (sensitive)" } else { "" };
            list.entry(&format_args!("{name}{mark}"));
        }
        list.finish()
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{HeaderNames, mark_sensitive};

    #[test]
    fn header_names_have_no_values() {
        let mut headers = HeaderMap::new();
        for name in ["host", "authorization", "x-api-key"] {
            headers.insert(name, HeaderValue::from_static("hunter2"));
        }
        let mut marked = HeaderValue::from_static("hunter2");
        marked.set_sensitive(true);
        headers.insert("x-tenant", marked);
        let text = format!("{:?}", HeaderNames::new(&headers));
        assert!(!text.contains("hunter2"), "{text}");
        for name in [
            "host,",
            "authorization (sensitive)",
            "x-api-key (sensitive)",
            "x-tenant (sensitive)",
        ] {
            assert!(text.contains(name), "{text}");
        }
        mark_sensitive(&mut headers);
        for (name, sensitive) in [
            ("host", false),
            ("authorization", true),
            ("x-api-key", true),
        ] {
            assert_eq!(headers[name].is_sensitive(), sensitive, "{name}");
        }
    }
}
