//! [`Authorizer`]: tokens for the requests to one MCP server.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, Request, StatusCode, Uri};
use mcp_core::ChannelError;
use mcp_transport_http::headers::names;
use parking_lot::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::challenge::{Challenge, TokenType};
use crate::client::event::AuthEvent;
use crate::client::login::Login;
use crate::client::oauth::{Grant, OAuth};
use crate::client::record::{ActiveToken, StoredCredentials, authorization};
use crate::client::renewal::Need;
use crate::client::source::Source;
use crate::error::{AuthError, printable, shown};
use crate::flight::Flight;
use crate::limits::{MAX_STEP_UPS, MAX_STEP_UPS_PER_METHOD, STEP_UP_WINDOW};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::token::is_token;

/// Tokens for the requests to one MCP server. Clones share them.
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::OAuth;
///
/// # async fn run() -> Result<(), mcp_auth::AuthError> {
/// let authorizer = OAuth::interactive("My Agent").authorizer("https://mcp.example.com/mcp")?;
/// authorizer.login().await?;
/// println!("{:?}", authorizer.status());
/// authorizer.logout().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Authorizer(Arc<Inner>);

struct Inner {
    login: Arc<Login>,
    flight: Flight,
    restored: AtomicBool,
    step_ups: Mutex<HashMap<String, StepUps>>,
}

/// Logins for further scopes of one method.
struct StepUps {
    count: u32,
    since: Instant,
}

/// Time without a refresh after one that failed while the token is still valid.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// Number of methods whose logins are counted.
const MAX_METHODS: usize = 256;

/// The login state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthStatus {
    /// No token, or the store was not read yet.
    LoggedOut,
    /// A token is in use.
    LoggedIn {
        /// The token issuer.
        issuer: String,
        /// The granted scopes.
        scopes: Scopes,
        /// Seconds until the token expires. `None` when the server did not say.
        expires_in: Option<u64>,
        /// The token can be refreshed without the user.
        refreshable: bool,
    },
    /// The program gives the token.
    External,
}

impl OAuth {
    /// Creates the authorizer of one MCP server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when a setting or the URL is invalid, and
    /// [`AuthError::Egress`] when the URL is `http:` and not on this machine: tokens need TLS.
    pub fn authorizer(&self, server: impl AsRef<str>) -> Result<Authorizer, AuthError> {
        self.check()?;
        Ok(Authorizer(Arc::new(Inner {
            login: Arc::new(Login::new(self.clone(), server.as_ref())?),
            flight: Flight::default(),
            restored: AtomicBool::new(false),
            step_ups: Mutex::default(),
        })))
    }

    /// Creates the authorizer for one MCP server when several ones share these settings, as in a group.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] also when a secret could reach a server that it is not for: a client
    /// secret without an [`issuer`](Self::issuer), because each server names authorization servers; and a
    /// [`token`](Self::token), which is for one server. Other errors are those of
    /// [`authorizer`](Self::authorizer).
    pub fn group_authorizer(&self, server: impl AsRef<str>) -> Result<Authorizer, AuthError> {
        self.check_shared()?;
        self.authorizer(server)
    }
}

impl Authorizer {
    /// The MCP server's URL.
    pub fn server(&self) -> &Url {
        &self.0.login.server
    }

    /// Logs in unless the server accepts the token that there is. With a user this opens the login page.
    ///
    /// A `ping` request shows whether the server accepts the token, before and after the login. Without a
    /// token, its response has the challenge that names the metadata and the scopes.
    ///
    /// # Errors
    ///
    /// Returns the [`AuthError`] of the step that failed, and [`AuthError::TokenRefused`] when the server
    /// refuses the new token.
    pub async fn login(&self) -> Result<(), AuthError> {
        if matches!(self.0.login.oauth.grant, Grant::Token(_)) {
            return Ok(());
        }
        // A renewal of a request is not a login.
        let _ = self.0.flight.wait().await;
        self.0.restored.store(true, Ordering::Release);
        self.renew(Need::Login, || false).await
    }

    /// Revokes the tokens where the authorization server offers that, and removes them from the
    /// store. The registration of this client there is forgotten, too: the next login registers it anew.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the tokens may still be stored.
    pub async fn logout(&self) -> Result<(), AuthError> {
        let _ = self.0.flight.wait().await;
        self.0.login.log_out().await
    }

    /// Returns whether there is a token. Sends nothing.
    pub fn status(&self) -> AuthStatus {
        if matches!(self.0.login.oauth.grant, Grant::Token(_)) {
            return AuthStatus::External;
        }
        let Some(token) = self.0.login.token.load_full() else {
            return AuthStatus::LoggedOut;
        };
        let record = &token.record;
        AuthStatus::LoggedIn {
            issuer: printable(&record.issuer),
            scopes: record.scopes.clone(),
            expires_in: record.expires_in(),
            refreshable: record.refresh_token.is_some() || !self.0.login.oauth.grant.has_user(),
        }
    }

    /// Subscribes to the events of authorization, as [`OAuth::events`] does.
    pub fn events(&self) -> impl Stream<Item = AuthEvent> + Send + Unpin + use<> {
        self.0.login.oauth.events()
    }

    /// Uses tokens that the program brings along, and saves them in the store. They replace those in use.
    /// Sends nothing.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`], [`AuthError::Settings`] or [`AuthError::NoDpop`] when the settings
    /// name another issuer or client, or demand a key; [`AuthError::Source`] when the access token is not one; and
    /// [`AuthError::Store`] when the tokens are not saved.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{OAuth, Secret, StoredCredentials};
    ///
    /// # async fn run() -> Result<(), mcp::auth::AuthError> {
    /// let authorizer = OAuth::interactive("My Agent").authorizer("https://mcp.example.com/mcp")?;
    /// let mut credentials = StoredCredentials::new("https://login.example.com", "my-agent", "access token");
    /// credentials.refresh_token = Some(Secret::new("refresh token"));
    /// authorizer.import(credentials).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn import(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let login = &self.0.login;
        if matches!(login.oauth.grant, Grant::Token(_)) {
            let message = "the program manages the token itself; remove .token(…) to import one";
            return Err(AuthError::settings(message));
        }
        login.oauth.check_usable(&credentials)?;
        check_token(&credentials.access_token)?;
        let _ = self.0.flight.wait().await;
        login.records.save_tokens(&credentials).await?;
        login.publish(credentials, false)?;
        self.0.restored.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns the identifier of the protocol extension that the grant uses: client credentials,
    /// enterprise-managed authorization or workload identity. `None` for the other grants, which are
    /// part of the protocol itself. A client declares it in its capabilities; one that connects with the
    /// authorizer does so by itself.
    pub fn extension_id(&self) -> Option<&'static str> {
        self.0.login.oauth.extension_id()
    }

    /// Waits for a login or refresh that is in progress. Returns its outcome, or `None` when there
    /// is none. A call does not wait for a user longer than its timeout, but the login continues; call
    /// again when it is done.
    pub async fn wait_for_login(&self) -> Option<Result<(), AuthError>> {
        self.0.flight.wait().await
    }

    /// Returns whether requests to `uri` get the token: those to the MCP server's origin.
    pub(crate) fn covers(&self, uri: &Uri) -> bool {
        let login = &self.0.login;
        // spec: AUTH-C-28
        let is_usual = uri.scheme_str() == Some(login.server.scheme())
            && uri
                .authority()
                .is_some_and(|authority| authority.as_str() == &*login.authority);
        // Another notation of the same origin, such as one with the default port.
        is_usual || parse(uri).is_some_and(|url| url.origin() == login.origin)
    }

    /// Returns the token for a request that need not wait for it. `None` without a token, and for one that
    /// expires soon.
    pub(crate) fn ready_token(&self) -> Option<RequestToken> {
        let login = &self.0.login;
        let token = login.token.load_full()?;
        let can_renew = token.record.refresh_token.is_some() || !login.oauth.grant.has_user();
        (!can_renew || !token.is_due()).then_some(RequestToken::Active(token))
    }

    /// Returns the token for a request. Refreshes it first if it expires soon.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when an expired token cannot be renewed for the moment.
    pub(crate) async fn token(&self) -> Result<RequestToken, AuthError> {
        let login = &self.0.login;
        if let Grant::Token(source) = &login.oauth.grant {
            return external(source).await;
        }
        if !self.0.restored.load(Ordering::Acquire) {
            let token = || login.token.load().is_some();
            self.renew(Need::Restore, token).await?;
            self.0.restored.store(true, Ordering::Release);
        }
        if let Some(token) = self.ready_token() {
            return Ok(token);
        }
        let Some(token) = login.token.load_full() else {
            return Ok(RequestToken::None);
        };
        let renewed = self
            .renew(Need::Expiry, self.is_replaced(Some(&token)))
            .await;
        match renewed {
            Ok(()) => Ok(login
                .token
                .load_full()
                .map_or(RequestToken::None, RequestToken::Active)),
            Err(error) if token.record.is_expired() && error.is_transient() => Err(error),
            // The token is still valid, or the server's challenge starts a login.
            Err(_) => {
                if token.refresh_refusal().is_none() {
                    token.postpone(RETRY_PAUSE, None);
                }
                Ok(RequestToken::Active(token))
            }
        }
    }

    /// Returns whether the token in use is another one than that of a request.
    fn is_replaced(&self, used: Option<&Arc<ActiveToken>>) -> impl FnOnce() -> bool {
        move || {
            let current = self.0.login.token.load();
            let current = current.as_ref();
            current.is_some_and(|current| used.is_none_or(|used| !Arc::ptr_eq(current, used)))
        }
    }

    async fn renew(&self, need: Need, is_done: impl FnOnce() -> bool) -> Result<(), AuthError> {
        let login = Arc::clone(&self.0.login);
        let work = || async move { login.renew(need).await };
        self.0.flight.run(|| is_done().then_some(()), work).await
    }

    /// Sets the authorization headers of a request.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the proof of possession cannot be signed.
    // spec: HTTP-C-13
    pub(crate) fn set_headers(
        &self,
        token: &RequestToken,
        request: &mut Request<Bytes>,
    ) -> Result<(), AuthError> {
        match token {
            RequestToken::None => {}
            RequestToken::External(token) => {
                let header = authorization("Bearer", token)?;
                request.headers_mut().insert(AUTHORIZATION, header);
            }
            RequestToken::Active(token) => {
                let url = token.is_dpop().then(|| parse(request.uri())).flatten();
                let method = request.method().clone();
                let nonces = &self.0.login.fetcher.nonces;
                token.set_headers(request.headers_mut(), nonces, &method, url.as_ref())?;
            }
        }
        Ok(())
    }

    /// Records the response to a request. Returns whether the server has refused the request.
    pub(crate) fn record_response(
        &self,
        (status, headers): (StatusCode, &HeaderMap),
        request: &Request<Bytes>,
        token: &RequestToken,
    ) -> bool {
        if let RequestToken::Active(token) = token {
            if token.is_dpop()
                && let Some(url) = parse(request.uri())
            {
                self.0.login.fetcher.nonces.update(&url, headers);
            }
            if status != StatusCode::UNAUTHORIZED {
                token.set_accepted();
            }
        }
        matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    }

    /// Handles a response that refuses its request. Returns whether to send the request again.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when the server demands authorization and there is none.
    pub(crate) async fn handle_refusal(
        &self,
        (status, headers): (StatusCode, &HeaderMap),
        request: &Request<Bytes>,
        token: &RequestToken,
        budget: &mut Budget,
    ) -> Result<bool, AuthError> {
        let used = match token {
            RequestToken::Active(token) => Some(token),
            RequestToken::None => None,
            RequestToken::External(token) if status == StatusCode::UNAUTHORIZED => {
                return Err(AuthError::TokenRefused {
                    token: token.clone(),
                    challenge: Challenge::select(headers, false),
                });
            }
            RequestToken::External(_) => return Ok(false),
        };
        let challenge = Challenge::select(headers, self.0.login.prefers_dpop());
        if status == StatusCode::UNAUTHORIZED {
            return self.unauthorized(challenge, used, budget).await;
        }
        match challenge.filter(Challenge::is_insufficient_scope) {
            Some(challenge) => self.forbidden(challenge, request, used, budget).await,
            None => Ok(false),
        }
    }

    async fn unauthorized(
        &self,
        challenge: Option<Challenge>,
        used: Option<&Arc<ActiveToken>>,
        budget: &mut Budget,
    ) -> Result<bool, AuthError> {
        let demands_nonce = challenge
            .as_ref()
            .is_some_and(|one| one.scheme == TokenType::Dpop && one.is_use_dpop_nonce());
        let is_dpop = used.is_some_and(|token| token.is_dpop());
        if demands_nonce && is_dpop && !std::mem::replace(&mut budget.nonce_used, true) {
            return Ok(true);
        }
        budget.refusals += 1;
        let may_refresh = match budget.refusals {
            1 => true,
            2 => false,
            _ => {
                let token = used.ok_or(AuthError::Interrupted)?;
                return Err(AuthError::TokenRefused {
                    token: token.record.access_token.clone(),
                    challenge,
                });
            }
        };
        let need = Need::Unauthorized {
            challenge,
            may_refresh,
        };
        let is_done = self.is_replaced(used);
        self.renew(need, is_done).await?;
        Ok(true)
    }

    async fn forbidden(
        &self,
        challenge: Challenge,
        request: &Request<Bytes>,
        used: Option<&Arc<ActiveToken>>,
        budget: &mut Budget,
    ) -> Result<bool, AuthError> {
        budget.step_ups += 1;
        if budget.step_ups > MAX_STEP_UPS {
            return Err(AuthError::StepUpLimit {
                limit: MAX_STEP_UPS,
            });
        }
        let is_done = self.is_replaced(used);
        let login = Arc::clone(&self.0.login);
        let work = || {
            let counted = self.count_step_up(operation(request));
            async move {
                counted?;
                let need = Need::Scopes(challenge);
                login.renew(need).await
            }
        };
        self.0.flight.run(|| is_done().then_some(()), work).await?;
        Ok(true)
    }

    /// Counts logins for further scopes per method and name.
    fn count_step_up(&self, operation: String) -> Result<(), AuthError> {
        let now = Instant::now();
        let mut all = self.0.step_ups.lock();
        all.retain(|_, entry| now.duration_since(entry.since) < STEP_UP_WINDOW);
        let limit = AuthError::StepUpLimit {
            limit: MAX_STEP_UPS_PER_METHOD,
        };
        if all.len() >= MAX_METHODS && !all.contains_key(&operation) {
            return Err(limit);
        }
        let entry = all.entry(operation).or_insert(StepUps {
            count: 0,
            since: now,
        });
        entry.count += 1;
        if entry.count > MAX_STEP_UPS_PER_METHOD {
            Err(limit)
        } else {
            Ok(())
        }
    }
}

/// The token of one request.
pub(crate) enum RequestToken {
    None,
    Active(Arc<ActiveToken>),
    /// A token that the program manages.
    External(Secret),
}

/// The method and the name of the tool, as far as headers tell them.
fn operation(request: &Request<Bytes>) -> String {
    let text = |name: HeaderName| {
        let value = request.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let (method, name) = (text(names::MCP_METHOD), text(names::MCP_NAME));
    format!("{method} {name}")
}

/// The attempts for one request.
#[derive(Default)]
pub(crate) struct Budget {
    refusals: u32,
    step_ups: u32,
    nonce_used: bool,
}

fn parse(uri: &Uri) -> Option<Url> {
    Url::parse(&uri.to_string()).ok()
}

async fn external(source: &Source) -> Result<RequestToken, AuthError> {
    let token: Secret = source().await?;
    check_token(&token)?;
    Ok(RequestToken::External(token))
}

/// Checks a token that the program gives.
fn check_token(token: &Secret) -> Result<(), AuthError> {
    if is_token(token) {
        return Ok(());
    }
    let message = "the token is empty, too long, or not visible ASCII";
    Err(AuthError::Source(message.to_owned()))
}

/// The error of a call that authorization failed.
impl From<AuthError> for ChannelError {
    fn from(error: AuthError) -> Self {
        Self::Unauthorized {
            source: Box::new(error),
        }
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("server", &shown(&self.0.login.server))
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
