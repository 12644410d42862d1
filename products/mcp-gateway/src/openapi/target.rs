//! The parts of all requests: base URL, headers and query of the settings.

use http::{HeaderMap, HeaderName, Uri};

/// The headers that a request sets itself, or that have a meaning for a connection only.
const RESERVED: [&str; 15] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The parts of all requests.
#[derive(Default)]
pub(super) struct Target {
    /// Relative until the user has set it.
    pub(super) base: Uri,
    pub(super) headers: HeaderMap,
    pub(super) query: Vec<(String, String)>,
    /// The header of calls that is passed on.
    pub(super) forwarded: Option<HeaderName>,
}

impl Target {
    /// Returns whether a header has its value from the settings or from the request itself.
    pub(super) fn sets_header(&self, name: &str) -> bool {
        let name = canonical_name(name);
        let set = self.headers.keys().chain(&self.forwarded);
        let set = set.map(|set| set.as_str());
        set.chain(RESERVED).any(|set| canonical_name(set) == name)
    }

    /// Returns whether a query parameter has its value from the settings.
    pub(super) fn sets_query(&self, name: &str) -> bool {
        let name = canonical_name(name);
        self.query
            .iter()
            .any(|(set, _)| canonical_name(set) == name)
    }
}

/// Returns the form that two names share if a service may read them as the same: frameworks ignore case, leading
/// space and brackets, and read `.`, `-` and space as `_`.
pub(super) fn canonical_name(name: &str) -> String {
    let name = name.trim_start().chars();
    let name = name.filter(|c| !matches!(c, '[' | ']'));
    let name = name.map(|c| match c {
        '.' | '-' | ' ' | '+' => '_',
        c => c,
    });
    name.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue, Uri};

    use super::Target;

    #[test]
    fn names_that_servers_take_for_the_same_are_set() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", HeaderValue::from_static("k"));
        let target = Target {
            base: Uri::from_static("https://a"),
            headers,
            query: vec![("api_key".into(), "k".into())],
            forwarded: Some(HeaderName::from_static("x-caller")),
        };
        for name in [
            "api_key",
            "API_KEY",
            "api.key",
            " api_key",
            "api_key[]",
            "api-key",
        ] {
            assert!(target.sets_query(name), "{name}");
        }
        assert!(!target.sets_query("api_keys"));
        for name in [
            "X-Api-Key",
            "X_Caller",
            "x_api_key",
            "Host",
            "Transfer_Encoding",
            "Accept",
            "Content-Type",
        ] {
            assert!(target.sets_header(name), "{name}");
        }
        assert!(!target.sets_header("X-Trace"));
    }
}
