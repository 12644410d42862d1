//! Authorization server metadata.
//!
//! Spec: RFC 8414, OpenID Connect Discovery 1.0.

#[cfg(feature = "server")]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::resource::at;
use crate::error::{AuthError, printable};
use crate::fetch::Fetcher;
use crate::scope::Scopes;

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

/// Authorization server metadata.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServerMetadata {
    /// The issuer, byte for byte as in the document.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<Url>,
    pub(crate) token_endpoint: Url,
    pub(crate) registration_endpoint: Option<Url>,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) device_authorization_endpoint: Option<Url>,
    pub(crate) supports_code: bool,
    pub(crate) supports_s256: bool,
    /// True if authorization responses contain `iss`.
    pub(crate) sends_issuer: bool,
    pub(crate) supports_client_metadata: bool,
    /// Client authentication methods that the token endpoint accepts.
    pub(crate) auth_methods: Vec<String>,
    pub(crate) signing_algorithms: Option<Vec<String>>,
    pub(crate) dpop_algorithms: Vec<String>,
    pub(crate) scopes: Scopes,
    /// No document names the endpoints: they are the default ones of revision 2025-03-26.
    #[serde(default)]
    pub(crate) is_assumed: bool,
}

/// The document as it was received. Some servers send `null` for members that they do not use.
#[derive(Deserialize)]
pub(crate) struct ServerDocument {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
    response_types_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    client_id_metadata_document_supported: Option<bool>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    dpop_signing_alg_values_supported: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

impl ServerDocument {
    /// Checks the issuer and the endpoint URLs. `source` is the document's URL.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::MetadataIssuer`] if the issuer is not `expected`, [`AuthError::Malformed`] if an
    /// endpoint is not a URL or the token endpoint is missing, and [`AuthError::Egress`] if the program may not
    /// fetch an endpoint.
    // spec: AUTH-C-07
    pub(crate) fn validate(
        self,
        expected: &str,
        source: &Url,
        fetcher: &Fetcher,
    ) -> Result<ServerMetadata, AuthError> {
        if !is_same_issuer(expected, &self.issuer) {
            return Err(AuthError::MetadataIssuer {
                expected: printable(expected),
                found: printable(&self.issuer),
            });
        }
        let endpoint = |name: &str, url: Option<String>| match url {
            None => Ok(None),
            Some(url) => {
                let invalid = |_| AuthError::malformed(source, format!("{name} is not a URL"));
                let url = Url::parse(&url).map_err(invalid)?;
                fetcher.check(&url)?;
                Ok(Some(url))
            }
        };
        let token_endpoint = endpoint("token_endpoint", self.token_endpoint)?;
        let contains = |list: &Option<Vec<String>>, value: &str| {
            list.as_ref()
                .map(|list| list.iter().any(|given| given == value))
        };
        Ok(ServerMetadata {
            issuer: self.issuer,
            authorization_endpoint: endpoint(
                "authorization_endpoint",
                self.authorization_endpoint,
            )?,
            token_endpoint: token_endpoint
                .ok_or_else(|| AuthError::malformed(source, "token_endpoint is missing"))?,
            registration_endpoint: endpoint("registration_endpoint", self.registration_endpoint)?,
            revocation_endpoint: endpoint("revocation_endpoint", self.revocation_endpoint)?,
            device_authorization_endpoint: endpoint(
                "device_authorization_endpoint",
                self.device_authorization_endpoint,
            )?,
            supports_code: contains(&self.response_types_supported, "code").unwrap_or(true),
            supports_s256: contains(&self.code_challenge_methods_supported, "S256")
                .unwrap_or(false),
            sends_issuer: self
                .authorization_response_iss_parameter_supported
                .unwrap_or(false),
            supports_client_metadata: self.client_id_metadata_document_supported.unwrap_or(false),
            auth_methods: self
                .token_endpoint_auth_methods_supported
                .unwrap_or_else(|| vec!["client_secret_basic".to_owned()]),
            signing_algorithms: self.token_endpoint_auth_signing_alg_values_supported,
            dpop_algorithms: self.dpop_signing_alg_values_supported.unwrap_or_default(),
            scopes: self.scopes_supported.iter().flatten().collect(),
            is_assumed: false,
        })
    }
}

impl ServerMetadata {
    /// The default endpoints of revision 2025-03-26, at the MCP server's origin, for servers without metadata.
    pub(crate) fn at_origin(server: &Url) -> Self {
        Self {
            issuer: server.origin().ascii_serialization(),
            authorization_endpoint: Some(at(server, "/authorize")),
            token_endpoint: at(server, "/token"),
            registration_endpoint: Some(at(server, "/register")),
            revocation_endpoint: None,
            device_authorization_endpoint: None,
            supports_code: true,
            supports_s256: true,
            sends_issuer: false,
            supports_client_metadata: false,
            auth_methods: vec![
                "none".to_owned(),
                "client_secret_post".to_owned(),
                "client_secret_basic".to_owned(),
            ],
            signing_algorithms: None,
            dpop_algorithms: Vec::new(),
            scopes: Scopes::default(),
            is_assumed: true,
        }
    }
}

/// Fetches the document at the first metadata URL of an issuer that has one, and returns its URL, too.
///
/// # Errors
///
/// Returns the error of the first URL if none has a document.
#[cfg(feature = "server")]
pub(crate) async fn fetch_document<T: DeserializeOwned>(
    fetcher: &Fetcher,
    issuer: &Url,
) -> Result<(T, Url), AuthError> {
    let mut error = None;
    for url in candidates(issuer) {
        let fetched = fetcher.get(&url).await?;
        if fetched.status.is_success() && fetched.is_json() {
            return Ok((fetched.json()?, url));
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
    use super::{ServerDocument, candidates, is_same_issuer};

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
        let document: ServerDocument = serde_json::from_str(text).unwrap();
        assert_eq!(document.scopes_supported, None);
    }

    // spec: AUTH-C-05, AUTH-C-06
    #[test]
    fn candidates_of_a_path_never_include_the_root() {
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
