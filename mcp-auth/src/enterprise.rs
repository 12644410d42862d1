//! Enterprise-managed authorization: the identity provider of a company issues an assertion for the
//! authorization server of the MCP server (ID-JAG).
//!
//! Spec: extension `io.modelcontextprotocol/enterprise-managed-authorization`; RFC 8693; RFC 7523.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::client::{Client, ClientKind, Credential, TokenForm};
use crate::dpop::Nonces;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::metadata::server::ServerMetadata;
use crate::secret::Secret;
use crate::source::{Source, source};
use crate::token::TokenEndpoint;

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(crate) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// The identity provider of a company.
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
    token_endpoint: String,
    client_id: String,
    credential: Credential,
    subject: Source,
}

impl EnterpriseIdp {
    /// Creates the settings from the provider's token endpoint, this client's id there, and the
    /// function that gives the user's current ID token.
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
            client_id: client_id.into(),
            credential: Credential::None,
            subject: source(id_token),
        }
    }

    /// Sets the secret of this client at the provider. Default: none.
    #[must_use]
    pub fn client_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.credential = Credential::Secret(secret.into());
        self
    }

    /// The origin of the provider, which is given by the program and therefore allowed.
    pub(crate) fn token_endpoint(&self) -> &str {
        &self.token_endpoint
    }

    /// Requests the assertion for an authorization server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::TokenRejected`] when the provider refuses, and
    /// [`AuthError::Malformed`] when its assertion is for another client, server or resource.
    pub(crate) async fn assertion(
        &self,
        fetcher: &Fetcher,
        server: &ServerMetadata,
        resource: Option<&str>,
        client_id: &str,
    ) -> Result<Secret, AuthError> {
        let setting = |text: &str| AuthError::Settings(text.to_owned());
        let url = Url::parse(&self.token_endpoint)
            .map_err(|_| setting("the token endpoint of the identity provider is not a URL"))?;
        let mut provider = ServerMetadata::at_origin(&url);
        provider.token_endpoint = url.clone();
        let client = Client {
            id: self.client_id.clone(),
            kind: ClientKind::PreRegistered,
            credential: self.credential.clone(),
            method: None,
        };
        let mut form = TokenForm::new(TOKEN_EXCHANGE);
        form.set("requested_token_type", ID_JAG);
        form.set("subject_token", (self.subject)().await?);
        form.set("subject_token_type", ID_TOKEN);
        form.set("audience", server.issuer.as_str());
        if let Some(resource) = resource {
            form.set("resource", resource);
        }
        let nonces = Nonces::default();
        let endpoint = TokenEndpoint {
            fetcher,
            server: &provider,
            nonces: &nonces,
            key: None,
        };
        let tokens = endpoint.request(&client, form).await?;
        if tokens.issued_type.as_deref() != Some(ID_JAG) {
            return Err(AuthError::malformed(
                &url,
                "issued_token_type is not id-jag",
            ));
        }
        let claims = AssertionClaims::read(&tokens.access);
        let mistake = claims.map_or(Some("it is not an ID-JAG"), |claims| {
            claims.mistake(&server.issuer, client_id, resource)
        });
        match mistake {
            Some(mistake) => Err(AuthError::malformed(&url, mistake)),
            None => Ok(tokens.access),
        }
    }
}

/// The claims that bind an assertion. Its signature is checked by the authorization server.
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
    fn read(token: &Secret) -> Option<Self> {
        let mut parts = token.expose().split('.');
        let mut decode = || URL_SAFE_NO_PAD.decode(parts.next()?).ok();
        let header: Header = serde_json::from_slice(&decode()?).ok()?;
        let claims = serde_json::from_slice(&decode()?).ok()?;
        (header.typ == "oauth-id-jag+jwt").then_some(claims)
    }

    fn mistake(
        &self,
        issuer: &str,
        client_id: &str,
        resource: Option<&str>,
    ) -> Option<&'static str> {
        let bare = |text: &str| text.trim_end_matches('/').to_owned();
        let contains = |value: &Value, expected: &str| match value {
            Value::String(one) => bare(one) == bare(expected),
            Value::Array(many) => {
                let mut texts = many.iter().filter_map(Value::as_str);
                texts.any(|one| bare(one) == bare(expected))
            }
            _ => false,
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
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
