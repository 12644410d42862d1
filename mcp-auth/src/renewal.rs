//! Renewing tokens: after a challenge, before they expire, and for further scopes.

use std::borrow::Cow;
use std::time::Duration;

use crate::challenge::Challenge;
use crate::client::ClientKind;
use crate::discovery::{Discovered, Discovery};
use crate::error::{AuthError, printable};
use crate::event::AuthEvent;
use crate::fetch::TokenForm;
use crate::grants::{select_scopes, within};
use crate::key::ProofKey;
use crate::metadata::resource;
use crate::oauth::ResourceIndicator;
use crate::record::{StoredCredentials, TokenContext, TokenRequest};
use crate::scope::Scopes;
use crate::state::LoginState;
use crate::token::{TokenEndpoint, Tokens};

/// The reason for a new token.
#[derive(Debug, Clone)]
pub(crate) enum Need {
    /// The first request of the program: tokens may be in the store.
    Restore,
    /// The token expires soon.
    Expiry,
    /// The server refused a request with 401.
    Unauthorized {
        challenge: Option<Challenge>,
        /// A refresh may help: it was not tried for this request.
        may_refresh: bool,
    },
    /// The server demands further scopes (403).
    Scopes(Challenge),
    /// The program wants the user to be logged in.
    Login,
}

/// The outcome of a refresh.
enum Refresh {
    Renewed,
    /// No refresh token, or one that the server refuses.
    Impossible,
}

/// Delays between attempts of a refresh that failed for a moment.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

impl LoginState {
    /// Obtains a token for a need.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed.
    pub(crate) async fn renew(&self, need: Need) -> Result<(), AuthError> {
        let outcome = match &need {
            Need::Restore => self.restore().await.map(drop),
            Need::Expiry => self.before_expiry().await,
            Need::Unauthorized {
                challenge,
                may_refresh,
            } => {
                self.emit(AuthEvent::Challenged { status: 401 });
                self.after_refusal(challenge.as_ref(), *may_refresh).await
            }
            Need::Scopes(challenge) => {
                self.emit(AuthEvent::Challenged { status: 403 });
                self.step_up(challenge).await
            }
            Need::Login => match self.restore().await {
                Ok(true) => Ok(()),
                Ok(false) => self.after_refusal(None, true).await,
                Err(error) => Err(error),
            },
        };
        if let Err(error) = &outcome {
            let message = error.to_string();
            self.emit(AuthEvent::Failed { message });
        }
        outcome
    }

    /// Uses the stored token. Returns whether there is one that has not expired.
    async fn restore(&self) -> Result<bool, AuthError> {
        let Some(record) = self.load_tokens().await? else {
            return Ok(false);
        };
        let is_valid = !record.is_expired();
        self.publish(record, false)?;
        self.emit(AuthEvent::Restored);
        Ok(is_valid)
    }

    async fn before_expiry(&self) -> Result<(), AuthError> {
        let Some(token) = self.token.load_full() else {
            return Ok(());
        };
        let record = &token.record;
        let Some(context) = self.context_of(record).await? else {
            return Ok(());
        };
        match self.refresh(record, &context).await? {
            Refresh::Renewed => Ok(()),
            Refresh::Impossible if self.is_machine() => {
                let scopes = self.oauth.bounded(&context.requested);
                let request = further_request(record, &context, &scopes);
                self.obtain_token(&request).await
            }
            Refresh::Impossible => Ok(()),
        }
    }

    /// Returns the context of a token. For tokens that the program has brought along, this finds their
    /// issuer's metadata. `None` when the MCP server names another authorization server now, which gets
    /// nothing of them.
    async fn context_of<'a>(
        &self,
        record: &'a StoredCredentials,
    ) -> Result<Option<Cow<'a, TokenContext>>, AuthError> {
        if let Some(context) = &record.context {
            return Ok(Some(Cow::Borrowed(context)));
        }
        let discovered = self.discover(None, Some(record)).await?;
        if !record.is_of(&discovered.server) {
            return Ok(None);
        }
        self.found_context(record, &discovered)
            .map(Cow::Owned)
            .map(Some)
    }

    /// Returns the context of tokens that the program has brought along.
    fn found_context(
        &self,
        record: &StoredCredentials,
        discovered: &Discovered,
    ) -> Result<TokenContext, AuthError> {
        let server = &discovered.server;
        self.check_site(server, "token endpoint", &server.token_endpoint)?;
        Ok(TokenContext {
            server: server.clone(),
            resource: self.resource_indicator(discovered),
            requested: record.scopes.clone(),
            is_legacy: discovered.resource.is_none(),
            client_kind: ClientKind::Dynamic,
            auth_method: None,
        })
    }

    /// Answers a 401: another process's token, a refresh, or a new login.
    async fn after_refusal(
        &self,
        challenge: Option<&Challenge>,
        may_refresh: bool,
    ) -> Result<(), AuthError> {
        let current = self.token.load_full();
        if may_refresh
            && self
                .adopt_stored(current.as_ref().map(|token| &token.record))
                .await?
        {
            return Ok(());
        }
        let record = match &current {
            Some(token) => Some(token.record.clone()),
            None => self.load_tokens().await?,
        };
        let discovered = self.discover(challenge, record.as_ref()).await?;
        // Credentials of one authorization server are never sent to another one.
        let previous = record.filter(|record| record.is_of(&discovered.server));
        let context = previous.as_ref().map(|record| match &record.context {
            Some(context) => Ok(context.clone()),
            None => self.found_context(record, &discovered),
        });
        let context = context.transpose()?;
        if may_refresh
            && let (Some(record), Some(context)) = (&previous, &context)
            && let Refresh::Renewed = self.refresh(record, context).await?
        {
            return Ok(());
        }
        if let Some(token) = current.filter(|token| token.is_useless()) {
            return Err(AuthError::TokenRefused {
                token: token.record.access_token.clone(),
                challenge: challenge.cloned(),
            });
        }
        let metadata = discovered.resource.as_ref();
        let challenged = challenge.and_then(|challenge| challenge.scope.as_ref());
        let offered = metadata.map(|metadata| &metadata.scopes);
        let mut scopes = select_scopes(&self.oauth, challenged, offered, &discovered.server);
        if let Some(context) = &context
            && self.oauth.grant.has_user()
        {
            scopes = self.oauth.bounded(&context.requested).union(&scopes);
        }
        let resource = self.resource_indicator(&discovered);
        let request = TokenRequest {
            server: &discovered.server,
            resource: resource.as_deref(),
            scopes: &scopes,
            requires_dpop: metadata.is_some_and(|metadata| metadata.requires_dpop),
            is_legacy: metadata.is_none(),
            previous: previous.as_ref(),
        };
        self.obtain_token(&request).await
    }

    /// Answers a 403: a token with the scopes so far and the demanded ones.
    async fn step_up(&self, challenge: &Challenge) -> Result<(), AuthError> {
        let Some(token) = self.token.load_full() else {
            return self.after_refusal(Some(challenge), true).await;
        };
        let record = &token.record;
        let Some(context) = self.context_of(record).await? else {
            return self.after_refusal(Some(challenge), false).await;
        };
        let required = challenge.scope.clone().unwrap_or_default();
        // The same request once more would change nothing.
        if record.scopes.contains_all(&required) || context.requested.contains_all(&required) {
            return Err(AuthError::InsufficientScope {
                required: required.to_string(),
                granted: record.scopes.to_string(),
            });
        }
        // Scopes that the authorization server granted unasked do not end in an error.
        let known = context.requested.union(&record.scopes);
        let scopes = self.oauth.bounded(&known).union(&required);
        let request = further_request(record, &context, &scopes);
        self.obtain_token(&request).await
    }

    async fn discover(
        &self,
        challenge: Option<&Challenge>,
        record: Option<&StoredCredentials>,
    ) -> Result<Discovered, AuthError> {
        let discovery = Discovery {
            state: self,
            // A server that had metadata once cannot be downgraded.
            allows_legacy: self.oauth.legacy && record.is_none_or(StoredCredentials::may_be_legacy),
            preferred: record.map(|record| record.issuer.as_str()),
        };
        let limit = self.oauth.limits.discovery;
        let step = "finding the authorization server";
        let found = within(step, limit, discovery.run(challenge)).await?;
        self.emit(AuthEvent::Discovered {
            issuer: printable(&found.server.issuer),
        });
        Ok(found)
    }

    fn resource_indicator(&self, discovered: &Discovered) -> Option<String> {
        match &self.oauth.resource {
            ResourceIndicator::Omit => None,
            ResourceIndicator::Fixed(resource) => Some(resource.clone()),
            ResourceIndicator::FromMetadata => Some(match &discovered.resource {
                Some(metadata) => metadata.resource.clone(),
                None => resource::canonical(&self.server),
            }),
        }
    }

    /// Uses the stored token if another process has renewed it.
    async fn adopt_stored(&self, current: Option<&StoredCredentials>) -> Result<bool, AuthError> {
        let Some(stored) = self.load_tokens().await? else {
            return Ok(false);
        };
        let is_same = current
            .is_some_and(|current| current.access_token.matches(stored.access_token.expose()));
        if is_same || stored.is_expired() {
            return Ok(false);
        }
        self.publish(stored, false)?;
        self.emit(AuthEvent::Restored);
        Ok(true)
    }

    /// Refreshes a token. One process at a time does this; the others use its result.
    async fn refresh(
        &self,
        record: &StoredCredentials,
        context: &TokenContext,
    ) -> Result<Refresh, AuthError> {
        if record.refresh_token.is_none() {
            return Ok(Refresh::Impossible);
        }
        let key = self.tokens_key();
        let _lock = self.oauth.store.lock(&key, self.oauth.limits.lock).await?;
        if self.adopt_stored(Some(record)).await? {
            return Ok(Refresh::Renewed);
        }
        // An expired record of another process has the newest refresh token, too.
        let stored = self.load_tokens().await?;
        let base = stored.filter(|stored| stored.is_of(&context.server));
        let base = base.as_ref().unwrap_or(record);
        match self.request_refresh(base, context).await {
            Ok(tokens) => {
                let renewed = base.refreshed(context, tokens);
                let expires_in = renewed.expires_in();
                // A refresh does not make a token useful that the server has never accepted.
                let current = self.token.load_full();
                let is_new = current.is_some_and(|token| token.is_useless());
                self.save_and_publish(renewed, is_new).await?;
                self.emit(AuthEvent::Refreshed { expires_in });
                Ok(Refresh::Renewed)
            }
            Err(AuthError::TokenRejected(code)) => {
                // The store may have no lock that all its users respect.
                if self.adopt_stored(Some(base)).await? {
                    return Ok(Refresh::Renewed);
                }
                if code.code == "invalid_client" {
                    let registration = self.registration_key(&base.issuer);
                    self.oauth.store.remove(&registration).await?;
                }
                self.forget_tokens().await?;
                Ok(Refresh::Impossible)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends the refresh token. Failures that may pass are retried.
    async fn request_refresh(
        &self,
        record: &StoredCredentials,
        context: &TokenContext,
    ) -> Result<Tokens, AuthError> {
        let key = record.proof_key()?;
        let mut retries = RETRIES.iter();
        loop {
            let tokens = self.request_refresh_once(record, context, key.as_ref());
            match tokens.await {
                Err(error) if error.is_transient() => match retries.next() {
                    Some(delay) => tokio::time::sleep(*delay).await,
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    async fn request_refresh_once(
        &self,
        record: &StoredCredentials,
        context: &TokenContext,
        key: Option<&ProofKey>,
    ) -> Result<Tokens, AuthError> {
        let Some(refresh) = &record.refresh_token else {
            return Err(AuthError::Interrupted);
        };
        // Without `scope`: the scopes of the token are kept.
        let mut form = TokenForm::new("refresh_token");
        form.set("refresh_token", refresh.clone());
        form.set_resource(context.resource.as_deref());
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            server: &context.server,
            key,
        };
        let client = self.client_of(record, context);
        let tokens = endpoint.request(&client, form).await?;
        self.check_token_type(&tokens, &context.server)?;
        Ok(tokens)
    }

    /// Revokes the tokens at the authorization server if it offers that, and forgets them.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the tokens may still be stored.
    pub(crate) async fn log_out(&self) -> Result<(), AuthError> {
        let record = match self.token.load_full() {
            Some(token) => Some(token.record.clone()),
            None => self.load_tokens().await?,
        };
        self.forget_tokens().await?;
        self.emit(AuthEvent::LoggedOut);
        let Some(record) = record else {
            return Ok(());
        };
        if let Err(error) = self.revoke(&record).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the tokens are not revoked");
        }
        Ok(())
    }

    async fn revoke(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        let Some(context) = self.context_of(record).await? else {
            return Ok(());
        };
        let Some(url) = &context.server.revocation_endpoint else {
            return Ok(());
        };
        let mut form = TokenForm::default();
        match &record.refresh_token {
            Some(refresh) => {
                form.set("token", refresh.clone());
                form.set("token_type_hint", "refresh_token");
            }
            None => {
                form.set("token", record.access_token.clone());
                form.set("token_type_hint", "access_token");
            }
        }
        self.client_of(record, &context)
            .authenticate(&context.server, &mut form)?;
        let fetched = self.fetcher.post_form(url, &form).await?;
        if fetched.status.is_success() {
            Ok(())
        } else {
            Err(fetched.transient_error())
        }
    }
}

/// Returns the request for a further token like the one of `record`.
fn further_request<'a>(
    record: &'a StoredCredentials,
    context: &'a TokenContext,
    scopes: &'a Scopes,
) -> TokenRequest<'a> {
    TokenRequest {
        server: &context.server,
        resource: context.resource.as_deref(),
        scopes,
        requires_dpop: record.proof_key.is_some(),
        is_legacy: context.is_legacy,
        previous: Some(record),
    }
}
