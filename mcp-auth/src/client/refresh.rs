//! [`Refresh`]: one use of a refresh token.

use std::time::Duration;

use crate::client::event::AuthEvent;
use crate::client::login::Login;
use crate::client::record::{ActiveToken, StoredCredentials, TokenContext};
use crate::error::{AuthError, OAuthCode};
use crate::fetch::TokenForm;
use crate::key::ProofKey;
use crate::oauth_client::ClientKind;
use crate::token::{TokenEndpoint, Tokens};

/// Delays between attempts of a refresh that failed for a moment.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// Time without a refresh after a refusal that does not end the refresh token.
const REFUSAL_PAUSE: Duration = Duration::from_secs(60);

/// The refresh of one token. One process at a time does this; the others use its result.
pub(crate) struct Refresh<'a> {
    pub(crate) login: &'a Login,
    pub(crate) token: &'a ActiveToken,
    pub(crate) context: &'a TokenContext,
}

impl Refresh<'_> {
    /// Refreshes the token. Returns false if it has no refresh token, or one that the authorization server
    /// has ended.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of a failure that keeps the refresh token.
    pub(crate) async fn run(&self) -> Result<bool, AuthError> {
        let record = &self.token.record;
        if record.refresh_token.is_none() {
            return Ok(false);
        }
        let limit = self.login.oauth.limits.lock;
        let _lock = self.login.records.lock(limit).await?;
        if self.login.adopt_stored(Some(record)).await? {
            return Ok(true);
        }
        if let Some(code) = self.token.refresh_refusal() {
            return Err(AuthError::TokenRejected(code));
        }
        // An expired record of another process has the newest refresh token, too.
        let stored = self.login.stored().await?;
        let base = stored.filter(|stored| stored.is_of(&self.context.server));
        let base = base.as_ref().unwrap_or(record);
        match self.request(base).await {
            Ok(tokens) => {
                let renewed = base.refreshed(self.context, tokens);
                let expires_in = renewed.expires_in();
                self.replace(renewed).await?;
                self.login.emit(AuthEvent::Refreshed { expires_in });
                Ok(true)
            }
            // The store may have no lock that all its users respect.
            Err(AuthError::TokenRejected(_)) if self.login.adopt_stored(Some(base)).await? => {
                Ok(true)
            }
            Err(AuthError::TokenRejected(code)) => self.refused(base, code).await,
            Err(error) => Err(error),
        }
    }

    /// Ends what the authorization server has refused: the refresh token, or the registration with it. The
    /// access token is used until it expires or the MCP server refuses it.
    async fn refused(&self, base: &StoredCredentials, code: OAuthCode) -> Result<bool, AuthError> {
        let is_purged =
            self.context.client_kind == ClientKind::Dynamic && self.login.oauth.client.is_none();
        // The server of the Python SDK answers `unauthorized_client`.
        if is_purged && code.is_unknown_client() {
            self.login.records.remove_registration(&base.issuer).await?;
        }
        match code.code.as_str() {
            "invalid_grant" | "bad_refresh_token" => {}
            "invalid_client" if is_purged => {}
            _ => {
                self.token.postpone(REFUSAL_PAUSE, Some(code.clone()));
                return Err(AuthError::TokenRejected(code));
            }
        }
        // The record also knows the client that the next login uses.
        let mut record = base.clone();
        record.refresh_token = None;
        self.replace(record).await?;
        Ok(false)
    }

    /// Stores and uses a record. A refresh does not make a token useful that the server has never accepted.
    async fn replace(&self, record: StoredCredentials) -> Result<(), AuthError> {
        let current = self.login.token.load_full();
        let is_new = current.is_some_and(|token| token.is_useless());
        self.login.save_and_publish(record, is_new).await
    }

    /// Sends the refresh token. Failures that may pass are retried.
    async fn request(&self, record: &StoredCredentials) -> Result<Tokens, AuthError> {
        let key = record.proof_key()?;
        let mut retries = RETRIES.iter();
        loop {
            match self.request_once(record, key.as_ref()).await {
                Err(error) if error.is_transient() => match retries.next() {
                    Some(delay) => tokio::time::sleep(*delay).await,
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    async fn request_once(
        &self,
        record: &StoredCredentials,
        key: Option<&ProofKey>,
    ) -> Result<Tokens, AuthError> {
        let Some(refresh) = &record.refresh_token else {
            // Another process has found that the refresh token is ended.
            let code = OAuthCode::new("invalid_grant", None);
            return Err(AuthError::TokenRejected(code));
        };
        // Without `scope`: the scopes of the token are kept.
        let mut form = TokenForm::new("refresh_token");
        form.set("refresh_token", refresh.clone());
        form.set_resource(self.context.resource.as_deref());
        let endpoint = TokenEndpoint {
            fetcher: &self.login.fetcher,
            server: &self.context.server,
            key,
            requested: &record.scopes,
        };
        let client = self.login.client_of(record, self.context);
        let tokens = endpoint.request(&client, form).await?;
        self.login
            .oauth
            .check_token_type(&tokens, &self.context.server)?;
        Ok(tokens)
    }
}
