//! An authorization server with the checks of its specifications, and an MCP endpoint that accepts
//! its tokens.

use std::collections::{HashMap, HashSet};
use std::future::{pending, poll_fn};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http_body_util::Full;
use mcp::{Server, StreamableHttp, Tool, ToolExt as _};
use mcp_auth::{
    AuthError, Authorizer, Limits, ManualRedirect, MemoryStore, OAuth, StoredCredentials,
};
use mcp_core::ChannelError;
use mcp_transport_http::client::HttpClient;
use parking_lot::Mutex;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tower_service::Service;
use url::Url;

use crate::facts::{Facts, Refresh, Registration};

pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";

/// A folder that is removed at the end of a test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("mcp-auth-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The behaviour of the servers, and their observations.
pub(crate) struct Inner {
    // Settings.
    /// The provider whose rules hold besides the settings.
    facts: Option<Arc<Facts>>,
    /// The redirect URI of the client `given`.
    pub(crate) registered_redirect: String,
    /// Base of the login page and the token endpoint.
    endpoints: String,
    pub(crate) methods: Vec<&'static str>,
    pub(crate) dpop: bool,
    pub(crate) nonce: Option<String>,
    pub(crate) lifetime: Option<u64>,
    pub(crate) issues_refresh: bool,
    pub(crate) scopes: Vec<&'static str>,
    /// Scope of the first challenge.
    pub(crate) challenge_scope: Option<&'static str>,
    /// Scope that the endpoint demands with 403.
    pub(crate) demanded: Option<&'static str>,
    pub(crate) grants_nothing_new: bool,
    pub(crate) resource: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) callback_issuer: Option<String>,
    pub(crate) refuses_tokens: bool,
    /// Statuses of the next token requests, before any is served, with an error code or a body.
    pub(crate) token_failures: Vec<(u16, &'static str)>,
    pub(crate) registration: bool,
    /// Members of the response to a registration.
    pub(crate) registered: Value,
    /// The provider answers the logins of clients that it does not know with this error code.
    pub(crate) unknown_client: Option<&'static str>,
    /// Parameters of the challenge, besides the scope.
    pub(crate) challenge_extra: String,
    /// Path of the MCP server's metadata.
    pub(crate) metadata_path: &'static str,
    /// The MCP server publishes no metadata (revision 2025-03-26).
    pub(crate) publishes_nothing: bool,
    /// The MCP server accepts requests without a token.
    pub(crate) is_open: bool,
    /// Path of the MCP endpoint.
    pub(crate) endpoint_path: &'static str,
    /// Path whose requests are answered with a redirect, and its target.
    pub(crate) redirects: Option<(&'static str, String)>,
    /// Page of logins on another device.
    pub(crate) device_page: Option<String>,
    /// Path whose successful responses are never sent; [`World::held`] is notified instead.
    pub(crate) holds: Option<&'static str>,
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) extra: Value,
    /// The document with the public keys, and the function that signs access tokens. Without them, access tokens
    /// are opaque.
    pub(crate) signing: Option<(Value, Sign)>,
    // State.
    clients: HashMap<String, Vec<String>>,
    codes: HashMap<String, Grant>,
    access: HashMap<String, Grant>,
    pub(crate) last_access: String,
    refresh: HashMap<String, Grant>,
    used_refresh: HashSet<String>,
    proofs: HashSet<String>,
    pub(crate) counter: u64,
    // Observations.
    pub(crate) registrations: u32,
    /// Authentication method of the last registration request.
    pub(crate) asked_method: String,
    pub(crate) logins: Vec<String>,
    pub(crate) token_requests: Vec<HashMap<String, String>>,
    pub(crate) requests: u32,
    /// Requests that the MCP endpoint has accepted.
    pub(crate) accepted: u32,
    pub(crate) paths: Vec<String>,
    pub(crate) revoked: Vec<String>,
    /// A refresh token was used twice.
    pub(crate) reuse: bool,
    /// Mistakes of the client.
    pub(crate) mistakes: Vec<String>,
}

/// Signs the claims of an access token.
pub(crate) type Sign = Arc<dyn Fn(&Value) -> String + Send + Sync>;

#[derive(Clone, Debug, Default)]
struct Grant {
    client: String,
    scope: String,
    redirect_uri: String,
    challenge: String,
    resource: String,
    key: Option<String>,
}

/// The client that the user has registered, and its secret.
pub(crate) const GIVEN: &str = "given";
pub(crate) const GIVEN_SECRET: &str = "canary-given-secret";

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) inner: Arc<Mutex<Inner>>,
    pub(crate) held: Arc<Notify>,
    pub(crate) server: String,
    pub(crate) issuer: String,
    /// Answers the messages of clients that the endpoint lets in.
    pub(crate) mcp: StreamableHttp,
}

impl World {
    /// A provider with the rules of a file of facts.
    pub(crate) async fn of(facts: &Facts) -> Self {
        let endpoint = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}/mcp", endpoint.local_addr().unwrap());
        let issuer = format!("http://{}", provider.local_addr().unwrap());
        let elsewhere = format!("http://{}", other.local_addr().unwrap());
        let world = Self::at(server, issuer).with(facts, &elsewhere);
        world.serve(endpoint, Role::Endpoint);
        world.serve(provider, Role::Provider);
        world.serve(other, Role::Provider);
        world
    }

    /// Creates it without sockets, for the HTTP client of `host`.
    pub(crate) fn in_memory_of(facts: &Facts) -> Self {
        Self::in_memory().with(facts, "https://endpoints.example")
    }

    fn with(mut self, facts: &Facts, elsewhere: &str) -> Self {
        let base = self.issuer.clone();
        let slash = if facts.issuer_slash { "/" } else { "" };
        self.issuer = format!("{base}{}{slash}", facts.issuer_path);
        let issuer = self.issuer.clone();
        self.set(|inner| {
            inner.issues_refresh = facts.refresh != Refresh::None;
            inner.scopes = Vec::new();
            inner.registration = facts.registration != Registration::None;
            inner.registered = Value::Object(facts.registered.clone());
            inner.endpoints = if facts.elsewhere {
                elsewhere.to_owned()
            } else {
                base
            };
            inner.authorization_servers = vec![issuer];
            inner.extra = json!({
                "token_endpoint_auth_methods_supported": facts.auth_methods,
                "scopes_supported": facts.scopes_supported,
                "authorization_response_iss_parameter_supported": facts.iss,
            });
            if facts.hides_pkce {
                inner.extra["code_challenge_methods_supported"] = Value::Null;
            }
            if facts.commas {
                inner.challenge_scope = Some("basic read");
            }
            inner.registered_redirect = facts.redirect_uri(1);
            inner.facts = Some(Arc::new(facts.clone()));
        });
        self
    }

    /// Returns the settings that this provider needs from its user, as members of an entry's `oauth`.
    pub(crate) fn members(&self) -> Value {
        let inner = self.inner.lock();
        let facts = inner.facts.as_ref().unwrap();
        let mut members = json!({});
        if !facts.registers() {
            members["clientId"] = json!(GIVEN);
            members["redirectUri"] = json!(inner.registered_redirect);
        }
        if facts.secret {
            members["clientSecret"] = json!(GIVEN_SECRET);
        }
        if facts.hides_pkce {
            members["allowMissingPkce"] = json!(self.issuer);
        }
        if facts.refuses_resource {
            members["omitResource"] = json!(true);
        }
        if facts.elsewhere {
            members["issuer"] = json!(self.issuer);
        }
        members
    }

    /// Forgets the login of the user: all tokens.
    pub(crate) fn revoke_all(&self) {
        let mut inner = self.inner.lock();
        inner.access.clear();
        inner.refresh.clear();
    }
    pub(crate) async fn start() -> Self {
        let endpoint = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}/mcp", endpoint.local_addr().unwrap());
        let issuer = format!("http://{}", provider.local_addr().unwrap());
        let world = Self::at(server, issuer);
        world.serve(endpoint, Role::Endpoint);
        world.serve(provider, Role::Provider);
        world
    }

    /// A world whose servers have no socket: only the HTTP client of `host` reaches them.
    pub(crate) fn in_memory() -> Self {
        let (server, issuer) = ("https://mcp.example/mcp", "https://login.example");
        Self::at(server.to_owned(), issuer.to_owned())
    }

    fn at(server: String, issuer: String) -> Self {
        let inner = Inner {
            facts: None,
            registered_redirect: REDIRECT_URI.to_owned(),
            endpoints: issuer.clone(),
            methods: vec!["none", "client_secret_basic"],
            dpop: false,
            nonce: None,
            lifetime: Some(3600),
            issues_refresh: true,
            scopes: vec!["offline_access"],
            challenge_scope: Some("basic"),
            demanded: None,
            grants_nothing_new: false,
            resource: None,
            issuer: None,
            callback_issuer: None,
            refuses_tokens: false,
            token_failures: Vec::new(),
            registration: true,
            registered: json!({"token_endpoint_auth_method": "none"}),
            unknown_client: None,
            challenge_extra: String::new(),
            metadata_path: "/.well-known/oauth-protected-resource/mcp",
            publishes_nothing: false,
            is_open: false,
            endpoint_path: "/mcp",
            redirects: None,
            device_page: None,
            holds: None,
            authorization_servers: vec![issuer.clone()],
            extra: json!({}),
            signing: None,
            last_access: String::new(),
            clients: HashMap::new(),
            codes: HashMap::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
            used_refresh: HashSet::new(),
            proofs: HashSet::new(),
            counter: 0,
            registrations: 0,
            asked_method: String::new(),
            logins: Vec::new(),
            token_requests: Vec::new(),
            requests: 0,
            accepted: 0,
            paths: Vec::new(),
            revoked: Vec::new(),
            reuse: false,
            mistakes: Vec::new(),
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
            held: Arc::default(),
            server,
            issuer,
            mcp: endpoint(),
        }
    }

    /// Answers a request to one of the servers.
    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Body> {
        let origin = self.server.trim_end_matches("/mcp");
        let role = if request.uri().to_string().starts_with(origin) {
            Role::Endpoint
        } else {
            Role::Provider
        };
        answer(State((self.clone(), role)), request.map(Body::from)).await
    }

    fn serve(&self, listener: TcpListener, role: Role) {
        let app = Router::new()
            .fallback(answer)
            .with_state((self.clone(), role));
        tokio::spawn(async move { axum::serve(listener, app).await });
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.inner.lock());
    }

    /// Settings of an interactive client whose user agrees to everything.
    pub(crate) fn interactive(&self) -> OAuth {
        OAuth::interactive("test")
            .redirect(ManualRedirect::new(REDIRECT_URI, follow))
            .store(MemoryStore::new())
            .limits(Limits::default())
    }

    /// Logs in at the server.
    pub(crate) async fn login(&self, oauth: &OAuth) -> Authorizer {
        let authorizer = oauth.authorizer(&self.server).unwrap();
        authorizer.login().await.unwrap();
        authorizer
    }

    /// Sends one request through the authorizer.
    pub(crate) async fn post(&self, authorizer: &Authorizer) -> Result<StatusCode, ChannelError> {
        post(authorizer, &self.server).await
    }

    /// Ends the lifetime of every access token at the endpoint.
    pub(crate) fn expire_access(&self) {
        self.inner.lock().access.clear();
    }

    /// Forgets the registered clients, as providers do after a while.
    pub(crate) fn purge_clients(&self) {
        self.inner.lock().clients.clear();
    }

    /// The tokens that were issued last, as a program brings them along.
    pub(crate) fn credentials(&self) -> StoredCredentials {
        let counter = self.inner.lock().counter;
        let access = format!("canary-access-{}", counter - 1);
        let mut credentials = StoredCredentials::new(&self.issuer, "client-1", access);
        credentials.refresh_token = Some(format!("canary-refresh-{counter}").into());
        credentials
    }

    /// Refreshes so far.
    pub(crate) fn refreshes(&self) -> usize {
        let inner = self.inner.lock();
        let all = inner.token_requests.iter();
        all.filter(|form| form["grant_type"] == "refresh_token")
            .count()
    }

    pub(crate) fn assert_no_mistakes(&self) {
        let inner = self.inner.lock();
        assert!(inner.mistakes.is_empty(), "{:?}", inner.mistakes);
        assert!(!inner.reuse, "a refresh token was used twice");
    }
}

pub(crate) async fn post(authorizer: &Authorizer, url: &str) -> Result<StatusCode, ChannelError> {
    let mut service = authorizer.service(HttpClient::new().unwrap());
    poll_fn(|cx| service.poll_ready(cx)).await?;
    let request = Request::post(url).body(Bytes::from_static(b"{}")).unwrap();
    Ok(service.call(request).await?.status())
}

/// The reason in the error of a request.
pub(crate) fn reason(error: ChannelError) -> AuthError {
    match error {
        ChannelError::Unauthorized { source } => *source.downcast::<AuthError>().unwrap(),
        other => panic!("{other}"),
    }
}

/// A server with one tool.
fn endpoint() -> StreamableHttp {
    let tool = Tool::new("where").handler(|| async { "here" });
    StreamableHttp::new(Server::new("test", "1.0.0").tool(tool))
        .allowed_hosts(["127.0.0.1", "mcp.example"])
}

/// The browser of the user: follows the login page to its redirect.
pub(crate) async fn follow(page: String) -> Result<String, AuthError> {
    let mut http = HttpClient::new().unwrap();
    let request = Request::get(page).body(Bytes::new()).unwrap();
    let response = http.call(request).await.unwrap();
    let location = response.headers().get(LOCATION);
    let closed = || AuthError::Redirect(format!("the page shows {}", response.status()));
    Ok(location.ok_or_else(closed)?.to_str().unwrap().to_owned())
}

#[derive(Clone, Copy)]
enum Role {
    Endpoint,
    Provider,
}

async fn answer(
    State((world, role)): State<(World, Role)>,
    request: Request<Body>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let mut is_let_in = false;
    let (response, is_held) = {
        let mut inner = world.inner.lock();
        inner.paths.push(head.uri.path().to_owned());
        let response = match role {
            _ if inner
                .redirects
                .as_ref()
                .is_some_and(|(path, _)| *path == head.uri.path()) =>
            {
                let (_, target) = inner.redirects.as_ref().unwrap();
                let response = Response::builder().status(307).header(LOCATION, target);
                response.body(Body::empty()).unwrap()
            }
            Role::Endpoint => {
                let response = inner.endpoint(&world, &head.method, &head.uri, &head.headers);
                is_let_in = head.uri.path() == "/mcp" && response.status() == 200;
                response
            }
            Role::Provider => inner.provider(&world, &head.uri, &head.headers, &body),
        };
        let is_held = inner.holds == Some(head.uri.path()) && response.status().is_success();
        (response, is_held)
    };
    if is_held {
        world.held.notify_one();
        pending::<()>().await;
    }
    // Requests of `post` are no messages.
    if is_let_in && body.len() > 2 {
        let request = Request::from_parts(head, Full::new(body));
        let answered = world.mcp.clone().call(request).await.unwrap();
        return answered.map(Body::new);
    }
    response
}

impl Inner {
    fn endpoint(
        &mut self,
        world: &World,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Response<Body> {
        let is_metadata = uri.path() == self.metadata_path;
        if is_metadata && !self.publishes_nothing {
            let resource = self
                .resource
                .clone()
                .unwrap_or_else(|| world.server.clone());
            let servers = &self.authorization_servers;
            return json_response(
                200,
                json!({"resource": resource, "authorization_servers": servers}),
            );
        }
        if uri.path() != self.endpoint_path {
            return json_response(404, json!({}));
        }
        self.requests += 1;
        let (scheme, token) = authorization(headers).unwrap_or_default();
        let grant = self
            .access
            .get(&token)
            .filter(|_| !self.refuses_tokens)
            .cloned();
        if grant.is_none() && self.is_open {
            return json_response(200, json!({}));
        }
        let Some(grant) = grant else {
            let scheme = if self.dpop { "DPoP" } else { "Bearer" };
            let scope = self
                .challenge_scope
                .map(|scope| format!(", scope=\"{scope}\""));
            return challenge(
                401,
                &format!(
                    "{scheme} realm=\"x\"{}{}",
                    scope.unwrap_or_default(),
                    self.challenge_extra
                ),
            );
        };
        if let Some(key) = &grant.key {
            if scheme != "DPoP" {
                self.mistakes.push(format!("the scheme is {scheme}"));
            }
            let target = format!("{}{}", world.server.trim_end_matches("/mcp"), uri.path());
            match self.proof(headers, method.as_str(), &target, Some(&token)) {
                Ok(found) if found == *key => {}
                Ok(_) => self.mistakes.push("another key".to_owned()),
                Err(mistake) => self.mistakes.push(mistake),
            }
        } else if scheme != "Bearer" {
            self.mistakes.push(format!("the scheme is {scheme}"));
        }
        if let Some(demanded) = self.demanded
            && (self.grants_nothing_new || !grant.scope.split(' ').any(|scope| scope == demanded))
        {
            let header = format!("Bearer error=\"insufficient_scope\", scope=\"{demanded}\"");
            return challenge(403, &header);
        }
        self.accepted += 1;
        json_response(200, json!({}))
    }

    fn provider(
        &mut self,
        world: &World,
        uri: &Uri,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Response<Body> {
        let metadata = match &self.facts {
            Some(facts) => facts.metadata_path(),
            None => "/.well-known/oauth-authorization-server".to_owned(),
        };
        match uri.path() {
            path if path == metadata => self.metadata(world),
            "/keys" => {
                let keys = self.signing.as_ref().map(|(keys, _)| keys.clone());
                json_response(200, keys.unwrap_or_default())
            }
            "/register" => self.register(body),
            "/authorize" => self.authorize(world, uri),
            "/device" => self.device(world, body),
            "/token" => self.token(world, headers, body),
            "/revoke" => {
                let form = form(body);
                self.revoked.push(form["token"].clone());
                json_response(200, json!({}))
            }
            _ => json_response(404, json!({})),
        }
    }

    fn metadata(&self, world: &World) -> Response<Body> {
        let base = &self.endpoints;
        let mut document = json!({
            "issuer": self.issuer.as_ref().unwrap_or(&world.issuer),
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "revocation_endpoint": format!("{base}/revoke"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": self.methods,
            "authorization_response_iss_parameter_supported": true,
            "scopes_supported": self.scopes,
        });
        if self.registration {
            document["registration_endpoint"] = json!(format!("{base}/register"));
        }
        if self.signing.is_some() {
            document["jwks_uri"] = json!(format!("{base}/keys"));
        }
        if self.dpop {
            document["dpop_signing_alg_values_supported"] = json!(["ES256"]);
        }
        for (name, value) in self.extra.as_object().unwrap() {
            document[name] = value.clone();
        }
        json_response(200, document)
    }

    fn register(&mut self, body: &[u8]) -> Response<Body> {
        let body: Value = serde_json::from_slice(body).unwrap();
        if let Some(facts) = &self.facts
            && !facts.registers()
        {
            return json_response(403, json!({"error": "access_denied"}));
        }
        self.registrations += 1;
        if body["application_type"] != "native" || body["grant_types"][1] != "refresh_token" {
            self.mistakes.push(format!("the registration is {body}"));
        }
        let uris = body["redirect_uris"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let uris = uris
            .iter()
            .map(|uri| uri.as_str().unwrap().to_owned())
            .collect();
        let id = format!("client-{}", self.registrations);
        self.clients.insert(id.clone(), uris);
        let mut document = json!({
            "client_id": id,
            "registration_access_token": "canary-registration",
        });
        self.asked_method = body["token_endpoint_auth_method"]
            .as_str()
            .unwrap()
            .to_owned();
        for (name, value) in self.registered.as_object().unwrap() {
            document[name] = value.clone();
        }
        json_response(201, document)
    }

    fn authorize(&mut self, world: &World, uri: &Uri) -> Response<Body> {
        let query = form(uri.query().unwrap_or_default().as_bytes());
        let get = |name: &str| query.get(name).cloned().unwrap_or_default();
        let client = get("client_id");
        let is_known = match self.clients.get(&client) {
            Some(uris) => uris.contains(&get("redirect_uri")),
            None if self.facts.is_some() => client == GIVEN,
            None => !client.starts_with("client-"),
        };
        if self.facts.is_some() && !is_known {
            return json_response(400, json!({"error": "the page knows no such client"}));
        }
        let has_resource = !self
            .facts
            .as_ref()
            .is_some_and(|facts| facts.refuses_resource);
        if let Some(error) = self.unknown_client.filter(|_| !is_known) {
            let location = format!(
                "{}?error={error}&state={}&iss={}",
                get("redirect_uri"),
                get("state"),
                world.issuer
            );
            let response = Response::builder().status(302).header(LOCATION, location);
            return response.body(Body::empty()).unwrap();
        }
        for (name, is_right) in [
            ("client_id", is_known),
            ("response_type", get("response_type") == "code"),
            (
                "code_challenge_method",
                get("code_challenge_method") == "S256",
            ),
            ("code_challenge", get("code_challenge").len() == 43),
            ("state", get("state").len() >= 22),
            ("resource", !has_resource || get("resource") == world.server),
        ] {
            if !is_right {
                self.mistakes
                    .push(format!("{name} of the login is {:?}", get(name)));
            }
        }
        self.logins.push(get("scope"));
        let code = self.next("code");
        let grant = Grant {
            client,
            scope: get("scope"),
            redirect_uri: get("redirect_uri"),
            challenge: get("code_challenge"),
            resource: get("resource"),
            key: None,
        };
        self.codes.insert(code.clone(), grant);
        let issuer = self.callback_issuer.as_ref().unwrap_or(&world.issuer);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("code", &code);
        query.append_pair("state", &get("state"));
        if self.facts.as_ref().is_none_or(|facts| facts.iss) {
            query.append_pair("iss", issuer);
        }
        let query = query.finish();
        if let Some(error) = self.refused_login(&get) {
            return json_response(400, json!({"error": error}));
        }
        let location = format!("{}?{query}", get("redirect_uri"));
        let response = Response::builder().status(302).header(LOCATION, location);
        response.body(Body::empty()).unwrap()
    }

    /// Returns the error of the login page for a request that breaks a rule of the provider.
    fn refused_login(&self, get: &dyn Fn(&str) -> String) -> Option<&'static str> {
        let facts = self.facts.as_ref()?;
        if facts.refuses_resource && !get("resource").is_empty() {
            return Some("the resource parameter is not supported");
        }
        if get("client_id") != GIVEN {
            return None;
        }
        let port_of = |uri: &str| Url::parse(uri).unwrap().port();
        let (sent, registered) = (get("redirect_uri"), &self.registered_redirect);
        let with_port = |uri: &str, port| {
            let mut url = Url::parse(uri).unwrap();
            url.set_port(port).unwrap();
            url.to_string()
        };
        let is_same = if facts.exact_redirect {
            sent == *registered
        } else {
            with_port(&sent, None) == with_port(registered, None) && port_of(&sent).is_some()
        };
        (!is_same).then_some("the redirect URI is not registered")
    }

    /// Returns the error code of the provider for a client that does not authenticate as it demands.
    fn refused_client(&self, form: &HashMap<String, String>, is_basic: bool) -> Option<String> {
        let facts = self.facts.as_ref()?;
        let id = form
            .get("client_id")
            .map(String::as_str)
            .unwrap_or_default();
        let invalid = || Some("invalid_client".to_owned());
        if is_basic && (facts.id_in_form || facts.one_method && form.contains_key("twice")) {
            return invalid();
        }
        if id != GIVEN && !self.clients.contains_key(id) {
            return facts.unknown_client.clone().or_else(invalid);
        }
        let secret = form.get("basic").or(form.get("client_secret"));
        let expected = if id == GIVEN {
            facts.secret.then_some(GIVEN_SECRET)
        } else {
            facts
                .registered
                .get("client_secret")
                .and_then(Value::as_str)
        };
        if secret.map(String::as_str) == expected {
            None
        } else {
            invalid()
        }
    }

    fn device(&mut self, world: &World, body: &[u8]) -> Response<Body> {
        let form = form(body);
        let scope = form.get("scope").cloned().unwrap_or_default();
        self.logins.push(scope.clone());
        let code = self.next("device");
        let grant = Grant {
            client: form["client_id"].clone(),
            scope,
            resource: form["resource"].clone(),
            ..Grant::default()
        };
        self.codes.insert(code.clone(), grant);
        let page = self.device_page.clone();
        let page = page.unwrap_or_else(|| format!("{}/activate", world.issuer));
        json_response(
            200,
            json!({"device_code": code, "user_code": "ABCD", "verification_uri": page, "expires_in": 600}),
        )
    }

    fn token(&mut self, world: &World, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
        let mut form = form(body);
        let is_basic = headers.contains_key(AUTHORIZATION);
        if let Some((scheme, pair)) = authorization(headers) {
            let pair = String::from_utf8(STANDARD.decode(pair).unwrap()).unwrap();
            let (id, secret) = pair.split_once(':').unwrap();
            assert_eq!(scheme, "Basic");
            form.insert("basic".to_owned(), secret.to_owned());
            if let Some(again) = form.insert("client_id".to_owned(), id.to_owned()) {
                form.insert("twice".to_owned(), again);
            }
        }
        self.token_requests.push(form.clone());
        if !self.token_failures.is_empty() {
            let (status, error) = self.token_failures.remove(0);
            if status == 0 {
                let cut = std::io::Error::other("the connection is cut");
                let body = futures_util::stream::once(async { Err::<Bytes, _>(cut) });
                return Response::new(Body::from_stream(body));
            }
            if error.starts_with(['<', '{']) {
                let response = Response::builder().status(status);
                return response.body(Body::from(error)).unwrap();
            }
            return json_response(status, json!({"error": error}));
        }
        if let Some(error) = self.refused_client(&form, is_basic) {
            return json_response(401, json!({"error": error}));
        }
        let mut key = None;
        if self.dpop && headers.contains_key("dpop") {
            match self.proof(headers, "POST", &format!("{}/token", world.issuer), None) {
                Ok(found) => key = Some(found),
                Err(error) if error == "use_dpop_nonce" => {
                    let mut response = json_response(400, json!({"error": "use_dpop_nonce"}));
                    let nonce = self.nonce.clone().unwrap();
                    response
                        .headers_mut()
                        .insert("dpop-nonce", nonce.parse().unwrap());
                    return response;
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        let grant = match self.grant(&form) {
            Ok(grant) => Grant { key, ..grant },
            Err(error) => {
                let refusal = self.facts.as_ref().map(|facts| facts.refusal.clone());
                return match refusal {
                    Some(refusal) => json_response(refusal.status, json!({"error": refusal.code})),
                    None => json_response(400, json!({"error": error})),
                };
            }
        };
        let (access, refresh) = (self.next("access"), self.next("refresh"));
        let access = self.signed(world, &grant).unwrap_or(access);
        self.last_access.clone_from(&access);
        self.access.insert(access.clone(), grant.clone());
        self.refresh.insert(refresh.clone(), grant.clone());
        let mut tokens = json!({
            "access_token": access,
            "token_type": if grant.key.is_some() { "DPoP" } else { "Bearer" },
            "scope": grant.scope,
        });
        if let Some(lifetime) = self.lifetime {
            tokens["expires_in"] = json!(lifetime);
        }
        let is_user = matches!(
            form["grant_type"].as_str(),
            "authorization_code" | "refresh_token"
        );
        if is_user && self.issues_refresh {
            tokens["refresh_token"] = json!(refresh);
        }
        if let Some(facts) = self.facts.clone() {
            if facts.refresh == Refresh::Keeps && form["grant_type"] == "refresh_token" {
                tokens["refresh_token"] = Value::Null;
            }
            if facts.commas {
                tokens["scope"] = json!(grant.scope.replace(' ', ","));
            }
            if let Some(token_type) = &facts.token_type {
                tokens["token_type"] = json!(token_type);
            }
        }
        json_response(200, tokens)
    }

    /// Returns an access token with claims, if the provider signs its tokens.
    fn signed(&self, world: &World, grant: &Grant) -> Option<String> {
        let (_, sign) = self.signing.as_ref()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = now.as_secs();
        Some(sign(&json!({
            "iss": world.issuer, "sub": "ada", "aud": world.server, "client_id": grant.client,
            "scope": grant.scope, "iat": now, "exp": now + 3600, "jti": self.counter.to_string(),
        })))
    }

    fn grant(&mut self, form: &HashMap<String, String>) -> Result<Grant, &'static str> {
        let get = |name: &str| form.get(name).cloned().unwrap_or_default();
        match get("grant_type").as_str() {
            "authorization_code" => {
                let grant = self.codes.remove(&get("code")).ok_or("invalid_grant")?;
                let is_right = sha256(&get("code_verifier")) == grant.challenge
                    && get("redirect_uri") == grant.redirect_uri
                    && get("client_id") == grant.client
                    && get("resource") == grant.resource;
                is_right.then_some(grant).ok_or("invalid_grant")
            }
            "urn:ietf:params:oauth:grant-type:device_code" => {
                let grant = self
                    .codes
                    .remove(&get("device_code"))
                    .ok_or("invalid_grant")?;
                let is_right =
                    get("client_id") == grant.client && get("resource") == grant.resource;
                is_right.then_some(grant).ok_or("invalid_grant")
            }
            "refresh_token" => {
                let token = get("refresh_token");
                if self.used_refresh.contains(&token) {
                    self.reuse = true;
                    return Err("invalid_grant");
                }
                let keeps =
                    |facts: &Arc<Facts>| matches!(facts.refresh, Refresh::Keeps | Refresh::Renews);
                let grant = self.refresh.get(&token).cloned().ok_or("invalid_grant")?;
                if !self.facts.as_ref().is_some_and(keeps) {
                    self.refresh.remove(&token);
                    self.used_refresh.insert(token);
                }
                if form.contains_key("scope") || get("resource") != grant.resource {
                    self.mistakes.push(format!("the refresh is {form:?}"));
                }
                Ok(grant)
            }
            "client_credentials" | "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
                if get("assertion") == "expired" {
                    return Err("invalid_grant");
                }
                Ok(Grant {
                    client: get("client_id"),
                    scope: get("scope"),
                    ..Grant::default()
                })
            }
            _ => Err("unsupported_grant_type"),
        }
    }

    /// Checks a proof of possession. Returns its key.
    fn proof(
        &mut self,
        headers: &HeaderMap,
        method: &str,
        target: &str,
        token: Option<&str>,
    ) -> Result<String, String> {
        let proof = headers.get("dpop").ok_or("no proof")?.to_str().unwrap();
        let parts: Vec<&str> = proof.split('.').collect();
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        let header: Value = serde_json::from_slice(&decode(parts[0])).unwrap();
        let claims: Value = serde_json::from_slice(&decode(parts[1])).unwrap();
        let mut point = vec![4];
        for name in ["x", "y"] {
            point.extend(decode(header["jwk"][name].as_str().unwrap()));
        }
        let input = format!("{}.{}", parts[0], parts[1]);
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &point);
        key.verify(input.as_bytes(), &decode(parts[2]))
            .map_err(|_| "the signature")?;
        let is_right = header["typ"] == "dpop+jwt"
            && header["jwk"].get("d").is_none()
            && claims["htm"] == method
            && claims["htu"] == target
            && claims.get("ath").and_then(Value::as_str) == token.map(sha256).as_deref()
            && self
                .proofs
                .insert(claims["jti"].as_str().unwrap().to_owned());
        if !is_right {
            return Err(format!("the proof is {claims}"));
        }
        match &self.nonce {
            Some(nonce) if token.is_none() && claims["nonce"] != nonce.as_str() => {
                Err("use_dpop_nonce".to_owned())
            }
            _ => Ok(header["jwk"].to_string()),
        }
    }

    fn next(&mut self, kind: &str) -> String {
        self.counter += 1;
        format!("canary-{kind}-{}", self.counter)
    }
}

fn authorization(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, value) = value.split_once(' ')?;
    Some((scheme.to_owned(), value.to_owned()))
}

fn form(body: &[u8]) -> HashMap<String, String> {
    let pairs = url::form_urlencoded::parse(body).into_owned();
    let mut form = HashMap::new();
    for (name, value) in pairs {
        assert!(form.insert(name, value).is_none(), "a parameter twice");
    }
    form
}

fn sha256(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    URL_SAFE_NO_PAD.encode(digest)
}

fn challenge(status: u16, value: &str) -> Response<Body> {
    let mut response = json_response(status, json!({}));
    response
        .headers_mut()
        .insert(WWW_AUTHENTICATE, value.parse().unwrap());
    response
}

fn json_response(status: u16, body: Value) -> Response<Body> {
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}
