//! [`Renewal`]: a token for a need: after a challenge, before the token expires, for further scopes.

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;

use crate::challenge::Challenge;
use crate::client::discovery::{Discovered, Discovery};
use crate::client::event::AuthEvent;
use crate::client::grants::{Issuance, select_scopes, within};
use crate::client::login::Login;
use crate::client::oauth::ResourceIndicator;
use crate::client::record::{ActiveToken, StoredCredentials, TokenContext, TokenRequest};
use crate::client::refresh::Refresh;
use crate::error::{AuthError, printable};
use crate::metadata::resource::{self, ResourceMetadata};
use crate::oauth_client::ClientKind;
use crate::scope::Scopes;

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

/// A request that the server refused, or that it would refuse without a token.
#[derive(Clone, Copy, Default)]
struct Refusal<'a> {
    challenge: Option<&'a Challenge>,
    may_refresh: bool,
    /// The user wants to log in, so a refresh that fails does not end the attempt.
    wants_login: bool,
    /// The server accepts requests without a token, so endpoints that nobody names are not tried.
    is_open: bool,
}

impl Login {
    /// Obtains a token for a need.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed.
    pub(crate) async fn renew(&self, need: Need) -> Result<(), AuthError> {
        let outcome = match &need {
            Need::Restore => self.restore().await,
            Need::Expiry => self.before_expiry().await,
            Need::Unauthorized {
                challenge,
                may_refresh,
            } => {
                self.emit(AuthEvent::Challenged { status: 401 });
                let refusal = Refusal {
                    challenge: challenge.as_ref(),
                    may_refresh: *may_refresh,
                    ..Refusal::default()
                };
                self.after_refusal(refusal).await
            }
            Need::Scopes(challenge) => {
                self.emit(AuthEvent::Challenged { status: 403 });
                self.step_up(challenge).await
            }
            Need::Login => self.log_in().await,
        };
        if let Err(error) = &outcome {
            let message = error.to_string();
            self.emit(AuthEvent::Failed { message });
        }
        outcome
    }

    /// Logs in unless the server accepts the token that there is. A request shows it: a token may have been
    /// revoked before it expires.
    async fn log_in(&self) -> Result<(), AuthError> {
        self.restore().await?;
        for may_refresh in [true, false] {
            let refusal = match self.refusal().await? {
                None => return Ok(()),
                // The user is logged in, also if the settings or the server grant no further scope.
                Some((StatusCode::FORBIDDEN, Some(challenge))) => {
                    return match self.step_up(&challenge).await {
                        Err(
                            AuthError::InsufficientScope { .. } | AuthError::ScopeNotAllowed { .. },
                        ) => Ok(()),
                        outcome => outcome,
                    };
                }
                Some(refusal) => refusal,
            };
            let (status, challenge) = refusal;
            let is_open = status != StatusCode::UNAUTHORIZED;
            if !is_open {
                self.emit(AuthEvent::Challenged { status: 401 });
            }
            self.after_refusal(Refusal {
                challenge: challenge.as_ref(),
                may_refresh,
                wants_login: true,
                is_open,
            })
            .await?;
        }
        match (self.refusal().await?, self.token.load_full()) {
            (Some((StatusCode::UNAUTHORIZED, challenge)), Some(token)) => {
                Err(refused(&token, challenge.as_ref()))
            }
            _ => Ok(()),
        }
    }

    /// Asks the server whether it accepts the token in use. Returns `None` if it does, and otherwise its
    /// status and challenge. Without a valid token it is asked for the challenge.
    async fn refusal(&self) -> Result<Option<(StatusCode, Option<Challenge>)>, AuthError> {
        let token = self.token.load_full();
        let token = token.filter(|token| !token.record.is_expired());
        let (status, challenge) = self.probe(token.as_deref()).await?;
        let is_refused = match status {
            StatusCode::UNAUTHORIZED => true,
            StatusCode::FORBIDDEN => {
                let scopes = challenge.as_ref();
                scopes.is_some_and(Challenge::is_insufficient_scope)
            }
            _ => false,
        };
        Ok(match token {
            Some(token) if !is_refused => {
                token.set_accepted();
                None
            }
            _ => Some((status, challenge)),
        })
    }

    async fn before_expiry(&self) -> Result<(), AuthError> {
        let Some(token) = self.token.load_full() else {
            return Ok(());
        };
        let record = &token.record;
        let Some(context) = self.context_of(record).await? else {
            return Ok(());
        };
        let is_renewed = self.refresh(&token, &context).run().await?;
        if is_renewed || self.oauth.grant.has_user() {
            return Ok(());
        }
        let scopes = self.oauth.bounded(&context.requested);
        let request = further_request(record, &context, &scopes);
        self.obtain(&request).await
    }

    fn refresh<'a>(&'a self, token: &'a ActiveToken, context: &'a TokenContext) -> Refresh<'a> {
        Refresh {
            login: self,
            token,
            context,
        }
    }

    async fn obtain(&self, request: &TokenRequest<'_>) -> Result<(), AuthError> {
        let issuance = Issuance {
            login: self,
            request,
        };
        issuance.run().await
    }

    /// Returns the context of a token. For tokens that the program has brought along, this finds their
    /// issuer's metadata. `None` when the MCP server names another authorization server now, which gets
    /// nothing of them.
    pub(crate) async fn context_of<'a>(
        &self,
        record: &'a StoredCredentials,
    ) -> Result<Option<Cow<'a, TokenContext>>, AuthError> {
        if let Some(context) = &record.context {
            return Ok(Some(Cow::Borrowed(context)));
        }
        let discovered = self.discover(Refusal::default(), Some(record)).await?;
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
        let endpoint = &server.token_endpoint;
        self.oauth.check_site(server, "token endpoint", endpoint)?;
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
    async fn after_refusal(&self, refusal: Refusal<'_>) -> Result<(), AuthError> {
        let current = self.token.load_full();
        let known = current.as_ref().map(|token| &token.record);
        if refusal.may_refresh && self.adopt_stored(known).await? {
            return Ok(());
        }
        let token = match current {
            Some(token) => Some(token),
            None => {
                let record = self.stored().await?;
                let token = record.map(|record| ActiveToken::new(record, false));
                token.transpose()?.map(Arc::new)
            }
        };
        let record = token.as_ref().map(|token| &token.record);
        let discovered = self.discover(refusal, record).await?;
        // Credentials of one authorization server are never sent to another one.
        let previous = token.filter(|token| token.record.is_of(&discovered.server));
        let context = previous.as_ref().map(|token| match &token.record.context {
            Some(context) => Ok(context.clone()),
            None => self.found_context(&token.record, &discovered),
        });
        let context = context.transpose()?;
        if refusal.may_refresh
            && let (Some(token), Some(context)) = (&previous, &context)
        {
            match self.refresh(token, context).run().await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // A refusal does not stand in the way of a login.
                Err(error)
                    if refusal.wants_login
                        || matches!(
                            error,
                            AuthError::TokenRejected(_) | AuthError::Malformed { .. }
                        ) =>
                {
                    tracing::warn!(error = %mcp_types::escaped(&error), "the token is not refreshed");
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(token) = self.token.load_full().filter(|token| token.is_useless()) {
            return Err(refused(&token, refusal.challenge));
        }
        let metadata = discovered.resource.as_ref();
        let challenge = refusal.challenge;
        let challenged = challenge.and_then(|challenge| challenge.scope.as_ref());
        let offered = metadata.map(ResourceMetadata::scopes);
        let mut scopes = select_scopes(
            &self.oauth,
            challenged,
            offered.as_ref(),
            &discovered.server,
        );
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
            requires_dpop: metadata.is_some_and(ResourceMetadata::requires_dpop),
            is_legacy: metadata.is_none(),
            previous: previous.as_ref().map(|token| &token.record),
        };
        self.obtain(&request).await
    }

    /// Answers a 403: a token with the scopes so far and the demanded ones.
    // spec: AUTH-C-26
    async fn step_up(&self, challenge: &Challenge) -> Result<(), AuthError> {
        let refusal = Refusal {
            challenge: Some(challenge),
            ..Refusal::default()
        };
        let Some(token) = self.token.load_full() else {
            let may_refresh = true;
            return self
                .after_refusal(Refusal {
                    may_refresh,
                    ..refusal
                })
                .await;
        };
        let record = &token.record;
        let Some(context) = self.context_of(record).await? else {
            return self.after_refusal(refusal).await;
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
        self.obtain(&request).await
    }

    async fn discover(
        &self,
        refusal: Refusal<'_>,
        record: Option<&StoredCredentials>,
    ) -> Result<Discovered, AuthError> {
        // A server that had metadata once cannot be downgraded.
        let may_be_legacy = record.is_none_or(StoredCredentials::may_be_legacy);
        let discovery = Discovery {
            login: self,
            allows_legacy: self.oauth.legacy && may_be_legacy,
            allows_unnamed: !refusal.is_open,
            preferred: record.map(|record| record.issuer.as_str()),
        };
        let limit = self.oauth.limits.discovery;
        let step = "finding the authorization server";
        let found = within(step, limit, discovery.run(refusal.challenge)).await?;
        self.emit(AuthEvent::Discovered {
            issuer: printable(&found.server.issuer),
        });
        Ok(found)
    }

    // spec: AUTH-C-19
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

    /// Returns the issuer whose registration a logout ends. `None` if it cannot be found.
    pub(crate) async fn named_issuer(&self) -> Option<String> {
        let found = self.discover(Refusal::default(), None).await;
        found.ok().map(|found| found.server.issuer)
    }
}

/// Returns the error for a token that the server refuses, when there is no better one.
fn refused(token: &ActiveToken, challenge: Option<&Challenge>) -> AuthError {
    AuthError::TokenRefused {
        token: token.record.access_token.clone(),
        challenge: challenge.cloned(),
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
