//! Dynamic client registration.
//!
//! Spec: RFC 7591.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::client::document::{AuthDocument, DocumentKind};
use crate::client::event::AuthEvent;
use crate::client::grants::Issuance;
use crate::client::oauth::OAuth;
use crate::client::record::TokenRequest;
use crate::dpop::Dpop;
use crate::error::{AuthError, printable, shown};
use crate::lenient;
use crate::metadata::server::ServerMetadata;
use crate::oauth_client::{Client, ClientKind, ClientRecord, Credential};
use crate::secret::Secret;

#[derive(Deserialize)]
struct Registered {
    #[serde(deserialize_with = "lenient::text")]
    client_id: String,
    client_secret: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
}

/// The client at the authorization server of a token request.
impl Issuance<'_> {
    /// Loads the registration, if it can be used again.
    pub(crate) async fn stored_client(&self) -> Result<Option<ClientRecord>, AuthError> {
        if !self.login.oauth.registers() || self.metadata_document().is_some() {
            return Ok(None);
        }
        let server = self.request.server;
        let record = self.login.records.registration(&server.issuer).await?;
        // A secret is not sent to a token endpoint at another origin.
        let origin = server.token_endpoint.origin().ascii_serialization();
        Ok(record.filter(|record| record.is_usable() && record.token_origin == origin))
    }

    /// The URL of the document that describes this client, if the server reads it.
    // spec: AUTH-C-10
    fn metadata_document(&self) -> Option<&str> {
        let url = self.login.oauth.metadata_url.as_deref();
        let is_read = self.request.server.client_id_metadata_document_supported;
        url.filter(|_| is_read == Some(true))
    }

    /// Returns the client that the user has set, now or for the tokens that are replaced.
    fn given(&self) -> Option<Client> {
        let known = self.request.previous.and_then(|record| {
            let context = record.context.as_ref();
            let context = context.filter(|one| one.client_kind == ClientKind::PreRegistered)?;
            Some(self.login.client_of(record, context))
        });
        known.or_else(|| self.login.oauth.client.clone())
    }

    /// Finds the client: given, described by a document, registered before, registered now. `redirect_uri`
    /// is `None` for logins on another device.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::RegistrationRejected`] when the server refuses, [`AuthError::NoClient`] when it
    /// registers no clients, and [`AuthError::NoMetadata`] when it offers no login at all.
    // spec: AUTH-C-09, AUTH-C-11
    pub(crate) async fn client(
        &self,
        stored: Option<ClientRecord>,
        redirect_uri: Option<&str>,
    ) -> Result<Client, AuthError> {
        if let Some(given) = self.given() {
            return Ok(given);
        }
        if let Some(url) = self.metadata_document() {
            return Ok(Client {
                kind: ClientKind::MetadataDocument,
                ..Client::given(url, Credential::None)
            });
        }
        if let Some(stored) = stored
            && stored.redirect_uri.as_deref() == redirect_uri
        {
            return Ok(Client::from(&stored));
        }
        let issuer = &self.request.server.issuer;
        let Some(endpoint) = &self.request.server.registration_endpoint else {
            return Err(AuthError::NoClient {
                issuer: printable(issuer),
            });
        };
        let record = self.register(endpoint, redirect_uri).await?;
        self.login.records.save_registration(issuer, &record).await;
        self.login.emit(AuthEvent::Registered {
            issuer: printable(issuer),
        });
        Ok(Client::from(&record))
    }

    /// Stores whether the authorization server may have forgotten a registration. The next login does not use
    /// a doubtful one.
    pub(crate) async fn set_doubtful(
        &self,
        client: &Client,
        is_doubtful: bool,
    ) -> Result<(), AuthError> {
        if client.kind != ClientKind::Dynamic {
            return Ok(());
        }
        let (records, issuer) = (&self.login.records, &self.request.server.issuer);
        let record = records.registration(issuer).await?;
        let record = record.filter(|record| record.id == client.id);
        if let Some(record) = record.filter(|record| record.is_doubtful != is_doubtful) {
            let record = ClientRecord {
                is_doubtful,
                ..record
            };
            records.save_registration(issuer, &record).await;
        }
        Ok(())
    }

    /// Removes a registration that the authorization server has forgotten.
    pub(crate) async fn forget_client(&self) -> Result<(), AuthError> {
        let issuer = &self.request.server.issuer;
        self.login.records.remove_registration(issuer).await
    }

    // spec: AUTH-C-12, AUTH-C-14
    async fn register(
        &self,
        endpoint: &Url,
        redirect_uri: Option<&str>,
    ) -> Result<ClientRecord, AuthError> {
        let (login, server) = (self.login, self.request.server);
        let body = body(&login.oauth, self.request, redirect_uri).to_string();
        let fetched = login.fetcher.post_json(endpoint, body.into()).await?;
        if !matches!(fetched.status, StatusCode::OK | StatusCode::CREATED) {
            if fetched.is_transient() {
                return Err(fetched.unexpected());
            }
            // No metadata names the endpoint, and it is not there.
            if server.is_assumed && fetched.oauth_code().is_none() {
                return Err(AuthError::NoMetadata {
                    server: shown(&login.server),
                });
            }
            return Err(AuthError::RegistrationRejected(fetched.failure()));
        }
        if let Some(document) = AuthDocument::new(DocumentKind::Registration, &fetched) {
            login.emit(AuthEvent::Fetched { document });
        }
        let registered: Registered = fetched.json()?;
        if registered.client_id.is_empty() {
            return Err(AuthError::malformed(endpoint, "client_id is empty"));
        }
        Ok(ClientRecord {
            id: registered.client_id,
            secret: registered.client_secret,
            method: registered.token_endpoint_auth_method,
            redirect_uri: redirect_uri.map(str::to_owned),
            // Zero means that the secret does not expire.
            expires_at: registered.client_secret_expires_at.filter(|&at| at > 0),
            token_origin: server.token_endpoint.origin().ascii_serialization(),
            is_doubtful: false,
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

/// A public client where the server allows it: an installed program cannot keep a secret. Otherwise the id is in
/// the form: some servers that list both methods look for it there, also beside Basic authentication.
fn auth_method(server: &ServerMetadata) -> &'static str {
    let known = ["none", "client_secret_post", "client_secret_basic"];
    let supported = known.into_iter().find(|name| server.supports_method(name));
    supported.unwrap_or("none")
}

/// Programs receive the redirect on this machine or by a scheme of their own, web sites by https.
// spec: AUTH-C-13
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
    use crate::client::oauth::OAuth;
    use crate::client::record::TokenRequest;
    use crate::metadata::server::ServerMetadata;
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

    // spec: AUTH-C-13
    #[test]
    fn application_type_follows_from_the_redirect() {
        assert_eq!(application_type("http://127.0.0.1:1/callback"), "native");
        assert_eq!(application_type("com.example.app:/callback"), "native");
        assert_eq!(application_type("https://app.example/callback"), "web");
    }
}
