//! Authorization server metadata.
//!
//! Spec: RFC 8414, OpenID Connect Discovery 1.0.

use serde::{Deserialize, Serialize};
use url::Url;

use super::resource::at;
use crate::error::{AuthError, printable};
use crate::fetch::{Fetched, Fetcher};

/// Compares issuers byte for byte. For an issuer without a path, a trailing `/` makes no difference: several
/// large providers publish theirs with one.
// spec: AUTH-C-23
pub(crate) fn is_same_issuer(expected: &str, found: &str) -> bool {
    if expected == found {
        return true;
    }
    let is_root = Url::parse(expected).is_ok_and(|url| url.path() == "/");
    let bare = |text: &str| text.strip_suffix('/').unwrap_or(text).to_owned();
    is_root && bare(expected) == bare(found)
}

/// Authorization server metadata, as in its document. Some servers send `null` for members that they do not use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServerMetadata {
    /// The issuer, byte for byte.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<Url>,
    pub(crate) token_endpoint: Url,
    pub(crate) registration_endpoint: Option<Url>,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) device_authorization_endpoint: Option<Url>,
    pub(crate) response_types_supported: Option<Vec<String>>,
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    pub(crate) authorization_response_iss_parameter_supported: Option<bool>,
    pub(crate) client_id_metadata_document_supported: Option<bool>,
    // The aliases are the names in older records of stores.
    #[serde(alias = "auth_methods")]
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(alias = "signing_algorithms")]
    pub(crate) token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    pub(crate) dpop_signing_alg_values_supported: Option<Vec<String>>,
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// No document names the endpoints: they are the default ones of revision 2025-03-26.
    #[serde(skip)]
    pub(crate) is_assumed: bool,
}

impl ServerMetadata {
    /// Reads a response, and checks the issuer and the endpoint URLs.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::MetadataIssuer`] if the issuer is not `expected`, [`AuthError::Malformed`] if an
    /// endpoint is not a URL or the token endpoint is missing, and [`AuthError::Egress`] if the program may not
    /// fetch an endpoint.
    // spec: AUTH-C-07
    pub(crate) fn read(
        fetched: &Fetched,
        expected: &str,
        fetcher: &Fetcher,
    ) -> Result<Self, AuthError> {
        let server: Self = fetched.public_json()?;
        if !is_same_issuer(expected, &server.issuer) {
            return Err(AuthError::MetadataIssuer {
                expected: printable(expected),
                found: printable(&server.issuer),
            });
        }
        let further = [
            &server.authorization_endpoint,
            &server.registration_endpoint,
            &server.revocation_endpoint,
            &server.device_authorization_endpoint,
        ];
        fetcher.check(&server.token_endpoint)?;
        for endpoint in further.into_iter().flatten() {
            fetcher.check(endpoint)?;
        }
        Ok(server)
    }

    /// The default endpoints of revision 2025-03-26, at the MCP server's origin, for servers without metadata.
    pub(crate) fn at_origin(server: &Url) -> Self {
        let methods = ["none", "client_secret_post", "client_secret_basic"];
        Self {
            issuer: server.origin().ascii_serialization(),
            // spec: AUTH-C-33
            authorization_endpoint: Some(at(server, "/authorize")),
            token_endpoint: at(server, "/token"),
            registration_endpoint: Some(at(server, "/register")),
            revocation_endpoint: None,
            device_authorization_endpoint: None,
            response_types_supported: None,
            code_challenge_methods_supported: Some(vec![S256.to_owned()]),
            authorization_response_iss_parameter_supported: None,
            client_id_metadata_document_supported: None,
            token_endpoint_auth_methods_supported: Some(methods.map(str::to_owned).to_vec()),
            token_endpoint_auth_signing_alg_values_supported: None,
            dpop_signing_alg_values_supported: None,
            scopes_supported: None,
            is_assumed: true,
        }
    }

    /// Returns whether the token endpoint lists an authentication method of clients.
    pub(crate) fn supports_method(&self, name: &str) -> bool {
        let listed = lists(&self.token_endpoint_auth_methods_supported, name);
        listed.unwrap_or(name == "client_secret_basic")
    }
}

/// The PKCE method.
pub(crate) const S256: &str = "S256";

/// Returns whether a member lists a value. `None` without the member.
pub(crate) fn lists(member: &Option<Vec<String>>, value: &str) -> Option<bool> {
    let values = member.as_ref()?;
    Some(values.iter().any(|given| given == value))
}

/// Fetches the document at the first metadata URL of an issuer that has one.
///
/// # Errors
///
/// Returns the error of the first URL if none has a document.
#[cfg(feature = "server")]
pub(crate) async fn fetch_document(fetcher: &Fetcher, issuer: &Url) -> Result<Fetched, AuthError> {
    let mut error = None;
    for url in candidates(issuer) {
        let fetched = fetcher.get(&url).await?;
        if fetched.status.is_success() && fetched.is_json() {
            return Ok(fetched);
        }
        error.get_or_insert_with(|| fetched.unexpected());
    }
    Err(error.unwrap_or(AuthError::Interrupted))
}

/// Returns the metadata URLs of an issuer, in the order in which they are tried. For an issuer with a path, none
/// of them is that of the issuer at the root.
// spec: AUTH-C-05, AUTH-C-06
pub(crate) fn candidates(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut urls = vec![
        at(
            issuer,
            &format!("/.well-known/oauth-authorization-server{path}"),
        ),
        at(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        urls.push(at(
            issuer,
            &format!("{path}/.well-known/openid-configuration"),
        ));
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::{ServerMetadata, candidates, is_same_issuer};

    #[test]
    fn null_is_an_absent_member() {
        let text = r#"{
            "issuer": "https://h",
            "token_endpoint": "https://h/token",
            "registration_endpoint": null,
            "authorization_response_iss_parameter_supported": null,
            "client_id_metadata_document_supported": null,
            "dpop_signing_alg_values_supported": null,
            "scopes_supported": null
        }"#;
        let document: ServerMetadata = serde_json::from_str(text).unwrap();
        assert_eq!(document.scopes_supported, None);
    }

    // spec: AUTH-C-33
    #[test]
    fn default_endpoints_are_at_the_server_origin() {
        let server = ServerMetadata::at_origin(&"https://h:8443/v1/mcp?a=b".parse().unwrap());
        assert_eq!(server.issuer, "https://h:8443");
        let endpoints = [
            server.authorization_endpoint.unwrap(),
            server.token_endpoint,
            server.registration_endpoint.unwrap(),
        ];
        let expected = ["authorize", "token", "register"];
        assert_eq!(
            endpoints.map(String::from),
            expected.map(|path| format!("https://h:8443/{path}"))
        );
    }

    // spec: AUTH-C-05, AUTH-C-06
    #[test]
    fn candidates_for_a_path_never_include_the_root() {
        let paths = |issuer: &str| {
            let urls = candidates(&issuer.parse().unwrap());
            let paths = urls.iter().map(|url| url.path().to_owned());
            paths.collect::<Vec<_>>()
        };
        assert_eq!(
            paths("https://h"),
            [
                "/.well-known/oauth-authorization-server",
                "/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            paths("https://h/tenant1/"),
            [
                "/.well-known/oauth-authorization-server/tenant1",
                "/.well-known/openid-configuration/tenant1",
                "/tenant1/.well-known/openid-configuration"
            ]
        );
    }

    // spec: AUTH-C-23
    #[test]
    fn issuer_matches_with_root_slash_only() {
        for (expected, found, is_same) in [
            ("https://h", "https://h", true),
            ("https://h", "https://h/", true),
            ("https://h/", "https://h", true),
            ("https://h/a", "https://h/a/", false),
            ("https://h", "https://H", false),
            ("https://h", "https://h:443", false),
            ("https://h", "https://h//", false),
        ] {
            assert_eq!(is_same_issuer(expected, found), is_same, "{found}");
        }
    }
}
