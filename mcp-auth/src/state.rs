//! The state of one authorizer: settings, the token in use, and the records of its store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use serde::{Deserialize, Serialize};
use url::{Origin, Position, Url};

use crate::client::{Client, ClientKind, ClientRecord, Credential};
use crate::dpop::{Dpop, Nonces};
use crate::egress::EgressRules;
use crate::error::AuthError;
use crate::event::AuthEvent;
use crate::fetch::Fetcher;
use crate::metadata::resource;
use crate::oauth::{GivenClient, Grant, OAuth};
use crate::record::{ActiveToken, TokenRecord};
use crate::store::StoreKey;

/// The state of one authorizer.
pub(crate) struct LoginState {
    pub(crate) oauth: OAuth,
    pub(crate) server: Url,
    /// Requests to this origin get the token.
    pub(crate) origin: Origin,
    /// Host and port of the server, as request URIs contain them.
    pub(crate) authority: Box<str>,
    pub(crate) fetcher: Fetcher,
    pub(crate) token: ArcSwapOption<ActiveToken>,
    pub(crate) nonces: Nonces,
    numbers: AtomicU64,
}

impl LoginState {
    pub(crate) fn new(oauth: OAuth, server: &str) -> Result<Self, AuthError> {
        let url = Url::parse(server.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(server) = url else {
            let message = "the URL of the server is not an http: or https: URL";
            return Err(AuthError::Settings(message.to_owned()));
        };
        let mut egress = oauth.egress.clone();
        if let Grant::Enterprise(idp) = &oauth.grant {
            egress = egress.allow_origin(idp.token_endpoint())?;
        }
        let rules = EgressRules::new(&egress, &server);
        // A token over plain HTTP could be read on its way.
        rules.check(&resource::at(&server, server.path()))?;
        Ok(Self {
            fetcher: Fetcher::new(rules, oauth.limits)?,
            origin: server.origin(),
            authority: server[Position::BeforeHost..Position::AfterPort].into(),
            server,
            oauth,
            token: ArcSwapOption::empty(),
            nonces: Nonces::default(),
            numbers: AtomicU64::new(1),
        })
    }

    pub(crate) fn emit(&self, event: AuthEvent) {
        self.oauth.events.send(event);
    }

    /// Returns whether tokens are obtained without a user.
    pub(crate) fn is_machine(&self) -> bool {
        !self.oauth.grant.has_user()
    }

    pub(crate) fn tokens_key(&self) -> StoreKey {
        let server = resource::canonical(&self.server);
        StoreKey::tokens(&server, &self.account())
    }

    pub(crate) fn registration_key(&self, issuer: &str) -> StoreKey {
        // The registrations of the two kinds of logins differ.
        let kind = match self.oauth.grant {
            Grant::Device(_) => " (device)",
            _ => "",
        };
        StoreKey::registration(issuer, &format!("{}{kind}", self.account()))
    }

    /// Tokens of different clients in one store are kept apart.
    fn account(&self) -> String {
        let client = self.oauth.client.as_ref().map(|client| client.id.as_str());
        let client = client.or(self.oauth.metadata_url.as_deref());
        match client {
            Some(client) => format!("{} {client}", self.oauth.account),
            None => self.oauth.account.clone(),
        }
    }

    /// Loads the tokens. Tokens from another client or authorization server than in the settings
    /// are ignored: a refresh would send the client secret to that server.
    pub(crate) async fn load_tokens(&self) -> Result<Option<TokenRecord>, AuthError> {
        let stored = self.oauth.store.load(&self.tokens_key()).await?;
        let record = stored.as_ref().and_then(TokenRecord::from_stored);
        let is_allowed = |record: &TokenRecord| {
            self.oauth.check_pin(&record.server.issuer).is_ok()
                && (record.is_dpop() || self.oauth.dpop != Dpop::Require)
        };
        Ok(record.filter(is_allowed))
    }

    /// Saves tokens, and then uses them: a rotated refresh token is stored before its first use.
    pub(crate) async fn save_and_publish(
        &self,
        record: TokenRecord,
        is_new: bool,
    ) -> Result<(), AuthError> {
        let saved = match record.to_stored() {
            Ok(stored) => self.oauth.store.save(&self.tokens_key(), &stored).await,
            Err(error) => Err(error),
        };
        // The token is valid even if it is lost at the end of the program.
        if let Err(error) = saved {
            tracing::warn!(%error, "the tokens are not stored");
        }
        self.publish(record, is_new)
    }

    pub(crate) fn publish(&self, record: TokenRecord, is_new: bool) -> Result<(), AuthError> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let token = ActiveToken::new(record, number, is_new)?;
        self.token.store(Some(Arc::new(token)));
        Ok(())
    }

    /// Forgets the tokens. Registrations are kept.
    pub(crate) async fn forget_tokens(&self) -> Result<(), AuthError> {
        self.token.store(None);
        self.oauth.store.remove(&self.tokens_key()).await
    }

    /// Returns the client of a record: secrets and keys of given clients are in the settings.
    pub(crate) fn client_of(&self, record: &ClientRecord) -> Client {
        match &self.oauth.client {
            Some(given) if record.kind == ClientKind::PreRegistered => given.to_client(),
            _ => Client::from(record),
        }
    }

    /// Checks that an authorization server may receive what this client has: it is the one of the
    /// settings, and the one of the given client id.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`] for another one.
    pub(crate) async fn check_issuer(&self, issuer: &str) -> Result<(), AuthError> {
        self.oauth.check_pin(issuer)?;
        let Some(given) = self.unpinned_client() else {
            return Ok(());
        };
        match self.load_binding(given).await? {
            Some(binding) => OAuth::check_expected(&binding.issuer, issuer),
            None => Ok(()),
        }
    }

    /// The given client id, if the settings do not name its authorization server.
    fn unpinned_client(&self) -> Option<&GivenClient> {
        let given = self.oauth.client.as_ref();
        given.filter(|_| self.oauth.issuer.is_none())
    }

    /// Remembers the issuer that accepted the given client id.
    pub(crate) async fn bind_issuer(&self, issuer: &str) -> Result<(), AuthError> {
        let Some(given) = self.unpinned_client() else {
            return Ok(());
        };
        if self.load_binding(given).await?.is_some() {
            return Ok(());
        }
        let binding = Binding {
            issuer: issuer.to_owned(),
        };
        let text = serde_json::to_string(&binding);
        let text = text.map_err(|error| AuthError::Store(error.to_string()))?;
        self.oauth
            .store
            .save(&binding_key(given, &self.server), &text.into())
            .await
    }

    async fn load_binding(&self, given: &GivenClient) -> Result<Option<Binding>, AuthError> {
        let stored = self
            .oauth
            .store
            .load(&binding_key(given, &self.server))
            .await?;
        Ok(stored.and_then(|stored| serde_json::from_str(stored.expose()).ok()))
    }
}

/// The issuer of a given client id.
#[derive(Serialize, Deserialize)]
struct Binding {
    issuer: String,
}

fn binding_key(given: &GivenClient, server: &Url) -> StoreKey {
    StoreKey::registration(&resource::canonical(server), &given.id)
}

impl GivenClient {
    pub(crate) fn to_client(&self) -> Client {
        Client {
            id: self.id.clone(),
            kind: ClientKind::PreRegistered,
            credential: self.credential.clone(),
            method: None,
            redirect_uri: None,
        }
    }
}

/// Returns the stored form of a client.
pub(crate) fn record_of(client: &Client, token_endpoint: &Url) -> ClientRecord {
    let secret = match &client.credential {
        Credential::Secret(secret) if client.kind == ClientKind::Dynamic => Some(secret.clone()),
        _ => None,
    };
    ClientRecord {
        id: client.id.clone(),
        kind: client.kind,
        secret,
        method: client.method.clone(),
        redirect_uri: client.redirect_uri.clone(),
        expires_at: None,
        token_origin: token_endpoint.origin().ascii_serialization(),
    }
}
