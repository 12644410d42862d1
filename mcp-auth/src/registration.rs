//! Dynamic client registration.
//!
//! Spec: RFC 7591.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::client::ClientRecord;
use crate::document::{AuthDocument, DocumentKind};
use crate::dpop::Dpop;
use crate::error::AuthError;
use crate::event::AuthEvent;
use crate::metadata::server::ServerMetadata;
use crate::oauth::OAuth;
use crate::record::TokenRequest;
use crate::secret::Secret;
use crate::state::LoginState;

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<Secret>,
    client_secret_expires_at: Option<f64>,
    token_endpoint_auth_method: Option<String>,
}

impl LoginState {
    /// Registers this client. `redirect_uri` is `None` for logins on another device.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::RegistrationRejected`] when the server refuses.
    pub(crate) async fn register(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &Url,
        redirect_uri: Option<&str>,
    ) -> Result<ClientRecord, AuthError> {
        let body = body(&self.oauth, request, redirect_uri).to_string();
        let fetched = self.fetcher.post_json(endpoint, body.into()).await?;
        if !matches!(fetched.status, StatusCode::OK | StatusCode::CREATED) {
            if fetched.is_transient() {
                return Err(fetched.transient_error());
            }
            let code = fetched.failure();
            return Err(AuthError::RegistrationRejected(code));
        }
        if let Some(document) = AuthDocument::new(DocumentKind::Registration, &fetched) {
            self.emit(AuthEvent::Fetched { document });
        }
        let registered: Registered = fetched.json()?;
        if registered.client_id.is_empty() {
            return Err(AuthError::malformed(endpoint, "client_id is empty"));
        }
        // Zero means that the secret does not expire.
        let expires_at = registered.client_secret_expires_at.filter(|&at| at > 0.0);
        Ok(ClientRecord {
            id: registered.client_id,
            secret: registered.client_secret,
            method: registered.token_endpoint_auth_method,
            redirect_uri: redirect_uri.map(str::to_owned),
            expires_at: expires_at.map(|at| at as u64),
            token_origin: request.server.token_endpoint.origin().ascii_serialization(),
        })
    }
}

/// Returns the client metadata for the registration.
fn body(oauth: &OAuth, request: &TokenRequest<'_>, redirect_uri: Option<&str>) -> Value {
    let (response_types, grant, kind) = match redirect_uri {
        Some(uri) => (&["code"][..], "authorization_code", application_type(uri)),
        // The default response type is `code`, which demands a redirect URI.
        None => (
            &[][..],
            "urn:ietf:params:oauth:grant-type:device_code",
            "native",
        ),
    };
    let mut body = json!({
        "client_name": oauth.client_name,
        "redirect_uris": redirect_uri.as_slice(),
        "response_types": response_types,
        "grant_types": [grant, "refresh_token"],
        "token_endpoint_auth_method": auth_method(request.server),
        "application_type": kind,
        "software_id": env!("CARGO_PKG_NAME"),
        "software_version": env!("CARGO_PKG_VERSION"),
    });
    if !request.scopes.is_empty() {
        body["scope"] = json!(request.scopes.to_string());
    }
    if oauth.dpop == Dpop::Required {
        body["dpop_bound_access_tokens"] = json!(true);
    }
    body
}

/// A public client where the server allows it: the secret of an installed program is none.
fn auth_method(server: &ServerMetadata) -> &'static str {
    let known = ["none", "client_secret_basic", "client_secret_post"];
    let supported = |name: &&&str| server.auth_methods.iter().any(|given| given == **name);
    known.iter().find(supported).copied().unwrap_or("none")
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

    use super::{application_type, body};
    use crate::metadata::server::ServerMetadata;
    use crate::oauth::OAuth;
    use crate::record::TokenRequest;
    use crate::scope::Scopes;

    #[test]
    fn registration_for_a_device_has_no_redirect_and_no_response_type() {
        let server = ServerMetadata::at_origin(&Url::parse("https://h").unwrap());
        let described = |redirect_uri| {
            let request = TokenRequest {
                server: &server,
                resource: None,
                scopes: &Scopes::default(),
                requires_dpop: false,
                is_legacy: false,
                previous: None,
            };
            body(&OAuth::interactive("agent"), &request, redirect_uri)
        };
        let device = described(None);
        assert_eq!(device["redirect_uris"], json!([]));
        assert_eq!(device["response_types"], json!([]));
        let browser = described(Some("http://127.0.0.1:1/callback"));
        assert_eq!(browser["response_types"], json!(["code"]));
    }

    #[test]
    fn application_type_is_that_of_the_redirect() {
        assert_eq!(application_type("http://127.0.0.1:1/callback"), "native");
        assert_eq!(application_type("com.example.app:/callback"), "native");
        assert_eq!(application_type("https://app.example/callback"), "web");
    }
}
