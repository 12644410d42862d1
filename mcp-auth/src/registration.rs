//! Dynamic client registration.
//!
//! Spec: RFC 7591.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::client::{ClientKind, ClientRecord};
use crate::document::{AuthDocument, DocumentKind};
use crate::error::AuthError;
use crate::event::{AuthEvent, EventSender};
use crate::fetch::Fetcher;
use crate::metadata::server::ServerMetadata;
use crate::scope::Scopes;
use crate::secret::Secret;

/// The description of a client for its registration.
pub(crate) struct Registration<'a> {
    pub(crate) client_name: &'a str,
    /// `None` for logins on another device.
    pub(crate) redirect_uri: Option<&'a str>,
    pub(crate) scopes: &'a Scopes,
    pub(crate) dpop: bool,
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<Secret>,
    client_secret_expires_at: Option<f64>,
    token_endpoint_auth_method: Option<String>,
}

impl Registration<'_> {
    /// Registers the client.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::RegistrationRejected`] when the server refuses.
    pub(crate) async fn register(
        &self,
        fetcher: &Fetcher,
        server: &ServerMetadata,
        endpoint: &Url,
        events: &EventSender,
    ) -> Result<ClientRecord, AuthError> {
        let body = Value::Object(self.body(server)).to_string();
        let fetched = fetcher.post_json(endpoint, body.into()).await?;
        if !matches!(fetched.status, StatusCode::OK | StatusCode::CREATED) {
            if fetched.is_transient() {
                return Err(fetched.transient_error());
            }
            let code = fetched.failure();
            return Err(AuthError::RegistrationRejected(code));
        }
        if let Some(document) = AuthDocument::new(DocumentKind::Registration, &fetched) {
            events.send(AuthEvent::Fetched { document });
        }
        let registered: Registered = fetched.json()?;
        if registered.client_id.is_empty() {
            return Err(AuthError::malformed(endpoint, "client_id is empty"));
        }
        // Zero means that the secret does not expire.
        let expires_at = registered.client_secret_expires_at.filter(|&at| at > 0.0);
        Ok(ClientRecord {
            id: registered.client_id,
            kind: ClientKind::Dynamic,
            secret: registered.client_secret,
            method: registered.token_endpoint_auth_method,
            redirect_uri: self.redirect_uri.map(str::to_owned),
            expires_at: expires_at.map(|at| at as u64),
            token_origin: server.token_endpoint.origin().ascii_serialization(),
        })
    }

    fn body(&self, server: &ServerMetadata) -> Map<String, Value> {
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
        set("client_name", json!(self.client_name));
        let (grant, kind) = match self.redirect_uri {
            Some(redirect_uri) => {
                set("redirect_uris", json!([redirect_uri]));
                set("response_types", json!(["code"]));
                ("authorization_code", application_type(redirect_uri))
            }
            None => {
                // The default response type is `code`, which demands a redirect URI.
                set("redirect_uris", json!([]));
                set("response_types", json!([]));
                ("urn:ietf:params:oauth:grant-type:device_code", "native")
            }
        };
        set("grant_types", json!([grant, "refresh_token"]));
        set(
            "token_endpoint_auth_method",
            json!(self.auth_method(server)),
        );
        set("application_type", json!(kind));
        set("software_id", json!(env!("CARGO_PKG_NAME")));
        set("software_version", json!(env!("CARGO_PKG_VERSION")));
        if !self.scopes.is_empty() {
            set("scope", json!(self.scopes.to_string()));
        }
        if self.dpop {
            set("dpop_bound_access_tokens", json!(true));
        }
        body
    }

    /// A public client where the server allows it: the secret of an installed program is none.
    fn auth_method(&self, server: &ServerMetadata) -> &'static str {
        let known = ["none", "client_secret_basic", "client_secret_post"];
        let supported = |name: &&&str| server.auth_methods.iter().any(|given| given == **name);
        known.iter().find(supported).copied().unwrap_or("none")
    }
}

/// Programs receive the redirect on this machine or by a scheme of their own, web sites by https.
fn application_type(redirect_uri: &str) -> &'static str {
    let url = Url::parse(redirect_uri).ok();
    let is_web = url.is_some_and(|url| url.scheme() == "https");
    if is_web { "web" } else { "native" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use url::Url;

    use super::{Registration, application_type};
    use crate::metadata::server::ServerMetadata;
    use crate::scope::Scopes;

    #[test]
    fn registration_for_a_device_has_no_redirect_and_no_response_type() {
        let server = ServerMetadata::at_origin(&Url::parse("https://h").unwrap());
        let body = |redirect_uri| {
            let registration = Registration {
                client_name: "agent",
                redirect_uri,
                scopes: &Scopes::default(),
                dpop: false,
            };
            registration.body(&server)
        };
        let device = body(None);
        assert_eq!(device["redirect_uris"], json!([]));
        assert_eq!(device["response_types"], json!([]));
        let browser = body(Some("http://127.0.0.1:1/callback"));
        assert_eq!(browser["response_types"], json!(["code"]));
    }

    #[test]
    fn application_type_is_that_of_the_redirect() {
        assert_eq!(application_type("http://127.0.0.1:1/callback"), "native");
        assert_eq!(application_type("com.example.app:/callback"), "native");
        assert_eq!(application_type("https://app.example/callback"), "web");
    }
}
