//! [`Login`]: one MCP server's login: its settings, the token in use, and the store's records.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use url::{Origin, Position, Url};

use crate::client::event::AuthEvent;
use crate::client::oauth::{Grant, OAuth};
use crate::client::record::{ActiveToken, StoredCredentials, TokenContext};
use crate::client::records::Records;
use crate::dpop::Dpop;
use crate::egress::EgressRules;
use crate::error::{AuthError, bare};
use crate::fetch::Fetcher;
use crate::oauth_client::{Client, ClientKind, Credential};

/// The login at one MCP server. The steps that obtain and renew its tokens are types of their own, which
/// borrow it.
pub(crate) struct Login {
    pub(crate) oauth: OAuth,
    pub(crate) server: Url,
    /// Requests to this origin get the token.
    pub(crate) origin: Origin,
    /// The server's host and port, as request URIs contain them.
    pub(crate) authority: Box<str>,
    pub(crate) fetcher: Fetcher,
    pub(crate) records: Records,
    pub(crate) token: ArcSwapOption<ActiveToken>,
}

impl Login {
    pub(crate) fn new(mut oauth: OAuth, server: &str) -> Result<Self, AuthError> {
        if let Some(client) = &mut oauth.client {
            client.method.clone_from(&oauth.auth_method);
        }
        let url = Url::parse(server.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(server) = url else {
            let message = "the URL of the server is not an http: or https: URL";
            return Err(AuthError::settings(message));
        };
        let mut egress = oauth.egress.clone();
        if let Grant::Enterprise(idp) = &oauth.grant {
            egress = egress.allow_origin(&idp.token_endpoint)?;
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
            records: Records::new(&oauth, &server),
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

    /// Returns whether a challenge for bound tokens is answered rather than one for other tokens.
    pub(crate) fn prefers_dpop(&self) -> bool {
        self.oauth.dpop != Dpop::Off
    }

    /// Loads the tokens. Tokens from another client or authorization server than in the settings
    /// are ignored: a refresh would send the client secret to that server.
    pub(crate) async fn stored(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let record = self.records.tokens().await?;
        Ok(record.filter(|record| self.oauth.check_usable(record).is_ok()))
    }

    /// Uses the stored token, also an expired one: it may be refreshed.
    pub(crate) async fn restore(&self) -> Result<(), AuthError> {
        self.adopt(|_| true).await.map(drop)
    }

    /// Uses the stored token if another process has renewed it. Returns whether it has.
    pub(crate) async fn adopt_stored(
        &self,
        current: Option<&StoredCredentials>,
    ) -> Result<bool, AuthError> {
        let is_renewed = |stored: &StoredCredentials| {
            let known = current.map(|current| &current.access_token);
            !known.is_some_and(|known| known.matches(stored.access_token.expose()))
                && !stored.is_expired()
        };
        self.adopt(is_renewed).await
    }

    async fn adopt(
        &self,
        is_wanted: impl FnOnce(&StoredCredentials) -> bool,
    ) -> Result<bool, AuthError> {
        let Some(stored) = self.stored().await?.filter(is_wanted) else {
            return Ok(false);
        };
        self.publish(stored, false)?;
        self.emit(AuthEvent::Restored);
        Ok(true)
    }

    /// Saves tokens, and then uses them: a rotated refresh token is stored before its first use.
    pub(crate) async fn save_and_publish(
        &self,
        record: StoredCredentials,
        is_new: bool,
    ) -> Result<(), AuthError> {
        // The token is valid even if it is lost at the end of the program.
        if let Err(error) = self.records.save_tokens(&record).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the tokens are not stored");
        }
        self.publish(record, is_new)
    }

    pub(crate) fn publish(&self, record: StoredCredentials, is_new: bool) -> Result<(), AuthError> {
        let token = ActiveToken::new(record, is_new)?;
        self.token.store(Some(Arc::new(token)));
        Ok(())
    }

    /// Forgets the tokens. Registrations are kept.
    pub(crate) async fn forget_tokens(&self) -> Result<(), AuthError> {
        self.token.store(None);
        self.records.remove_tokens().await
    }

    /// Returns the client in a record: secrets and keys of given clients are in the settings, or in a record
    /// that the program has completed.
    pub(crate) fn client_of(&self, record: &StoredCredentials, context: &TokenContext) -> Client {
        let is_complete = |given: &Client| {
            !matches!(given.credential, Credential::None) || record.client_secret.is_none()
        };
        match &self.oauth.client {
            Some(given) if given.id == record.client_id && is_complete(given) => given.clone(),
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
        match self.records.binding(&given.id).await? {
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
    pub(crate) async fn bind_issuer(&self, client: &Client, issuer: &str) -> Result<(), AuthError> {
        let Some(given) = self.unpinned_client() else {
            return Ok(());
        };
        if client.kind != ClientKind::PreRegistered
            || self.records.binding(&given.id).await?.is_some()
        {
            return Ok(());
        }
        self.records.bind(&given.id, issuer).await
    }
}
