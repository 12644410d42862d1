//! [`ResourceServer`]: a protected server's settings.

use std::fmt;
use std::sync::Arc;

use mcp_transport_http::public_document::PublicDocument;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use super::cache::ExpiringCache;
use super::challenge::Challenges;
use super::identity::Claims;
use super::introspection::{Introspection, Introspector};
use super::issuer::Issuer;
use super::jwt::Algorithm;
use super::proof::{NonceKey, ProofChecker};
use super::protection::{
    Decisions, InsertClaims, IssuerSettings, Protection, ProtectionState, Settings,
};
use super::static_tokens::StaticTokens;
use super::verifier::{TokenVerifier, VerifyError};
use crate::dpop::Dpop;
use crate::egress::{Egress, EgressRules, Zone, zone_of_url};
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::limits::Limits;
use crate::metadata::resource;
use crate::scope::Scopes;
use crate::secret::Secret;

/// Number of verified tokens that are remembered.
const MAX_VERIFIED: usize = 20_000;

/// The settings of a server that demands access tokens.
///
/// The URL is the public one, as clients write it: it is the audience that tokens must have, and part of
/// the metadata and of the challenges. Nothing is taken from the request headers.
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::ResourceServer;
/// use mcp::http::Serve;
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let auth = ResourceServer::new("https://mcp.example.com/mcp")
///     .issuer("https://login.example.com")
///     .scopes(["files:read", "files:write"]);
/// let server = Server::new("files", "1.0.0")
///     .tool(Tool::new("delete").handler(|| "deleted").scopes(["files:write"]));
/// Serve::new(server).authorize(auth).run("0.0.0.0:8000").await?;
/// # Ok(())
/// # }
/// ```
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>
#[derive(Clone)]
#[must_use = "protects nothing until it is built or passed to a server"]
pub struct ResourceServer(pub(super) Settings);

impl ResourceServer {
    /// Creates the settings of the server with this public URL, such as `https://mcp.example.com/mcp`.
    pub fn new(resource: impl Into<String>) -> Self {
        Self(Settings {
            resource: resource.into(),
            ..Settings::default()
        })
    }

    /// Adds an issuer whose tokens are accepted, byte for byte as in its tokens' `iss`. Its metadata
    /// and its keys are fetched at the first token, remembered, and fetched again when they are old or a
    /// token has a new key.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.0.issuers.push(IssuerSettings {
            name: issuer.into(),
            keys_url: None,
        });
        self
    }

    /// Adds an issuer whose keys are at `keys_url`, for issuers without metadata.
    pub fn issuer_with_keys(
        mut self,
        issuer: impl Into<String>,
        keys_url: impl Into<String>,
    ) -> Self {
        self.0.issuers.push(IssuerSettings {
            name: issuer.into(),
            keys_url: Some(keys_url.into()),
        });
        self
    }

    /// Adds an authorization server to the metadata whose tokens a [verifier](Self::verifier) checks. Every
    /// [issuer](Self::issuer) is in the metadata already.
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.0.authorization_servers.push(issuer.into());
        self
    }

    /// Accepts tokens for another audience, too, for issuers that do not put the URL of this server into
    /// tokens: `api://…` of Entra, a client id. Other servers with the same audience can then use tokens of
    /// this one.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.0.audiences.push(audience.into());
        self
    }

    /// Sets the scopes that the metadata lists. Clients ask for them unless a challenge names others, so
    /// list a minimal set.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.0.supported = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets scopes that every request needs. By default only tools, resources and prompts need scopes.
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.0.required = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the scopes that clients without a token should ask for: the challenge's `scope`. Default:
    /// the [required](Self::required_scopes) ones.
    pub fn suggested_scopes<S: Into<String>>(
        mut self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.0.suggested = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Declares that a scope contains narrower ones, such as `admin` all others.
    pub fn scope_implies<S: Into<String>>(
        mut self,
        scope: impl Into<String>,
        narrower: impl IntoIterator<Item = S>,
    ) -> Self {
        let narrower = narrower.into_iter().map(Into::into).collect();
        self.0.implied.push((scope.into(), narrower));
        self
    }

    /// Sets the claims with the scopes, in the order in which they are searched: a string of words, or a
    /// list. Default: `scope`, `scp`. Auth0 has `permissions`, tokens of Entra without a user `roles`.
    pub fn scope_claims<S: Into<String>>(mut self, claims: impl IntoIterator<Item = S>) -> Self {
        self.0.rules.scope_claims = claims.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the accepted signature algorithms. Default: RS256, PS256, ES256, ES384, EdDSA.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.0.algorithms = Some(algorithms.into_iter().collect());
        self
    }

    /// Demands tokens whose type is `at+jwt` (RFC 9068). By default `JWT` and tokens without a type are
    /// accepted, too, unless they look like ID tokens: many issuers write no other type.
    pub fn strict_token_type(mut self) -> Self {
        self.0.rules.strict_type = true;
        self
    }

    /// Sets the difference of clocks that is accepted for the start of a token (`nbf`, `iat`): 30 seconds
    /// by default. The end of a token is exact.
    pub fn clock_skew(mut self, seconds: u64) -> Self {
        self.0.rules.leeway = seconds;
        self
    }

    /// Asks the first [issuer](Self::issuer) about every token instead of checking its signature. For
    /// opaque tokens, and where tokens are revoked.
    pub fn introspection(mut self, introspection: Introspection) -> Self {
        self.0.introspection = Some(introspection);
        self
    }

    /// Accepts fixed tokens, for development and tests.
    pub fn static_tokens(mut self, tokens: StaticTokens) -> Self {
        self.0.static_tokens = tokens;
        self
    }

    /// Adds a verifier for other kinds of tokens. It is asked about tokens of no [issuer](Self::issuer).
    pub fn verifier(mut self, verifier: impl TokenVerifier) -> Self {
        self.0.verifiers.push(Arc::new(verifier));
        self
    }

    /// Sets whether tokens may or must be bound to a key of the client. Default: [`Dpop::Off`].
    pub fn dpop(mut self, policy: Dpop) -> Self {
        self.0.policy = policy;
        self
    }

    /// Demands a nonce of this server in proofs of possession, so that a client cannot prepare them. The
    /// secret is at least 32 random characters. Nodes with the same secret accept each other's nonces.
    pub fn dpop_nonces(mut self, secret: &Secret) -> Self {
        self.0.nonces = Some(NonceKey::new(secret));
        self
    }

    /// Sets the name of the server that authorization pages show.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.name = Some(name.into());
        self
    }

    /// Reads the claims of each token into a type of the program, which handlers receive as
    /// `Identity<T>`. Tokens whose claims do not fit are refused.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Identity;
    /// use mcp::auth::ResourceServer;
    ///
    /// #[derive(Clone, serde::Deserialize)]
    /// struct Tenant {
    ///     tenant: String,
    /// }
    ///
    /// fn whoami(Identity(who): Identity<Tenant>) -> String {
    ///     who.tenant
    /// }
    ///
    /// let auth = ResourceServer::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com")
    ///     .claims::<Tenant>();
    /// ```
    pub fn claims<T: DeserializeOwned + Clone + Send + Sync + 'static>(mut self) -> Self {
        self.0.read_claims.push(Arc::new(|claims: &Claims| {
            let value: T = claims.read().map_err(|_| {
                VerifyError::Invalid("its claims do not fit the type of the program")
            })?;
            let insert: InsertClaims = Arc::new(move |extensions| {
                extensions.insert(value.clone());
            });
            Ok(insert)
        }));
        self
    }

    /// Lets handlers receive the token of their caller as `Identity<AccessToken>`, for
    /// [`TokenExchange`](super::TokenExchange). By default handlers never see it.
    pub fn keep_access_token(mut self) -> Self {
        self.0.keeps_token = true;
        self
    }

    /// Publishes the metadata also at `/.well-known/oauth-protected-resource`, for a server that has its
    /// origin for itself. `Serve::authorize` does so.
    pub fn owns_origin(mut self) -> Self {
        self.0.owns_origin = true;
        self
    }

    /// Sets the rules for the URLs of issuers. The URLs in these settings may be in any network, those that
    /// the metadata of an issuer names in that of the issuer or a more public one. By default a DNS name
    /// counts as public: name an issuer's origin in a private network here.
    pub fn egress(mut self, egress: Egress) -> Self {
        self.0.egress = egress;
        self
    }

    /// Sets the limits of requests to issuers. One verification with all its requests takes at most the
    /// time of [`Limits::discovery`], 30 seconds by default; then the response is 503.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Checks the settings and creates the protection. Sends nothing.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when a URL or scope is invalid, when no token could be accepted, when
    /// a setting would be ignored, and when fixed tokens are set for a server that other machines reach.
    pub fn build(self) -> Result<Protection, AuthError> {
        let mut settings = self.0;
        let resource = settings.check_resource()?;
        settings.check_tokens(&resource)?;
        settings.check_scopes()?;
        let verified = Arc::new(ExpiringCache::new(MAX_VERIFIED));
        let forget = Arc::clone(&verified);
        let on_new_keys = Arc::new(move || forget.clear());
        let mut issuers = Vec::new();
        let mut introspector = None;
        for issuer in &settings.issuers {
            let keys_url = issuer.keys_url.as_deref();
            let (url, keys_url, fetcher) = settings.fetcher_for(&issuer.name, keys_url)?;
            let name = issuer.name.clone();
            let issuer = Issuer::new(name, url, keys_url, fetcher, on_new_keys.clone());
            issuers.push(issuer);
        }
        if let Some(client) = settings.introspection.take() {
            let issuer = issuers.first().cloned().ok_or_else(|| {
                AuthError::settings("introspection needs the issuer of the tokens; add .issuer(…)")
            })?;
            let endpoint = client.endpoint.as_deref();
            let (_, endpoint, fetcher) = settings.fetcher_for(issuer.name(), endpoint)?;
            let rules = settings.rules.clone();
            introspector = Some(Introspector::new(client, endpoint, issuer, fetcher, rules));
        }
        let metadata_paths = settings.metadata_paths(&resource);
        let challenges = Challenges {
            policy: settings.policy,
            metadata: metadata_paths
                .first()
                .map(|path| resource::at(&resource, path).to_string()),
            scopes: scopes(settings.suggested.as_ref().unwrap_or(&settings.required)),
        };
        let document = settings.document().to_string();
        settings.audiences.insert(0, settings.resource.clone());
        Ok(Protection(Arc::new(ProtectionState {
            issuers,
            introspector,
            required: scopes(&settings.required),
            proofs: ProofChecker::new(resource, settings.nonces.take()),
            challenges,
            metadata: PublicDocument::new("application/json", document),
            metadata_paths,
            verified,
            decisions: Decisions::default(),
            settings,
        })))
    }
}

impl Settings {
    /// The server's public URL, if it is valid.
    pub(super) fn url(&self) -> Option<Url> {
        Url::parse(&self.resource).ok()
    }

    fn check_resource(&self) -> Result<Url, AuthError> {
        let url = self.url().filter(|url| {
            let has_credentials = !url.username().is_empty() || url.password().is_some();
            matches!(url.scheme(), "http" | "https") && url.has_host() && !has_credentials
        });
        let url = url.filter(|url| url.fragment().is_none());
        url.ok_or_else(|| {
            let resource = &self.resource;
            AuthError::settings(format!(
                "{resource:?} is not a URL of a server; write it as https://mcp.example.com/mcp"
            ))
        })
    }

    fn check_tokens(&self, resource: &Url) -> Result<(), AuthError> {
        if !self.static_tokens.is_empty()
            && !self.static_tokens.is_public
            && zone_of_url(resource) != Zone::Loopback
        {
            return Err(AuthError::settings(
                "fixed tokens are for a server on this machine; use .issuer(…), or call \
                 StaticTokens::allow_public",
            ));
        }
        let has_source = !self.issuers.is_empty()
            || !self.verifiers.is_empty()
            || !self.static_tokens.is_empty();
        if !has_source {
            return Err(AuthError::settings(
                "no token could be accepted; add .issuer(…)",
            ));
        }
        if self.algorithms.as_ref().is_some_and(Vec::is_empty) {
            return Err(AuthError::settings("no signature algorithm is accepted"));
        }
        self.check_effects()?;
        if !self.verifiers.is_empty() && self.servers().next().is_none() {
            return Err(AuthError::settings(
                "clients cannot find the authorization server of a verifier; add \
                 .authorization_server(…)",
            ));
        }
        Ok(())
    }

    /// Checks that no setting is ignored which restricts the accepted tokens.
    fn check_effects(&self) -> Result<(), AuthError> {
        let mut issuers = self.issuers.iter();
        while let Some(issuer) = issuers.next() {
            if issuers.clone().any(|other| other.name == issuer.name) {
                let name = &issuer.name;
                return Err(AuthError::settings(format!(
                    "the issuer {name:?} is set twice; use either .issuer(…) or .issuer_with_keys(…)"
                )));
            }
        }
        if self.nonces.is_some() && self.policy == Dpop::Off {
            return Err(AuthError::settings(
                ".dpop_nonces(…) has no effect without proofs of possession; add .dpop(…)",
            ));
        }
        if self.introspection.is_none() {
            return Ok(());
        }
        if self.issuers.len() > 1 {
            return Err(AuthError::settings(
                "introspection asks one issuer about every token; add .issuer(…) once only",
            ));
        }
        if self.algorithms.is_some() || self.rules.strict_type {
            return Err(AuthError::settings(
                "introspection leaves the check of signatures to the issuer; remove .algorithms(…) and \
                 .strict_token_type()",
            ));
        }
        Ok(())
    }

    // spec: AUTH-S-10
    fn check_scopes(&self) -> Result<(), AuthError> {
        let suggested = self.suggested.iter().flatten();
        for scope in self.supported.iter().chain(&self.required).chain(suggested) {
            let is_valid = Scopes::parse(scope).contains(scope) && scope != "offline_access";
            if !is_valid {
                return Err(AuthError::settings(format!(
                    "{scope:?} cannot be demanded as a scope; use visible ASCII without blanks, quotes \
                     and backslashes, and not `offline_access`"
                )));
            }
        }
        Ok(())
    }

    /// The rules for an issuer. The program has set its URL, and that of an endpoint.
    fn fetcher_for(
        &self,
        issuer: &str,
        endpoint: Option<&str>,
    ) -> Result<(Url, Option<Url>, Fetcher), AuthError> {
        let issuer = issuer_url(issuer, &self.egress)?;
        let mut egress = self.egress.clone().allow_origin(issuer.as_str())?;
        let endpoint = endpoint
            .map(|url| issuer_url(url, &self.egress))
            .transpose()?;
        if let Some(url) = &endpoint {
            egress = egress.allow_origin(url.as_str())?;
        }
        let fetcher = Fetcher::new(EgressRules::new(&egress, &issuer), self.limits)?;
        Ok((issuer, endpoint, fetcher))
    }

    fn servers(&self) -> impl Iterator<Item = &String> {
        let issuers = self.issuers.iter().map(|issuer| &issuer.name);
        issuers.chain(&self.authorization_servers)
    }

    /// Without an authorization server there is no metadata.
    fn metadata_paths(&self, resource: &Url) -> Vec<String> {
        if self.servers().next().is_none() {
            return Vec::new();
        }
        let paths = resource::candidates(resource);
        let mut paths: Vec<_> = paths.iter().map(|url| url.path().to_owned()).collect();
        if !self.owns_origin {
            paths.truncate(1);
        }
        paths
    }

    // spec: AUTH-S-01
    fn document(&self) -> Value {
        let mut document = json!({
            "resource": self.resource,
            "authorization_servers": self.servers().collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        });
        if !self.supported.is_empty() {
            document["scopes_supported"] = json!(self.supported);
        }
        if let Some(name) = &self.name {
            document["resource_name"] = json!(name);
        }
        if self.policy != Dpop::Off {
            let names = Algorithm::DEFAULT.map(Algorithm::name);
            document["dpop_signing_alg_values_supported"] = json!(names);
            let is_required = self.policy == Dpop::Required;
            document["dpop_bound_access_tokens_required"] = json!(is_required);
        }
        document
    }
}

/// Reads the URL of an issuer or its endpoint, which the program has set.
///
/// # Errors
///
/// Returns [`AuthError::Settings`] for other URLs, and for `http:` URLs of other machines whose origin the
/// program has not allowed.
pub(super) fn issuer_url(text: &str, egress: &Egress) -> Result<Url, AuthError> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    let url = url.ok_or_else(|| {
        AuthError::settings(format!(
            "{text:?} is not a URL; write it as https://login.example.com"
        ))
    })?;
    let is_plain = url.scheme() == "http" && zone_of_url(&url) != Zone::Loopback;
    if is_plain && !egress.allows(&url) {
        return Err(AuthError::settings(format!(
            "{text:?} must begin with https: keys and tokens of other machines need TLS"
        )));
    }
    Ok(url)
}

fn scopes(names: &[String]) -> Scopes {
    names.iter().collect()
}

/// Shows the URL and the issuers.
impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceServer")
            .field("resource", &self.0.resource)
            .field("issuers", &self.0.issuers)
            .field("dpop", &self.0.policy)
            .finish_non_exhaustive()
    }
}
