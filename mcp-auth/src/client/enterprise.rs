//! Enterprise-managed authorization: a company's identity provider issues an assertion (ID-JAG), which the
//! MCP server's authorization server accepts in place of a login.
//!
//! Spec: extension `io.modelcontextprotocol/enterprise-managed-authorization`; RFC 8693; RFC 7523.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::client::source::{Source, source};
use crate::error::AuthError;
use crate::fetch::{Fetcher, TokenForm};
use crate::metadata::server::ServerMetadata;
use crate::oauth_client::{Client, Credential};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::token::TokenEndpoint;

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(crate) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// A company's identity provider, which issues assertions in exchange for the user's ID token.
///
/// # Examples
///
/// ```
/// use mcp::auth::{EnterpriseIdp, OAuth, Secret};
///
/// let id_token = || async { Ok::<_, std::io::Error>("the ID token of the user".to_owned()) };
/// let idp = EnterpriseIdp::new("https://idp.example/token", "my-agent", id_token);
/// let oauth = OAuth::enterprise(idp).client_secret("my-agent-at-mcp", Secret::new("…"));
/// ```
#[derive(Clone)]
pub struct EnterpriseIdp {
    /// The provider's token endpoint. The program sets it, so requests to its origin are allowed.
    pub(crate) token_endpoint: String,
    client: Client,
    subject: Source,
}

impl EnterpriseIdp {
    /// Creates the settings from the provider's token endpoint, this client's id at the provider, and a
    /// function that returns the user's current ID token.
    pub fn new<F, R, T, E>(
        token_endpoint: impl Into<String>,
        client_id: impl Into<String>,
        id_token: F,
    ) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Secret>,
        E: fmt::Display,
    {
        Self {
            token_endpoint: token_endpoint.into(),
            client: Client::given(client_id, Credential::None),
            subject: source(id_token),
        }
    }

    /// Sets this client's secret at the provider. Default: none.
    #[must_use]
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.client.credential = Credential::Secret(secret.into());
        self
    }

    /// Requests an assertion for `client_id` at an authorization server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::TokenRejected`] when the provider refuses, [`AuthError::Malformed`] when its
    /// assertion is for another client, server or resource, and the error of the function that returns
    /// the ID token.
    // spec: EMA-02
    pub(crate) async fn assertion(
        &self,
        fetcher: &Fetcher,
        server: &ServerMetadata,
        resource: Option<&str>,
        client_id: &str,
    ) -> Result<Secret, AuthError> {
        let invalid = "the token endpoint of the identity provider is not a URL";
        let url = Url::parse(&self.token_endpoint).map_err(|_| AuthError::settings(invalid))?;
        let mut provider = ServerMetadata::at_origin(&url);
        provider.token_endpoint = url.clone();
        let mut form = TokenForm::new(TOKEN_EXCHANGE);
        form.set("requested_token_type", ID_JAG);
        form.set("subject_token", (self.subject)().await?);
        form.set("subject_token_type", ID_TOKEN);
        form.set("audience", server.issuer.as_str());
        form.set_resource(resource);
        let endpoint = TokenEndpoint {
            fetcher,
            server: &provider,
            key: None,
            requested: &Scopes::default(),
        };
        let tokens = endpoint.request(&self.client, form).await?;
        if tokens.issued_type.as_deref() != Some(ID_JAG) {
            return Err(AuthError::malformed(
                &url,
                "issued_token_type is not id-jag",
            ));
        }
        let claims = AssertionClaims::read(&tokens.access)
            .ok_or_else(|| AuthError::malformed(&url, "it is not an ID-JAG"))?;
        match claims.mistake(&server.issuer, client_id, resource) {
            Some(mistake) => Err(AuthError::malformed(&url, mistake)),
            None => Ok(tokens.access),
        }
    }
}

/// The claims that say for whom an assertion is. The authorization server checks the signature.
#[derive(Deserialize)]
struct AssertionClaims {
    aud: Value,
    client_id: String,
    resource: Option<Value>,
}

#[derive(Deserialize)]
struct Header {
    typ: String,
}

impl AssertionClaims {
    /// Reads the claims of a JWT. Returns `None` if it is not an ID-JAG.
    fn read(token: &Secret) -> Option<Self> {
        let mut parts = token.expose().split('.');
        let mut decode = || URL_SAFE_NO_PAD.decode(parts.next()?).ok();
        let header: Header = serde_json::from_slice(&decode()?).ok()?;
        let claims = serde_json::from_slice(&decode()?).ok()?;
        (header.typ == "oauth-id-jag+jwt").then_some(claims)
    }

    /// Returns what is wrong with the claims. Ignores slashes at the end of URLs.
    fn mistake(
        &self,
        issuer: &str,
        client_id: &str,
        resource: Option<&str>,
    ) -> Option<&'static str> {
        let is_same = |value: &Value, expected: &str| {
            let text = value.as_str().map(|text| text.trim_end_matches('/'));
            text == Some(expected.trim_end_matches('/'))
        };
        let contains = |value: &Value, expected: &str| match value {
            Value::Array(values) => values.iter().any(|value| is_same(value, expected)),
            value => is_same(value, expected),
        };
        if !contains(&self.aud, issuer) {
            return Some("the assertion is for another authorization server");
        }
        if self.client_id != client_id {
            return Some("the assertion is for another client");
        }
        match (&self.resource, resource) {
            (Some(given), Some(expected)) if !contains(given, expected) => {
                Some("the assertion is for another resource")
            }
            _ => None,
        }
    }
}

impl fmt::Debug for EnterpriseIdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterpriseIdp")
            .field("token_endpoint", &self.token_endpoint)
            .field("client_id", &self.client.id)
            .finish_non_exhaustive()
    }
}
