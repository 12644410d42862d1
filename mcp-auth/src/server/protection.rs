//! [`Protection`]: checks requests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION, CONTENT_TYPE, COOKIE, PROXY_AUTHORIZATION,
};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Response, StatusCode};
use mcp_core::{
    AuthMetrics, LogLimit, Panicked, Principal, RequiredScopes, catch_panic, catch_panic_sync,
};
use mcp_transport_http::public_document::PublicDocument;
use parking_lot::Mutex;
use tokio::time::timeout;

use super::cache::{Digest, ExpiringCache};
use super::challenge::{Challenges, Refusal, set_nonce};
use super::identity::{AccessToken, Claims};
use super::introspection::{Introspection, Introspector};
use super::issuer::Issuer;
use super::jwt::{Algorithm, ClaimRules, Jws, check, unverified_issuer};
use super::proof::{NonceKey, ProofChecker, ProofError};
use super::static_tokens::StaticTokens;
use super::verifier::{TokenVerifier, VerifiedToken, VerifyError};
use crate::challenge::TokenType;
use crate::clock;
use crate::dpop::{DPOP, Dpop};
use crate::egress::Egress;
use crate::limits::{Limits, MAX_TOKEN};
use crate::metadata::server::is_same_issuer;
use crate::scope::Scopes;

/// Seconds for which a verified JSON Web Token is remembered. Its key may be withdrawn meanwhile.
const SIGNED_SECONDS: u64 = 300;
/// Seconds for which the answer about an opaque token is remembered.
const OPAQUE_SECONDS: u64 = 60;

/// A protected resource: checks each request's token, and publishes the metadata. Created by
/// [`ResourceServer::build`](super::ResourceServer::build). All clones share one state.
///
/// It is a tower layer; [`protect`](Self::protect) wraps a single service.
#[derive(Clone)]
pub struct Protection(pub(super) Arc<ProtectionState>);

/// Adds the program's value, which was read from the claims, to a request.
pub(super) type InsertClaims = Arc<dyn Fn(&mut Extensions) + Send + Sync>;
/// Reads the program's value from the token claims.
pub(super) type ReadClaims =
    Arc<dyn Fn(&Claims) -> Result<InsertClaims, VerifyError> + Send + Sync>;

/// The settings of a protected server.
#[derive(Clone, Default)]
pub(super) struct Settings {
    pub(super) resource: String,
    pub(super) issuers: Vec<IssuerSettings>,
    pub(super) authorization_servers: Vec<String>,
    pub(super) audiences: Vec<String>,
    pub(super) supported: Vec<String>,
    pub(super) required: Vec<String>,
    pub(super) suggested: Option<Vec<String>>,
    pub(super) implied: Vec<(String, Vec<String>)>,
    pub(super) algorithms: Option<Vec<Algorithm>>,
    pub(super) rules: ClaimRules,
    pub(super) introspection: Option<Introspection>,
    pub(super) static_tokens: StaticTokens,
    pub(super) verifiers: Vec<Arc<dyn TokenVerifier>>,
    pub(super) policy: Dpop,
    pub(super) nonces: Option<NonceKey>,
    pub(super) name: Option<String>,
    pub(super) read_claims: Vec<ReadClaims>,
    pub(super) keeps_token: bool,
    pub(super) owns_origin: bool,
    pub(super) egress: Egress,
    /// One verification takes at most the time of a discovery.
    pub(super) limits: Limits,
}

#[derive(Debug, Clone)]
pub(super) struct IssuerSettings {
    pub(super) name: String,
    pub(super) keys_url: Option<String>,
}

pub(super) struct ProtectionState {
    pub(super) settings: Settings,
    pub(super) issuers: Vec<Issuer>,
    pub(super) introspector: Option<Introspector>,
    pub(super) required: Scopes,
    pub(super) proofs: ProofChecker,
    pub(super) challenges: Challenges,
    pub(super) metadata: PublicDocument,
    pub(super) metadata_paths: Vec<String>,
    pub(super) verified: Arc<ExpiringCache<Arc<Caller>>>,
    pub(super) decisions: Decisions,
}

/// Counters of decisions, for metrics.
#[derive(Default)]
pub(super) struct Decisions {
    accepted: AtomicU64,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    refused_log: LogLimit,
}

impl Decisions {
    fn refuse(&self, refusal: &Refusal) {
        *self.refused.lock().entry(refusal.reason()).or_default() += 1;
    }
}

/// A caller whose token is valid.
pub(super) struct Caller {
    principal: Principal,
    claims: Claims,
    further_claims: Vec<InsertClaims>,
    key_thumbprint: Option<String>,
    /// Seconds since 1970.
    expires_at: Option<u64>,
}

/// Request credentials.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) scheme: TokenType,
    token: AccessToken,
    digest: Digest,
}

impl Protection {
    /// The metadata path: `/.well-known/oauth-protected-resource` and the resource's path. The
    /// [protected](Self::protect) service answers requests for it.
    pub fn metadata_path(&self) -> &str {
        self.0.metadata_paths.first().map_or("/", String::as_str)
    }

    /// All paths of the metadata: with [`owns_origin`](super::ResourceServer::owns_origin) also that
    /// without the resource's path.
    pub(super) fn metadata_paths(&self) -> impl Iterator<Item = &str> {
        self.0.metadata_paths.iter().map(String::as_str)
    }

    /// The decisions about access tokens so far, for metrics. Clones share the counters. A request
    /// whose handler needs further scopes counts twice: as accepted, and as refused (`insufficient_scope`).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::{ResourceServer, StaticTokens};
    ///
    /// # fn main() -> Result<(), mcp::auth::AuthError> {
    /// let tokens = StaticTokens::new().token("secret", "ada", ["files:read"]);
    /// let protection = ResourceServer::new("http://127.0.0.1/mcp").static_tokens(tokens).build()?;
    /// assert_eq!(protection.metrics().accepted, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn metrics(&self) -> AuthMetrics {
        let decisions = &self.0.decisions;
        let mut metrics = AuthMetrics::default();
        metrics.accepted = decisions.accepted.load(Ordering::Relaxed);
        metrics.refused = decisions.refused.lock().clone();
        metrics
    }
}

impl ProtectionState {
    /// Returns the metadata for a request for its path. It needs no token, web pages of every origin may read
    /// it, and it does not depend on the request's headers.
    // spec: AUTH-S-01
    pub(super) fn metadata(&self, head: &Parts) -> Option<Response<Bytes>> {
        let path = head.uri.path();
        let is_metadata = self.metadata_paths.iter().any(|own| own == path);
        is_metadata.then(|| self.metadata.respond(&head.method, &HeaderMap::new()))
    }

    /// Reads the credentials of a request.
    ///
    /// # Errors
    ///
    /// Returns a refusal when there are none, or when they are malformed.
    // spec: AUTH-S-11
    pub(super) fn credentials(&self, headers: &HeaderMap) -> Result<Credentials, Refusal> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = match (values.next(), values.next()) {
            (None, _) => return Err(Refusal::NoToken),
            (Some(value), None) => value.to_str().map_err(|_| Refusal::Malformed)?,
            _ => return Err(Refusal::Malformed),
        };
        let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
        let scheme = match scheme {
            name if name.eq_ignore_ascii_case("Bearer") => TokenType::Bearer,
            name if name.eq_ignore_ascii_case("DPoP") && self.settings.policy != Dpop::Off => {
                TokenType::Dpop
            }
            _ => return Err(Refusal::NoToken),
        };
        let token = token.trim_matches(' ');
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.is_empty() || token.len() > MAX_TOKEN || !token.bytes().all(is_token) {
            return Err(Refusal::Malformed);
        }
        let token = AccessToken::new(token);
        Ok(Credentials {
            scheme,
            digest: token.digest(),
            token,
        })
    }

    /// Returns the caller, if its token was verified recently.
    pub(super) fn known_caller(&self, credentials: &Credentials) -> Option<Arc<Caller>> {
        self.verified.get(&credentials.digest, clock::unix_now())
    }

    /// Verifies a token.
    ///
    /// # Errors
    ///
    /// Returns a refusal when it is not valid, or when that cannot be decided.
    // spec: AUTH-S-04
    pub(super) async fn verify(&self, credentials: &Credentials) -> Result<Arc<Caller>, Refusal> {
        let limit = self.settings.limits.discovery;
        let verified = timeout(limit, self.try_verify(credentials)).await;
        let verified = verified.unwrap_or_else(|_| {
            let seconds = limit.as_secs();
            let reason = format!("no answer within {seconds} s");
            Err(VerifyError::Unavailable(reason))
        });
        match verified {
            Ok(caller) => Ok(caller),
            Err(VerifyError::Invalid(reason)) => {
                self.log_refusal(reason);
                Err(Refusal::InvalidToken(credentials.scheme))
            }
            Err(VerifyError::Unavailable(reason)) => {
                tracing::warn!(reason, "an access token cannot be checked");
                Err(Refusal::Unavailable)
            }
        }
    }

    /// Logs why a token or its proof is refused, and what is expected. Clients do not learn it.
    fn log_refusal(&self, reason: &str) {
        let Some(suppressed) = self.decisions.refused_log.permit(Instant::now()) else {
            return;
        };
        let issuers: Vec<_> = self.issuers.iter().map(Issuer::name).collect();
        tracing::warn!(
            reason,
            audiences = ?self.settings.audiences,
            ?issuers,
            dpop = ?self.settings.policy,
            suppressed,
            "an access token is refused"
        );
    }

    async fn try_verify(&self, credentials: &Credentials) -> Result<Arc<Caller>, VerifyError> {
        let (token, seconds) = self.read_token(credentials).await?;
        let now = clock::unix_now();
        let expires_at = match (token.expires_at, token.is_permanent) {
            (Some(expires_at), _) if expires_at <= now => {
                return Err(VerifyError::Invalid("it has expired"));
            }
            (None, false) => return Err(VerifyError::Invalid("it has no expiry")),
            (expires_at, _) => expires_at,
        };
        if !token.has_checked_audience && !self.is_audience(&token.audiences) {
            return Err(VerifyError::Invalid("it was issued for another resource"));
        }
        let caller = Arc::new(self.caller(token)?);
        if seconds > 0 {
            let until = now.saturating_add(seconds);
            let until = until.min(expires_at.unwrap_or(u64::MAX));
            self.verified
                .insert(credentials.digest, Arc::clone(&caller), until);
        }
        Ok(caller)
    }

    /// Reads a token: a static one, one that a known issuer has signed, or else by the program's verifiers and by
    /// introspection. Also returns for how many seconds the result may be remembered.
    async fn read_token(
        &self,
        credentials: &Credentials,
    ) -> Result<(VerifiedToken, u64), VerifyError> {
        let Credentials { token, digest, .. } = credentials;
        if let Some(found) = self.settings.static_tokens.find(digest) {
            return Ok((found.clone(), SIGNED_SECONDS));
        }
        if let Some(issuer) = self.issuer_of(token.expose()) {
            return Ok((self.read_jwt(issuer, token.expose()).await?, SIGNED_SECONDS));
        }
        let mut refused = VerifyError::Invalid("no verifier accepts it");
        for verifier in &self.settings.verifiers {
            let verified = catch_panic(verifier.verify(token)).await;
            match verified.unwrap_or_else(|panic| Err(panicked(&panic))) {
                Ok(verified) => return Ok((verified, 0)),
                Err(error @ VerifyError::Unavailable(_)) => return Err(error),
                Err(error) => refused = error,
            }
        }
        match &self.introspector {
            Some(introspector) => {
                let verified = introspector.verify(token, *digest).await?;
                Ok((verified, OPAQUE_SECONDS))
            }
            None => Err(refused),
        }
    }

    /// Returns the issuer that a JSON Web Token names. `None` with introspection, which asks the issuer
    /// about every token.
    fn issuer_of(&self, token: &str) -> Option<&Issuer> {
        if self.introspector.is_some() || self.issuers.is_empty() {
            return None;
        }
        let claimed = unverified_issuer(token)?;
        let mut issuers = self.issuers.iter();
        issuers.find(|issuer| is_same_issuer(issuer.name(), &claimed))
    }

    async fn read_jwt(&self, issuer: &Issuer, token: &str) -> Result<VerifiedToken, VerifyError> {
        let jws = Jws::parse(token)?;
        let accepted = self.settings.algorithms.as_deref();
        let accepted = accepted.unwrap_or(&Algorithm::DEFAULT);
        if !accepted.contains(&jws.algorithm) {
            return Err(VerifyError::Invalid("its algorithm is not accepted"));
        }
        let claims = issuer.verify(&jws).await?;
        let now = clock::unix_now();
        check(
            jws.header.typ.as_deref(),
            claims,
            issuer.name(),
            &self.settings.rules,
            now,
        )
    }

    /// Returns whether a token was issued for this resource.
    // spec: AUTH-S-05
    fn is_audience(&self, found: &[String]) -> bool {
        let is_own = |found: &String| {
            self.settings
                .audiences
                .iter()
                .any(|own| is_same_issuer(own, found))
        };
        found.iter().any(is_own)
    }

    fn caller(&self, token: VerifiedToken) -> Result<Caller, VerifyError> {
        let mut scopes = token.scopes;
        // spec: AUTH-S-09
        let mut index = 0;
        while index < scopes.len() {
            let broader = self
                .settings
                .implied
                .iter()
                .filter(|(broad, _)| *broad == scopes[index]);
            let narrower: Vec<_> = broader.flat_map(|(_, narrow)| narrow).cloned().collect();
            for scope in narrower {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
            index += 1;
        }
        let claims = Claims::new(token.claims);
        let mut principal = Principal::new(token.issuer, token.subject).scopes(scopes);
        principal.client = token.client;
        if let Some(seconds) = token.expires_at {
            let expires_at = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
            principal.expires_at = expires_at;
        }
        let read = |read: &ReadClaims| {
            let read = catch_panic_sync(|| read(&claims));
            read.unwrap_or_else(|panic| Err(panicked(&panic)))
        };
        let further = self.settings.read_claims.iter().map(read);
        Ok(Caller {
            further_claims: further.collect::<Result<_, _>>()?,
            principal,
            claims,
            key_thumbprint: token.key_thumbprint,
            expires_at: token.expires_at,
        })
    }

    /// Admits a request of a caller: checks how the token was presented, and replaces the credentials by
    /// values for handlers.
    ///
    /// # Errors
    ///
    /// Returns a refusal when the token has expired, was presented in another way than it demands, or
    /// lacks a scope that all requests need.
    pub(super) fn admit(
        &self,
        head: &mut Parts,
        credentials: &Credentials,
        caller: &Caller,
    ) -> Result<(), Refusal> {
        let scheme = credentials.scheme;
        let invalid = |reason: &'static str| {
            self.log_refusal(reason);
            Err(Refusal::InvalidToken(scheme))
        };
        if caller
            .expires_at
            .is_some_and(|end| end <= clock::unix_now())
        {
            return invalid("it has expired");
        }
        // spec: DPOP-03
        match (&caller.key_thumbprint, scheme) {
            (None, TokenType::Bearer) if self.settings.policy == Dpop::Required => {
                return invalid("it is not bound to a key");
            }
            (None, TokenType::Bearer) => {}
            (None, TokenType::Dpop) => return invalid("it is not bound to a key"),
            (Some(_), TokenType::Bearer) => return invalid("it is bound to a key"),
            (Some(thumbprint), TokenType::Dpop) => {
                let token = credentials.token.expose();
                match self
                    .proofs
                    .check(head, token, thumbprint, &caller.principal)
                {
                    Ok(()) => {}
                    Err(ProofError::UseNonce) => return Err(Refusal::UseNonce),
                    Err(ProofError::Invalid(reason)) => {
                        self.log_refusal(reason);
                        return Err(Refusal::InvalidProof);
                    }
                }
            }
        }
        let has = |scope: &str| caller.principal.scopes.iter().any(|own| own == scope);
        if !self.required.iter().all(has) {
            return Err(Refusal::InsufficientScope(scheme, self.required.clone()));
        }
        // spec: AUTH-S-06
        for name in [&AUTHORIZATION, &PROXY_AUTHORIZATION, &COOKIE, &DPOP] {
            head.headers.remove(name);
        }
        head.extensions.insert(caller.principal.clone());
        head.extensions.insert(caller.claims.clone());
        for insert in &caller.further_claims {
            insert(&mut head.extensions);
        }
        if self.settings.keeps_token {
            head.extensions.insert(credentials.token.clone());
        }
        self.decisions.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Completes the protected service's response: the challenge for scopes of a call, and the nonce
    /// for the next proof.
    pub(super) fn complete<B>(&self, scheme: TokenType, response: &mut Response<B>) {
        if let Some(required) = response.extensions_mut().remove::<RequiredScopes>() {
            let scopes = self.required.union(&required.scopes.iter().collect());
            let refusal = Refusal::InsufficientScope(scheme, scopes);
            self.decisions.refuse(&refusal);
            self.challenges.add(response.headers_mut(), &refusal);
        }
        if scheme == TokenType::Dpop {
            set_nonce(response.headers_mut(), self.proofs.nonce());
        }
    }

    /// Returns the response to a request that is not admitted.
    pub(super) fn refuse(&self, refusal: &Refusal) -> Response<Bytes> {
        self.decisions.refuse(refusal);
        let nonce = match (self.settings.policy, refusal) {
            (Dpop::Off, _) | (_, Refusal::Unavailable) => None,
            _ => self.proofs.nonce(),
        };
        self.challenges.response(refusal, nonce)
    }
}

impl ProtectionState {
    /// Returns the response to a request whose credentials cannot be read. A browser's preflight request never has
    /// any, so its answer says what is missing instead.
    pub(super) fn refuse_unread(&self, head: &Parts, refusal: &Refusal) -> Response<Bytes> {
        let is_preflight = head.method == Method::OPTIONS
            && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_preflight {
            refuse_preflight()
        } else {
            self.refuse(refusal)
        }
    }
}

/// Refuses a browser's question whether a page may send a request (CORS), and logs it.
#[cold]
fn refuse_preflight() -> Response<Bytes> {
    static REFUSED: LogLimit = LogLimit::new();
    const CURE: &str = "a web page needs CORS headers: put a CORS layer around the layer that checks \
        tokens, because a preflight request has none, as in \
        https://docs.rs/omnimcp/latest/mcp/guide/http/";
    if let Some(suppressed) = REFUSED.permit(Instant::now()) {
        let reason = CURE;
        tracing::warn!(
            reason,
            suppressed,
            "a browser's preflight request was refused"
        );
    }
    let mut response = Response::new(Bytes::from_static(CURE.as_bytes()));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(CONTENT_TYPE, text);
    response
}

/// Converts a panic of the program's code into an error, so that the request is refused.
fn panicked(panic: &Panicked) -> VerifyError {
    tracing::error!(panic = %mcp_types::escaped(&panic), "the verification of a token panicked");
    VerifyError::Unavailable("the verification panicked".to_owned())
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection")
            .field("resource", &self.0.settings.resource)
            .finish_non_exhaustive()
    }
}
