//! Obtaining new tokens: by a login of the user, or by a grant without a user.

use std::time::Duration;

use url::Url;

use crate::client::code_flow::AuthorizationRequest;
use crate::client::consent::LoginPrompt;
use crate::client::device::{PendingDevice, ShowDevice};
use crate::client::enterprise::{EnterpriseIdp, JWT_BEARER};
use crate::client::event::AuthEvent;
use crate::client::login::Login;
use crate::client::oauth::{Grant, OAuth};
use crate::client::record::{StoredCredentials, TokenContext, TokenRequest};
use crate::client::redirect::LoginPage;
use crate::dpop::{ALGORITHM, Dpop};
use crate::error::{AuthError, printable, shown};
use crate::fetch::TokenForm;
use crate::key::ProofKey;
use crate::metadata::server::{ServerMetadata, lists};
use crate::oauth_client::{Client, ClientKind, Credential};
use crate::scope::Scopes;
use crate::token::{TokenEndpoint, Tokens};

/// One request for a new token, by the grant of the settings.
pub(crate) struct Issuance<'a> {
    pub(crate) login: &'a Login,
    pub(crate) request: &'a TokenRequest<'a>,
}

impl Issuance<'_> {
    /// Obtains a token, stores it and uses it.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed.
    pub(crate) async fn run(&self) -> Result<(), AuthError> {
        let (login, request) = (self.login, self.request);
        login.check_issuer(&request.server.issuer).await?;
        login.oauth.check_scopes(request.scopes)?;
        self.check_endpoints().await?;
        let key = self.proof_key()?;
        let endpoint = TokenEndpoint {
            fetcher: &login.fetcher,
            server: request.server,
            key: key.as_ref(),
            requested: request.scopes,
        };
        let (client, tokens) = match &login.oauth.grant {
            Grant::Interactive => self.log_in(&endpoint).await?,
            Grant::Device(show) => self.log_in_on_device(&endpoint, show).await?,
            Grant::ClientCredentials => {
                let form = self.form(Some("client_credentials"));
                self.by_form(&endpoint, form).await?
            }
            // spec: WIF-01, WIF-02
            Grant::Workload(assertion) => {
                let mut form = self.form(Some(JWT_BEARER));
                // Platforms rotate the assertion, so it is read for each exchange.
                form.set("assertion", assertion().await?);
                self.by_form(&endpoint, form).await?
            }
            Grant::Enterprise(idp) => self.enterprise(&endpoint, idp).await?,
            Grant::Token(_) => {
                let message = "the program manages the token itself";
                return Err(AuthError::Source(message.to_owned()));
            }
        };
        login.oauth.check_token_type(&tokens, request.server)?;
        login.bind_issuer(&client, &request.server.issuer).await?;
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
        login.save_and_publish(record, true).await?;
        login.emit(event);
        Ok(())
    }

    /// Checks the endpoints that this grant uses, before anything is sent to them.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ForeignEndpoint`] for an endpoint at another site, and
    /// [`AuthError::NotConfirmed`] when the program does not confirm the login.
    async fn check_endpoints(&self) -> Result<(), AuthError> {
        let (oauth, server) = (&self.login.oauth, self.request.server);
        match (&oauth.grant, &server.authorization_endpoint) {
            (Grant::Interactive, Some(page)) => return self.confirm_login(page).await,
            (Grant::Device(_), _) => {
                if let Some(endpoint) = &server.device_authorization_endpoint {
                    oauth.check_site(server, "device authorization endpoint", endpoint)?;
                }
            }
            _ => {}
        }
        oauth.check_site(server, "token endpoint", &server.token_endpoint)
    }

    /// Lets the program confirm a login at a page. Without a function that does so, the page and the
    /// token endpoint must be at the issuer's site.
    async fn confirm_login(&self, page: &Url) -> Result<(), AuthError> {
        let (oauth, server) = (&self.login.oauth, self.request.server);
        let Some(confirm) = &oauth.confirm else {
            oauth.check_site(server, "login page", page)?;
            return oauth.check_site(server, "token endpoint", &server.token_endpoint);
        };
        let prompt = LoginPrompt::new(&self.login.server, server, page);
        let confirmed = async { Ok(confirm(prompt).await) };
        let step = "the confirmation of the login";
        if within(step, oauth.limits.login, confirmed).await? {
            return Ok(());
        }
        Err(AuthError::NotConfirmed {
            server: shown(&self.login.server),
            issuer: printable(&server.issuer),
        })
    }

    /// The key for proofs of possession, if tokens are to be bound to one.
    fn proof_key(&self) -> Result<Option<ProofKey>, AuthError> {
        let algorithms = &self.request.server.dpop_signing_alg_values_supported;
        let supported = self.request.requires_dpop || lists(algorithms, ALGORITHM) == Some(true);
        match self.login.oauth.dpop {
            Dpop::Off => return Ok(None),
            Dpop::Optional if !supported => return Ok(None),
            Dpop::Optional | Dpop::Required => {}
        }
        let previous = self.request.previous;
        let previous = previous.map(StoredCredentials::proof_key).transpose()?;
        match previous.flatten() {
            Some(key) => Ok(Some(key)),
            None => ProofKey::generate().map(Some),
        }
    }

    /// Lets the user log in. A registration that the server has forgotten is renewed once.
    async fn log_in(&self, endpoint: &TokenEndpoint<'_>) -> Result<(Client, Tokens), AuthError> {
        let (client, outcome) = self.log_in_once(endpoint).await?;
        match outcome {
            Err(AuthError::TokenRejected(refused))
                if client.kind == ClientKind::Dynamic && refused.code == "invalid_client" => {}
            outcome => return Ok((client, outcome?)),
        }
        self.forget_client().await?;
        let (client, outcome) = self.log_in_once(endpoint).await?;
        if matches!(&outcome, Err(AuthError::TokenRejected(_))) {
            self.forget_client().await?;
        }
        Ok((client, outcome?))
    }

    /// Lets the user log in. The outer error is that of a login without a code.
    async fn log_in_once(
        &self,
        endpoint: &TokenEndpoint<'_>,
    ) -> Result<(Client, Result<Tokens, AuthError>), AuthError> {
        let (oauth, server) = (&self.login.oauth, self.request.server);
        let stored = self.stored_client().await?;
        let registered = stored
            .as_ref()
            .and_then(|record| record.redirect_uri.as_deref());
        let session = oauth.login_redirect()?.prepare(registered).await?;
        let redirect_uri = session.redirect_uri().to_owned();
        let client = self.client(stored, Some(&redirect_uri)).await?;
        let allows_missing_pkce = oauth.missing_pkce.contains(&server.issuer);
        let request =
            AuthorizationRequest::new(self.request, &client, &redirect_uri, allows_missing_pkce)?;
        // An interrupted program leaves the doubt in the store.
        self.set_doubtful(&client, true).await?;
        self.login.emit(self.login_started(shown(&request.url)));
        let page = LoginPage {
            url: request.url.as_str(),
            state: &request.state,
        };
        let response = session.run(page);
        let response = within("the login of the user", oauth.limits.login, response).await?;
        let form = request.finish(&response);
        let is_known = match &form {
            Ok(_) => true,
            Err(AuthError::Denied(code)) => !code.is_unknown_client(),
            Err(_) => false,
        };
        self.set_doubtful(&client, !is_known).await?;
        let tokens = endpoint.request(&client, form?).await;
        Ok((client, tokens))
    }

    fn login_started(&self, page: String) -> AuthEvent {
        AuthEvent::LoginStarted {
            server: shown(&self.login.server),
            issuer: printable(&self.request.server.issuer),
            page,
            scopes: self.request.scopes.to_string(),
        }
    }

    /// Lets the user log in on another device.
    async fn log_in_on_device(
        &self,
        endpoint: &TokenEndpoint<'_>,
        show: &ShowDevice,
    ) -> Result<(Client, Tokens), AuthError> {
        let (fetcher, server) = (&self.login.fetcher, self.request.server);
        let stored = self.stored_client().await?;
        let client = self.client(stored, None).await?;
        let started = PendingDevice::start(fetcher, server, &client, self.form(None)).await;
        if let Err(AuthError::TokenRejected(code)) = &started {
            let is_doubtful = code.is_unknown_client();
            self.set_doubtful(&client, is_doubtful).await?;
        }
        let pending = started?;
        self.confirm_login(&pending.page).await?;
        self.login.emit(self.login_started(shown(&pending.page)));
        show(pending.login.clone()).await?;
        let expiry = Duration::from_secs(pending.login.expires_in);
        let limit = self.login.oauth.limits.login.min(expiry);
        let tokens = pending.poll(endpoint, &client, self.request.resource);
        let tokens = within("the login of the user", limit, tokens).await?;
        Ok((client, tokens))
    }

    /// Requests tokens with a form, for the given client. A workload may have none: its assertion names it.
    // spec: CC-01
    async fn by_form(
        &self,
        endpoint: &TokenEndpoint<'_>,
        form: TokenForm,
    ) -> Result<(Client, Tokens), AuthError> {
        let oauth = &self.login.oauth;
        if matches!(oauth.grant, Grant::Workload(_)) && oauth.client.is_none() {
            let tokens = endpoint.send(&form).await?;
            return Ok((Client::given("", Credential::None), tokens));
        }
        let client = self.given_client()?;
        let tokens = endpoint.request(&client, form).await?;
        Ok((client, tokens))
    }

    // spec: EMA-03
    async fn enterprise(
        &self,
        endpoint: &TokenEndpoint<'_>,
        idp: &EnterpriseIdp,
    ) -> Result<(Client, Tokens), AuthError> {
        let client = self.given_client()?;
        let (server, resource) = (self.request.server, self.request.resource);
        let assertion = idp
            .assertion(&self.login.fetcher, server, resource, &client.id)
            .await?;
        // The assertion alone says what the token is for.
        let mut form = TokenForm::new(JWT_BEARER);
        form.set("assertion", assertion);
        self.by_form(endpoint, form).await
    }

    fn given_client(&self) -> Result<Client, AuthError> {
        let given = self.login.oauth.client.clone();
        given.ok_or_else(|| AuthError::NoClient {
            issuer: printable(&self.request.server.issuer),
        })
    }

    /// Returns a form with the scopes and the resource.
    fn form(&self, grant_type: Option<&str>) -> TokenForm {
        let mut form = grant_type.map_or_else(TokenForm::default, TokenForm::new);
        if !self.request.scopes.is_empty() {
            form.set("scope", self.request.scopes.to_string());
        }
        form.set_resource(self.request.resource);
        form
    }
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
// spec: AUTH-C-25, AUTH-C-30
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
        && lists(&server.scopes_supported, "offline_access") == Some(true);
    if is_offline {
        selected.insert("offline_access");
    }
    selected
}
