//! Obtaining new tokens: by a login of the user, or by a grant without a user.

use std::time::Duration;

use url::Url;

use crate::challenge::TokenType;
use crate::client::{Client, ClientKind, ClientRecord, Credential};
use crate::consent::LoginPrompt;
use crate::device::{PendingDevice, ShowDevice};
use crate::dpop::{ALGORITHM, Dpop};
use crate::enterprise::{EnterpriseIdp, JWT_BEARER};
use crate::error::{AuthError, printable, shown};
use crate::event::AuthEvent;
use crate::fetch::TokenForm;
use crate::key::ProofKey;
use crate::login::Login;
use crate::metadata::server::ServerMetadata;
use crate::oauth::{Grant, OAuth};
use crate::record::{StoredCredentials, TokenContext, TokenRequest};
use crate::redirect::LoginPage;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::site::is_site_of;
use crate::source::Source;
use crate::state::LoginState;
use crate::token::{TokenEndpoint, Tokens};

impl LoginState {
    /// Obtains a token by the configured grant, stores it and uses it.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed.
    pub(crate) async fn obtain_token(&self, request: &TokenRequest<'_>) -> Result<(), AuthError> {
        self.check_issuer(&request.server.issuer).await?;
        self.oauth.check_scopes(request.scopes)?;
        self.check_endpoints(request.server).await?;
        let key = self.proof_key(request)?;
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            server: request.server,
            key: key.as_ref(),
        };
        let (client, tokens) = match &self.oauth.grant {
            Grant::Interactive => self.log_in(request, &endpoint).await?,
            Grant::Device(show) => self.log_in_on_device(request, &endpoint, show).await?,
            Grant::ClientCredentials => self.client_credentials(request, &endpoint).await?,
            Grant::Workload(assertion) => self.workload(request, &endpoint, assertion).await?,
            Grant::Enterprise(idp) => self.enterprise(request, &endpoint, idp).await?,
            Grant::Token(_) => {
                let message = "the program manages the token itself";
                return Err(AuthError::Source(message.to_owned()));
            }
        };
        self.check_token_type(&tokens, request.server)?;
        if client.kind == ClientKind::PreRegistered {
            self.bind_issuer(&request.server.issuer).await?;
        }
        let context = TokenContext {
            server: request.server.clone(),
            resource: request.resource.map(str::to_owned),
            requested: request.scopes.clone(),
            is_legacy: request.is_legacy,
            client_kind: client.kind,
            auth_method: client.method.clone(),
        };
        let record = StoredCredentials::issued(context, &client, key.as_ref(), tokens);
        let event = AuthEvent::Authorized {
            scopes: record.scopes.to_string(),
            expires_in: record.expires_in(),
        };
        self.save_and_publish(record, true).await?;
        self.emit(event);
        Ok(())
    }

    /// Checks the token of a grant or a refresh.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::NoDpop`] for a bearer token if the settings require DPoP.
    pub(crate) fn check_token_type(
        &self,
        tokens: &Tokens,
        server: &ServerMetadata,
    ) -> Result<(), AuthError> {
        if self.oauth.dpop == Dpop::Required && tokens.token_type != TokenType::Dpop {
            return Err(AuthError::NoDpop {
                issuer: printable(&server.issuer),
            });
        }
        Ok(())
    }

    /// Checks the endpoints that this grant uses, before anything is sent to them.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ForeignEndpoint`] for an endpoint at another site, and
    /// [`AuthError::NotConfirmed`] when the program does not confirm the login.
    async fn check_endpoints(&self, server: &ServerMetadata) -> Result<(), AuthError> {
        match (&self.oauth.grant, &server.authorization_endpoint) {
            (Grant::Interactive, Some(page)) => return self.confirm_login(server, page).await,
            (Grant::Device(_), _) => {
                if let Some(endpoint) = &server.device_authorization_endpoint {
                    self.check_site(server, "device authorization endpoint", endpoint)?;
                }
            }
            _ => {}
        }
        self.check_site(server, "token endpoint", &server.token_endpoint)
    }

    /// The authorization server's endpoints in the settings may be anywhere.
    pub(crate) fn check_site(
        &self,
        server: &ServerMetadata,
        endpoint: &'static str,
        url: &Url,
    ) -> Result<(), AuthError> {
        if self.oauth.issuer.is_some() || is_site_of(&server.issuer, url) {
            return Ok(());
        }
        Err(AuthError::ForeignEndpoint {
            issuer: printable(&server.issuer),
            endpoint,
            url: shown(url),
        })
    }

    /// Lets the program confirm a login at a page. Without a function that does so, the page and the
    /// token endpoint must be at the issuer's site.
    async fn confirm_login(&self, server: &ServerMetadata, page: &Url) -> Result<(), AuthError> {
        let Some(confirm) = &self.oauth.confirm else {
            self.check_site(server, "login page", page)?;
            return self.check_site(server, "token endpoint", &server.token_endpoint);
        };
        let limit = self.oauth.limits.login;
        let prompt = LoginPrompt::new(&self.server, server, page);
        let confirmed = async { Ok(confirm(prompt).await) };
        if within("the confirmation of the login", limit, confirmed).await? {
            return Ok(());
        }
        Err(AuthError::NotConfirmed {
            server: shown(&self.server),
            issuer: printable(&server.issuer),
        })
    }

    /// The key for proofs of possession, if tokens are to be bound to one.
    fn proof_key(&self, request: &TokenRequest<'_>) -> Result<Option<ProofKey>, AuthError> {
        let supported = request.requires_dpop
            || request
                .server
                .dpop_algorithms
                .iter()
                .any(|name| name == ALGORITHM);
        match self.oauth.dpop {
            Dpop::Off => return Ok(None),
            Dpop::Optional if !supported => return Ok(None),
            Dpop::Optional | Dpop::Required => {}
        }
        let previous = request
            .previous
            .map(StoredCredentials::proof_key)
            .transpose()?;
        match previous.flatten() {
            Some(key) => Ok(Some(key)),
            None => ProofKey::generate().map(Some),
        }
    }

    /// Lets the user log in. A registration that the server has forgotten is renewed once.
    async fn log_in(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
    ) -> Result<(Client, Tokens), AuthError> {
        let (client, outcome) = self.log_in_once(request, endpoint).await?;
        match outcome {
            Err(AuthError::TokenRejected(refused))
                if client.kind == ClientKind::Dynamic && refused.code == "invalid_client" => {}
            outcome => return Ok((client, outcome?)),
        }
        let key = self.registration_key(&request.server.issuer);
        self.oauth.store.remove(&key).await?;
        let (client, outcome) = self.log_in_once(request, endpoint).await?;
        Ok((client, outcome?))
    }

    /// Lets the user log in. The outer error is that of a login without a client.
    async fn log_in_once(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
    ) -> Result<(Client, Result<Tokens, AuthError>), AuthError> {
        let stored = self.stored_registration(request.server).await?;
        let registered = stored
            .as_ref()
            .and_then(|record| record.redirect_uri.as_deref());
        let session = self.oauth.redirect.prepare(registered).await?;
        let redirect_uri = session.redirect_uri().to_owned();
        let client = self
            .interactive_client(request, stored, Some(&redirect_uri))
            .await?;
        let tokens = async {
            let allows_missing_pkce = self.oauth.missing_pkce.contains(&request.server.issuer);
            let login = Login::new(request, &client, &redirect_uri, allows_missing_pkce)?;
            self.emit(self.login_started(request, shown(&login.url)));
            let page = LoginPage {
                url: login.url.as_str(),
                state: &login.state,
            };
            let response = within(
                "the login of the user",
                self.oauth.limits.login,
                session.run(page),
            );
            endpoint
                .request(&client, login.finish(&response.await?)?)
                .await
        };
        let tokens = tokens.await;
        Ok((client, tokens))
    }

    fn login_started(&self, request: &TokenRequest<'_>, page: String) -> AuthEvent {
        AuthEvent::LoginStarted {
            server: shown(&self.server),
            issuer: printable(&request.server.issuer),
            page,
            scopes: request.scopes.to_string(),
        }
    }

    /// Loads the registration at a server, if it can be used again.
    async fn stored_registration(
        &self,
        server: &ServerMetadata,
    ) -> Result<Option<ClientRecord>, AuthError> {
        if self.oauth.client.is_some() || self.metadata_document(server).is_some() {
            return Ok(None);
        }
        let stored = self
            .oauth
            .store
            .load(&self.registration_key(&server.issuer))
            .await?;
        let record =
            stored.and_then(|stored| serde_json::from_str::<ClientRecord>(stored.expose()).ok());
        // A secret is not sent to a token endpoint at another origin.
        let origin = server.token_endpoint.origin().ascii_serialization();
        Ok(record.filter(|record| !record.is_expired() && record.token_origin == origin))
    }

    /// The URL of the document that describes this client, if the server reads it.
    fn metadata_document(&self, server: &ServerMetadata) -> Option<&str> {
        let url = self.oauth.metadata_url.as_deref();
        url.filter(|_| server.supports_client_metadata)
    }

    /// Finds the client: given, described by a document, registered before, registered now.
    async fn interactive_client(
        &self,
        request: &TokenRequest<'_>,
        stored: Option<ClientRecord>,
        redirect_uri: Option<&str>,
    ) -> Result<Client, AuthError> {
        let server = request.server;
        if let Some(given) = &self.oauth.client {
            return Ok(given.clone());
        }
        if let Some(url) = self.metadata_document(server) {
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
        let Some(endpoint) = &server.registration_endpoint else {
            return Err(AuthError::NoClient {
                issuer: printable(&server.issuer),
            });
        };
        let record = self.register(request, endpoint, redirect_uri).await?;
        let text = serde_json::to_string(&record);
        let text = text.map_err(|error| AuthError::Store(error.to_string()))?;
        let key = self.registration_key(&server.issuer);
        if let Err(error) = self.oauth.store.save(&key, &Secret::new(text)).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the registration is not stored");
        }
        self.emit(AuthEvent::Registered {
            issuer: printable(&server.issuer),
        });
        Ok(Client::from(&record))
    }

    /// Lets the user log in on another device.
    async fn log_in_on_device(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
        show: &ShowDevice,
    ) -> Result<(Client, Tokens), AuthError> {
        let stored = self.stored_registration(request.server).await?;
        let client = self.interactive_client(request, stored, None).await?;
        let mut form = TokenForm::default();
        set_scopes_and_resource(&mut form, request);
        let pending = PendingDevice::start(&self.fetcher, request.server, &client, form).await?;
        self.confirm_login(request.server, &pending.page).await?;
        self.emit(self.login_started(request, shown(&pending.page)));
        show(pending.login.clone()).await?;
        let expiry = Duration::from_secs(pending.login.expires_in);
        let limit = self.oauth.limits.login.min(expiry);
        let tokens = pending.poll(endpoint, &client, request.resource);
        let tokens = within("the login of the user", limit, tokens).await?;
        Ok((client, tokens))
    }

    async fn client_credentials(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
    ) -> Result<(Client, Tokens), AuthError> {
        let client = self.given_client(request.server)?;
        let mut form = TokenForm::new("client_credentials");
        set_scopes_and_resource(&mut form, request);
        let tokens = endpoint.request(&client, form).await?;
        Ok((client, tokens))
    }

    async fn workload(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
        assertion: &Source,
    ) -> Result<(Client, Tokens), AuthError> {
        let mut form = TokenForm::new(JWT_BEARER);
        // Platforms rotate the assertion, so it is read for each exchange.
        form.set("assertion", assertion().await?);
        set_scopes_and_resource(&mut form, request);
        if self.oauth.client.is_some() {
            let client = self.given_client(request.server)?;
            let tokens = endpoint.request(&client, form).await?;
            return Ok((client, tokens));
        }
        let tokens = endpoint.send(&form).await?;
        Ok((Client::given("", Credential::None), tokens))
    }

    async fn enterprise(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &TokenEndpoint<'_>,
        idp: &EnterpriseIdp,
    ) -> Result<(Client, Tokens), AuthError> {
        let client = self.given_client(request.server)?;
        let (server, resource) = (request.server, request.resource);
        let assertion = idp
            .assertion(&self.fetcher, server, resource, &client.id)
            .await?;
        // The assertion alone says what the token is for.
        let mut form = TokenForm::new(JWT_BEARER);
        form.set("assertion", assertion);
        let tokens = endpoint.request(&client, form).await?;
        Ok((client, tokens))
    }

    fn given_client(&self, server: &ServerMetadata) -> Result<Client, AuthError> {
        let given = self.oauth.client.clone();
        given.ok_or_else(|| AuthError::NoClient {
            issuer: printable(&server.issuer),
        })
    }
}

fn set_scopes_and_resource(form: &mut TokenForm, request: &TokenRequest<'_>) {
    if !request.scopes.is_empty() {
        form.set("scope", request.scopes.to_string());
    }
    form.set_resource(request.resource);
}

/// Limits the duration of a step.
///
/// # Errors
///
/// Returns [`AuthError::Timeout`] after the limit, and the step's error.
pub(crate) async fn within<T>(
    name: &'static str,
    limit: Duration,
    step: impl Future<Output = Result<T, AuthError>>,
) -> Result<T, AuthError> {
    let done = tokio::time::timeout(limit, step).await;
    done.unwrap_or_else(|_| Err(AuthError::timeout(name, limit)))
}

/// Selects the scopes of a first request: the challenge's, else the metadata's, else the settings',
/// within their upper bound.
pub(crate) fn select_scopes(
    oauth: &OAuth,
    challenged: Option<&Scopes>,
    resource: Option<&Scopes>,
    server: &ServerMetadata,
) -> Scopes {
    let configured = Some(&oauth.scopes).filter(|scopes| !scopes.is_empty());
    let resource = resource.filter(|scopes| !scopes.is_empty());
    let selected = match &oauth.grant {
        Grant::Interactive | Grant::Device(_) => challenged.or(resource).or(configured),
        Grant::ClientCredentials => configured.or(challenged).or(resource),
        Grant::Workload(_) | Grant::Enterprise(_) | Grant::Token(_) => configured,
    };
    let mut selected = oauth.bounded(&selected.cloned().unwrap_or_default());
    let is_offline = oauth.grant.has_user()
        && oauth.offline_access
        && !selected.is_empty()
        && server.scopes.contains("offline_access");
    if is_offline {
        selected.insert("offline_access");
    }
    selected
}
