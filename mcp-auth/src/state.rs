//! The state of one authorizer: settings, the token in use, and its store's records.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde_json::json;
use url::{Origin, Position, Url};

use crate::client::Client;
use crate::dpop::Dpop;
use crate::egress::EgressRules;
use crate::error::{AuthError, bare, printable};
use crate::event::AuthEvent;
use crate::fetch::Fetcher;
use crate::metadata::resource;
use crate::oauth::{Grant, OAuth};
use crate::record::{ActiveToken, StoredCredentials, TokenContext};
use crate::secret::Secret;
use crate::store::StoreKey;

/// The state of one authorizer.
pub(crate) struct LoginState {
    pub(crate) oauth: OAuth,
    pub(crate) server: Url,
    /// Requests to this origin get the token.
    pub(crate) origin: Origin,
    /// The server's host and port, as request URIs contain them.
    pub(crate) authority: Box<str>,
    pub(crate) fetcher: Fetcher,
    pub(crate) token: ArcSwapOption<ActiveToken>,
}

impl LoginState {
    pub(crate) fn new(oauth: OAuth, server: &str) -> Result<Self, AuthError> {
        let url = Url::parse(server.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(server) = url else {
            let message = "the URL of the server is not an http: or https: URL";
            return Err(AuthError::settings(message));
        };
        let mut egress = oauth.egress.clone();
        if let Grant::Enterprise(idp) = &oauth.grant {
            egress = egress.allow_origin(idp.token_endpoint())?;
        }
        let rules = EgressRules::new(&egress, &server);
        // A token over plain HTTP could be read on its way.
        rules.check(&bare(&server))?;
        let fetcher = match &oauth.http {
            Some(http) => Fetcher::over(http.clone(), rules.into(), oauth.limits),
            None => Fetcher::new(rules, oauth.limits)?,
        };
        Ok(Self {
            fetcher,
            origin: server.origin(),
            authority: server[Position::BeforeHost..Position::AfterPort].into(),
            server,
            oauth,
            token: ArcSwapOption::empty(),
        })
    }

    pub(crate) fn emit(&self, event: AuthEvent) {
        self.oauth.events.send(event);
    }

    /// Returns whether tokens are obtained without a user.
    pub(crate) fn is_machine(&self) -> bool {
        !self.oauth.grant.has_user()
    }

    /// Returns whether a challenge for bound tokens is answered rather than one for other tokens.
    pub(crate) fn prefers_dpop(&self) -> bool {
        self.oauth.dpop != Dpop::Off
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
    pub(crate) async fn load_tokens(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = self.oauth.store.load(&self.tokens_key()).await?;
        // A damaged record counts as none.
        let record = stored.and_then(|stored| StoredCredentials::try_from(&stored).ok());
        Ok(record.filter(|record| self.check_usable(record).is_ok()))
    }

    /// Checks that the settings allow these tokens.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`] for tokens of another authorization server, and
    /// [`AuthError::Settings`] for those of another client, and [`AuthError::NoDpop`] for tokens without
    /// the required key.
    pub(crate) fn check_usable(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        self.oauth.check_pin(&record.issuer)?;
        let given = self.oauth.client.as_ref();
        if given.is_some_and(|given| given.id != record.client_id) {
            let message = "the tokens are those of another client than that of the settings";
            return Err(AuthError::settings(message));
        }
        if self.oauth.dpop == Dpop::Required && !record.is_dpop {
            return Err(AuthError::NoDpop {
                issuer: printable(&record.issuer),
            });
        }
        Ok(())
    }

    /// Saves tokens, and then uses them: a rotated refresh token is stored before its first use.
    pub(crate) async fn save_and_publish(
        &self,
        record: StoredCredentials,
        is_new: bool,
    ) -> Result<(), AuthError> {
        // The token is valid even if it is lost at the end of the program.
        if let Err(error) = self.save(&record).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the tokens are not stored");
        }
        self.publish(record, is_new)
    }

    /// Saves tokens.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when they are not saved.
    pub(crate) async fn save(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        let stored = Secret::try_from(record)?;
        self.oauth.store.save(&self.tokens_key(), &stored).await
    }

    pub(crate) fn publish(&self, record: StoredCredentials, is_new: bool) -> Result<(), AuthError> {
        let token = ActiveToken::new(record, is_new)?;
        self.token.store(Some(Arc::new(token)));
        Ok(())
    }

    /// Forgets the tokens. Registrations are kept.
    pub(crate) async fn forget_tokens(&self) -> Result<(), AuthError> {
        self.token.store(None);
        self.oauth.store.remove(&self.tokens_key()).await
    }

    /// Returns the client in a record: secrets and keys of given clients are in the settings.
    pub(crate) fn client_of(&self, record: &StoredCredentials, context: &TokenContext) -> Client {
        match &self.oauth.client {
            Some(given) if given.id == record.client_id => given.clone(),
            _ => Client {
                id: record.client_id.clone(),
                kind: context.client_kind,
                credential: record.client_secret.clone().into(),
                method: context.auth_method.clone(),
            },
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
            Some(expected) => OAuth::check_expected(&expected, issuer),
            None => Ok(()),
        }
    }

    /// The given client id, if the settings do not name its authorization server.
    fn unpinned_client(&self) -> Option<&Client> {
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
        let key = binding_key(given, &self.server);
        let record = Secret::new(json!(issuer).to_string());
        self.oauth.store.save(&key, &record).await
    }

    /// Loads a given client id's issuer.
    async fn load_binding(&self, given: &Client) -> Result<Option<String>, AuthError> {
        let key = binding_key(given, &self.server);
        let stored = self.oauth.store.load(&key).await?;
        Ok(stored.and_then(|stored| serde_json::from_str(stored.expose()).ok()))
    }
}

fn binding_key(given: &Client, server: &Url) -> StoreKey {
    StoreKey::registration(&resource::canonical(server), &given.id)
}
