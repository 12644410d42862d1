//! [`OAuth`]: the settings of authorization.

mod checks;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use http::{Request, Response};
use http_body::Body;
use mcp_transport_http::client::ChannelService;
use mcp_types::meta::keys;
use tower_service::Service;

use crate::client::consent::{ConfirmLogin, LoginPrompt};
use crate::client::device::{DeviceLogin, ShowDevice};
use crate::client::enterprise::EnterpriseIdp;
use crate::client::event::{AuthEvent, EventSender};
use crate::client::redirect::{LoopbackRedirect, Redirect};
use crate::client::source::{Source, source};
use crate::client::store::{CredentialStore, MemoryStore};
use crate::dpop::Dpop;
use crate::egress::Egress;
use crate::error::AuthError;
use crate::key::PrivateKey;
use crate::limits::Limits;
use crate::oauth_client::{Client, Credential};
use crate::scope::Scopes;
use crate::secret::Secret;

/// The way to obtain tokens.
#[derive(Clone)]
pub(crate) enum Grant {
    Interactive,
    Device(ShowDevice),
    ClientCredentials,
    Workload(Source),
    Enterprise(EnterpriseIdp),
    Token(Source),
}

impl Grant {
    /// Returns whether a user logs in.
    pub(crate) fn has_user(&self) -> bool {
        matches!(self, Self::Interactive | Self::Device(_))
    }
}

/// The `resource` parameter's value.
#[derive(Clone)]
pub(crate) enum ResourceIndicator {
    FromMetadata,
    Omit,
    Fixed(String),
}

/// The settings of authorization: how tokens are obtained and where they are kept.
///
/// # Examples
///
/// ```
/// use mcp::auth::{FileStore, OAuth, Secret};
///
/// // A user logs in with the browser. Tokens survive a restart.
/// let oauth = OAuth::interactive("My Agent").store(FileStore::new("tokens"));
///
/// // A program without a user.
/// let oauth = OAuth::client_credentials("my-service", Secret::new("…"));
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing by themselves"]
pub struct OAuth {
    pub(crate) grant: Grant,
    pub(crate) client_name: String,
    /// The client that the program brings along.
    pub(crate) client: Option<Client>,
    /// The authentication of that client at the token endpoint.
    pub(crate) auth_method: Option<String>,
    /// The only authorization server that gets anything.
    pub(crate) issuer: Option<String>,
    /// True if the program has named the issuer, so that its endpoints may be anywhere.
    vouches_for_issuer: bool,
    pub(crate) metadata_url: Option<String>,
    pub(crate) scopes: Scopes,
    /// The scopes that are requested at most.
    pub(crate) max_scopes: Option<Scopes>,
    pub(crate) offline_access: bool,
    pub(crate) resource: ResourceIndicator,
    pub(crate) missing_pkce: Vec<String>,
    pub(crate) legacy: bool,
    pub(crate) dpop: Dpop,
    pub(crate) egress: Egress,
    /// The host's HTTP client. `None`: one with checked addresses.
    pub(crate) http: Option<ChannelService>,
    pub(crate) limits: Limits,
    pub(crate) redirect: Arc<dyn Redirect>,
    pub(crate) redirect_uri: Option<String>,
    pub(crate) confirm: Option<ConfirmLogin>,
    pub(crate) store: Arc<dyn CredentialStore>,
    pub(crate) account: String,
    pub(crate) events: EventSender,
}

impl OAuth {
    fn new(grant: Grant) -> Self {
        Self {
            grant,
            client_name: String::new(),
            client: None,
            auth_method: None,
            issuer: None,
            vouches_for_issuer: false,
            metadata_url: None,
            scopes: Scopes::default(),
            max_scopes: None,
            offline_access: true,
            resource: ResourceIndicator::FromMetadata,
            missing_pkce: Vec::new(),
            legacy: true,
            dpop: Dpop::default(),
            egress: Egress::default(),
            http: None,
            limits: Limits::default(),
            redirect: Arc::new(LoopbackRedirect::new()),
            redirect_uri: None,
            confirm: None,
            store: Arc::new(MemoryStore::new()),
            account: String::new(),
            events: EventSender::default(),
        }
    }

    /// Creates settings for a program with a user, who logs in with a browser: authorization code
    /// with PKCE. `client_name` is shown on the login page.
    ///
    /// The client is registered at the authorization server by itself, unless
    /// [`client_id`](Self::client_id) or [`client_metadata_url`](Self::client_metadata_url) is set.
    pub fn interactive(client_name: impl Into<String>) -> Self {
        Self {
            client_name: client_name.into(),
            ..Self::new(Grant::Interactive)
        }
    }

    /// Creates settings for a program on a machine without a browser: `show` presents a page and a
    /// code to the user, who logs in on another device. The authorization server must offer this.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::OAuth;
    ///
    /// let oauth = OAuth::device("My Agent", |login| async move {
    ///     println!("Open {} and enter {}", login.verification_uri, login.user_code);
    ///     Ok(())
    /// });
    /// ```
    pub fn device<F, R>(client_name: impl Into<String>, show: F) -> Self
    where
        F: Fn(DeviceLogin) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), AuthError>> + Send + 'static,
    {
        let show: ShowDevice = Arc::new(move |login| Box::pin(show(login)));
        Self {
            client_name: client_name.into(),
            ..Self::new(Grant::Device(show))
        }
    }

    /// Creates settings for a program without a user that has a client secret.
    ///
    /// Spec: extension `io.modelcontextprotocol/oauth-client-credentials`.
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self::new(Grant::ClientCredentials).client_secret(id, secret)
    }

    /// Creates settings for a program without a user that signs assertions (`private_key_jwt`).
    ///
    /// Spec: extension `io.modelcontextprotocol/oauth-client-credentials`.
    pub fn client_credentials_jwt(id: impl Into<String>, key: PrivateKey) -> Self {
        Self::new(Grant::ClientCredentials).client(id, Credential::Key(key))
    }

    /// Creates settings for a workload with a platform token, such as a Kubernetes service account.
    /// `assertion` is called for each exchange and gives the current platform token. Set the
    /// authorization server that receives it with [`issuer`](Self::issuer).
    ///
    /// Spec: extension `io.modelcontextprotocol/auth/wif`.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::OAuth;
    ///
    /// let oauth = OAuth::workload(|| async {
    ///     std::fs::read_to_string("/var/run/secrets/tokens/mcp")
    /// })
    /// .issuer("https://login.example.com");
    /// ```
    pub fn workload<F, R, T, E>(assertion: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Secret>,
        E: fmt::Display,
    {
        Self::new(Grant::Workload(source(assertion)))
    }

    /// Creates settings for employees who are logged in at their company's identity provider:
    /// its identity token is exchanged for an access token, without a login page. Set the client id
    /// at the MCP server's authorization server with [`client_secret`](Self::client_secret).
    ///
    /// Spec: extension `io.modelcontextprotocol/enterprise-managed-authorization`.
    pub fn enterprise(idp: EnterpriseIdp) -> Self {
        Self::new(Grant::Enterprise(idp))
    }

    /// Creates settings for a program that manages its token itself. `token` is called before each
    /// request.
    pub fn token<F, R, T, E>(token: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Secret>,
        E: fmt::Display,
    {
        Self::new(Grant::Token(source(token)))
    }

    fn client(mut self, id: impl Into<String>, credential: Credential) -> Self {
        self.client = Some(Client::given(id, credential));
        self
    }

    /// Sets the client id of an earlier registration without a secret.
    pub fn client_id(self, id: impl Into<String>) -> Self {
        self.client(id, Credential::None)
    }

    /// Sets the client id and the secret of an earlier registration.
    pub fn client_secret(self, id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        self.client(id, Credential::Secret(secret.into()))
    }

    /// Sets how the client secret is sent to the token endpoint: `client_secret_basic` or `client_secret_post`.
    /// Default: the first of them that the authorization server lists, or Basic.
    pub fn auth_method(mut self, method: impl Into<String>) -> Self {
        self.auth_method = Some(method.into());
        self
    }

    /// Sets the client id of an earlier registration, and the key that proves it.
    pub fn client_key(self, id: impl Into<String>, key: PrivateKey) -> Self {
        self.client(id, Credential::Key(key))
    }

    /// Sets the only authorization server that is used, for every grant. An MCP server that names
    /// another one gets [`AuthError::ClientIssuer`], and the other one gets nothing: no code, secret or
    /// assertion. Stored tokens of another one are ignored. A [workload](Self::workload) needs it.
    ///
    /// The endpoints that this authorization server names may be at other sites, without a
    /// [question](Self::confirm_login).
    ///
    /// Default: a client id is bound to the first authorization server that accepts it; without a client
    /// id, the MCP server selects the authorization server.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self.vouches_for_issuer = true;
        self
    }

    /// Sets the only authorization server that is used, as [`issuer`](Self::issuer), for a name that somebody else has
    /// chosen, such as the author of a configuration file. Its endpoints must be at its own site, or the user is
    /// [asked](Self::confirm_login).
    pub fn expected_issuer(mut self, issuer: impl Into<String>) -> Self {
        let issuer = Some(issuer.into());
        self.vouches_for_issuer &= self.issuer == issuer;
        self.issuer = issuer;
        self
    }

    /// Sets the URL of the document that describes this client. The URL is the client id at
    /// authorization servers that support such documents; others register the client.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the scopes to request when the server names none. Grants without a user request these
    /// scopes only: a server that demands another one gets [`AuthError::ScopeNotAllowed`]. Without them,
    /// client credentials request the scopes that the server demands.
    pub fn scopes<S: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        for scope in scopes {
            self.scopes.insert(scope.as_ref());
        }
        self
    }

    /// Sets the scopes that are requested at most, whatever the server demands. Further ones in its
    /// metadata are left out; a call that needs one ends with [`AuthError::ScopeNotAllowed`], without a
    /// login. `offline_access` has a [setting of its own](Self::offline_access).
    ///
    /// Default: for a user none, since the login page asks; without a user those of
    /// [`scopes`](Self::scopes).
    pub fn max_scopes<S: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        let max = self.max_scopes.get_or_insert_default();
        for scope in scopes {
            max.insert(scope.as_ref());
        }
        self
    }

    /// Sets whether `offline_access` is requested where the authorization server supports it, to
    /// get a refresh token. Default: yes.
    pub fn offline_access(mut self, enabled: bool) -> Self {
        self.offline_access = enabled;
        self
    }

    /// Sets the store of tokens and registrations. Default: [`MemoryStore`].
    pub fn store(mut self, store: impl CredentialStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets the user's name, to keep tokens of several users in one store. Default: empty.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.account = account.into();
        self
    }

    /// Sets how the login page is shown and its response received. Default: [`LoopbackRedirect`], which opens the
    /// browser; [`LoopbackRedirect::open_with`] shows the page with a function of the program.
    pub fn redirect(mut self, redirect: impl Redirect) -> Self {
        self.redirect = Arc::new(redirect);
        self
    }

    /// Sets the redirect URI that is registered for this client, such as `http://localhost:8765/callback`. The
    /// [redirect](Self::redirect) still shows the page. For [`LoopbackRedirect`], the URI is one that
    /// [`at`](LoopbackRedirect::at) accepts.
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = Some(uri.into());
        self
    }

    /// Lets the program confirm each login of a user before anything is shown or sent to the
    /// authorization server. The function returns false to end the login with
    /// [`AuthError::NotConfirmed`]. A user who is asked has the time of [`Limits::login`].
    ///
    /// Default: a login starts without a question if its page and its token endpoint are at the site of
    /// the [`issuer`](Self::issuer) that the settings name, or of any issuer that the MCP server names;
    /// otherwise it ends with [`AuthError::ForeignEndpoint`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::OAuth;
    ///
    /// # async fn ask(question: String) -> bool { question.is_empty() }
    /// let oauth = OAuth::interactive("My Agent").confirm_login(|login| async move {
    ///     if !login.is_other_endpoint {
    ///         return true;
    ///     }
    ///     let (server, issuer, page) = (login.server, login.issuer, login.login_host);
    ///     ask(format!("{server} uses {issuer}, which asks for your login at {page}. Continue?")).await
    /// });
    /// ```
    pub fn confirm_login<F, R>(mut self, confirm: F) -> Self
    where
        F: Fn(LoginPrompt) -> R + Send + Sync + 'static,
        R: Future<Output = bool> + Send + 'static,
    {
        self.confirm = Some(Arc::new(move |login| Box::pin(confirm(login))));
        self
    }

    /// Sets whether tokens are bound to a key (DPoP). Default: [`Dpop::Off`].
    pub fn dpop(mut self, dpop: Dpop) -> Self {
        self.dpop = dpop;
        self
    }

    /// Omits the `resource` parameter, for authorization servers that refuse it.
    pub fn omit_resource(mut self) -> Self {
        self.resource = ResourceIndicator::Omit;
        self
    }

    /// Sets the `resource` parameter. Default: the identifier in the metadata of the server.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = ResourceIndicator::Fixed(resource.into());
        self
    }

    /// Accepts metadata of one issuer that does not announce PKCE. PKCE is used nevertheless.
    pub fn allow_missing_pkce(mut self, issuer: impl Into<String>) -> Self {
        self.missing_pkce.push(issuer.into());
        self
    }

    /// Sets whether the endpoints of revision 2025-03-26 are used for servers without metadata.
    /// They are all at the MCP server's origin. Default: yes.
    pub fn legacy_endpoints(mut self, enabled: bool) -> Self {
        self.legacy = enabled;
        self
    }

    /// Sets the rules for URLs that servers name.
    pub fn egress(mut self, egress: Egress) -> Self {
        self.egress = egress;
        self
    }

    /// Sets the HTTP client of all requests to authorization servers and for metadata: discovery,
    /// registration, tokens, refreshes and revocations. Hosts with a client of their own use it for proxies,
    /// certificates or logs. The requests to the MCP server are those of the
    /// [channel](mcp_transport_http::client::HttpChannel::with_service).
    ///
    /// URLs and the addresses in them are still checked by the [rules](Self::egress). The names are
    /// resolved by this client, so it must refuse addresses of private networks itself if MCP servers are
    /// not trusted. It must not follow redirects, nor add cookies. The [limits](Self::limits) hold.
    ///
    /// A request that fails is [`AuthError::Unavailable`], whose chain of sources contains this client's
    /// error. Default: an [`HttpClient`](mcp_transport_http::client::HttpClient) that checks every address.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::OAuth;
    /// use mcp::{HttpChannel, HttpClient};
    ///
    /// // Any tower service for HTTP requests.
    /// let http = HttpClient::builder().proxy("http://proxy.corp.example:3128").build()?;
    /// let oauth = OAuth::interactive("My Agent").http_client(http.clone());
    /// let channel = HttpChannel::with_service("https://mcp.example.com/mcp", http)?;
    /// # Ok::<(), mcp::core::ChannelError>(())
    /// ```
    pub fn http_client<S, B>(mut self, service: S) -> Self
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.http = Some(ChannelService::new(service));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Subscribes to the events of authorization with these settings and all clones of them. A receiver
    /// that is too slow misses the oldest ones. The stream ends when no client is left that could send one.
    pub fn events(&self) -> impl Stream<Item = AuthEvent> + Send + Unpin + use<> {
        self.events.subscribe()
    }

    /// Returns the identifier of the protocol extension that these settings use.
    // spec: EXT-01
    pub(crate) fn extension_id(&self) -> Option<&'static str> {
        match self.grant {
            Grant::ClientCredentials => Some(keys::CLIENT_CREDENTIALS_EXTENSION),
            Grant::Enterprise(_) => Some(keys::ENTERPRISE_EXTENSION),
            Grant::Workload(_) => Some(keys::WORKLOAD_EXTENSION),
            Grant::Interactive | Grant::Device(_) | Grant::Token(_) => None,
        }
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("client_id", &self.client.as_ref().map(|client| &client.id))
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}
