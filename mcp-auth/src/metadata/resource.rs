//! Protected resource metadata.
//!
//! Spec: RFC 9728.

use serde::Deserialize;
use url::Url;

use crate::error::{AuthError, bare, printable, shown};
use crate::fetch::Fetched;
use crate::limits::MAX_SERVERS;
use crate::scope::Scopes;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Metadata of an MCP server as a protected resource. Some servers send `null` for members that they do not use.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ResourceMetadata {
    /// The identifier, byte for byte as in the document.
    pub(crate) resource: String,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    dpop_bound_access_tokens_required: Option<bool>,
}

impl ResourceMetadata {
    /// Reads a response, and checks that the document is for `server`.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ResourceMismatch`] when it is for another server, and
    /// [`AuthError::NoMetadata`] when it names no authorization server.
    pub(crate) fn read(fetched: &Fetched, server: &Url) -> Result<Self, AuthError> {
        let metadata: Self = fetched.public_json()?;
        if !identifies(&metadata.resource, server) {
            return Err(AuthError::ResourceMismatch {
                server: shown(server),
                resource: printable(&metadata.resource),
            });
        }
        if metadata.issuers().next().is_none() {
            return Err(AuthError::NoMetadata {
                server: shown(server),
            });
        }
        Ok(metadata)
    }

    /// The issuers that are considered, byte for byte.
    pub(crate) fn issuers(&self) -> impl Iterator<Item = &String> {
        let all = self.authorization_servers.iter().flatten();
        all.take(MAX_SERVERS)
    }

    pub(crate) fn scopes(&self) -> Scopes {
        self.scopes_supported.iter().flatten().collect()
    }

    pub(crate) fn requires_dpop(&self) -> bool {
        self.dpop_bound_access_tokens_required == Some(true)
    }
}

/// Returns whether a resource identifier is that of `server`: the same origin, and the same
/// path or a parent of it.
// spec: AUTH-C-04
fn identifies(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let path = resource.path().trim_end_matches('/');
    let rest = server.path().strip_prefix(path);
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && resource.username().is_empty()
        && resource.password().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The metadata URLs of `server`, in the order in which they are tried.
///
/// They have no query. RFC 9728, section 3.1, keeps the query of the server's URL, but users put keys into it, and
/// a public document's address is logged on the way. A server whose metadata depends on it names the address in
/// its challenge, which is tried first.
// spec: AUTH-C-03
pub(crate) fn candidates(server: &Url) -> Vec<Url> {
    let path = server.path().trim_end_matches('/');
    let mut urls = Vec::new();
    if !path.is_empty() {
        urls.push(at(server, &format!("{WELL_KNOWN}{path}")));
    }
    urls.push(at(server, WELL_KNOWN));
    urls
}

/// Returns `base` with another path, and without query and fragment.
pub(crate) fn at(base: &Url, path: &str) -> Url {
    let mut url = bare(base);
    url.set_path(path);
    url
}

/// The identifier of a server that publishes no metadata.
// spec: AUTH-C-19
pub(crate) fn canonical(server: &Url) -> String {
    let mut url = bare(server);
    url.set_query(server.query());
    let text = url.as_str();
    match url.query() {
        None => text.trim_end_matches('/').to_owned(),
        Some(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::{ResourceMetadata, candidates, canonical, identifies};
    use crate::fetch::fetched;

    #[test]
    fn null_is_an_absent_member() {
        let text = r#"{
            "resource": "https://h/mcp",
            "authorization_servers": ["https://a"],
            "scopes_supported": null,
            "dpop_bound_access_tokens_required": null
        }"#;
        let fetched = fetched("https://h/", Response::new(text));
        let metadata = ResourceMetadata::read(&fetched, &"https://h/mcp".parse().unwrap());
        assert!(!metadata.unwrap().requires_dpop());
    }

    // spec: AUTH-C-03
    #[test]
    fn candidates_begin_with_the_path() {
        for (server, expected) in [
            (
                "https://h:1/a/mcp/?q#f",
                &[
                    "https://h:1/.well-known/oauth-protected-resource/a/mcp",
                    "https://h:1/.well-known/oauth-protected-resource",
                ][..],
            ),
            (
                "https://h",
                &["https://h/.well-known/oauth-protected-resource"],
            ),
        ] {
            let found = candidates(&server.parse().unwrap());
            let found: Vec<&str> = found.iter().map(url::Url::as_str).collect();
            assert_eq!(found, expected);
        }
    }

    // spec: AUTH-C-04
    #[test]
    fn identifies_same_origin_and_whole_segments() {
        let server = "https://h/a/mcp".parse().unwrap();
        for resource in [
            "https://h/a/mcp",
            "https://H:443/a/mcp/",
            "https://h/a",
            "https://h",
            "https://h/",
        ] {
            assert!(identifies(resource, &server), "{resource}");
        }
        for resource in [
            "https://evil.example/a/mcp",
            "http://h/a/mcp",
            "https://h:2/a/mcp",
            "https://h/a/mcp2",
            "https://h/a/m",
            "https://h/a/mcp/sub",
            "https://h/a/mcp#f",
            "https://u@h/a/mcp",
            "h",
        ] {
            assert!(!identifies(resource, &server), "{resource}");
        }
    }

    // spec: AUTH-C-19
    #[test]
    fn canonical_omits_default_port_and_lone_slash() {
        for (server, expected) in [
            ("HTTPS://H:443/mcp#f", "https://h/mcp"),
            ("https://h/", "https://h"),
            ("https://u:p@h/mcp/?a=b", "https://h/mcp/?a=b"),
        ] {
            assert_eq!(canonical(&server.parse().unwrap()), expected);
        }
    }
}
