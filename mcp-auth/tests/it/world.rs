//! An authorization server with the checks of its specifications, and an MCP endpoint that accepts
//! its tokens.

use std::collections::{HashMap, HashSet};
use std::future::{pending, poll_fn};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
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
    // State.
    clients: HashMap<String, Vec<String>>,
    codes: HashMap<String, Grant>,
    access: HashMap<String, Grant>,
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

#[derive(Clone, Debug, Default)]
struct Grant {
    client: String,
    scope: String,
    redirect_uri: String,
    challenge: String,
    resource: String,
    key: Option<String>,
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) inner: Arc<Mutex<Inner>>,
    pub(crate) held: Arc<Notify>,
    pub(crate) server: String,
    pub(crate) issuer: String,
}

impl World {
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
        }
    }

    /// Answers a request to one of the servers.
    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Body> {
        let is_provider = request.uri().to_string().starts_with(&self.issuer);
        let role = if is_provider {
            Role::Provider
        } else {
            Role::Endpoint
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

/// The browser of the user: follows the login page to its redirect.
pub(crate) async fn follow(page: String) -> Result<String, AuthError> {
    let mut http = HttpClient::new().unwrap();
    let request = Request::get(page).body(Bytes::new()).unwrap();
    let response = http.call(request).await.unwrap();
    let location = response.headers().get(LOCATION);
    let location = location.unwrap_or_else(|| panic!("{}", response.status()));
    Ok(location.to_str().unwrap().to_owned())
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
            Role::Endpoint => inner.endpoint(&world, &head.method, &head.uri, &head.headers),
            Role::Provider => inner.provider(&world, &head.uri, &head.headers, &body),
        };
        let is_held = inner.holds == Some(head.uri.path()) && response.status().is_success();
        (response, is_held)
    };
    if is_held {
        world.held.notify_one();
        pending::<()>().await;
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
        match uri.path() {
            "/.well-known/oauth-authorization-server" => self.metadata(world),
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
        let base = &world.issuer;
        let mut document = json!({
            "issuer": self.issuer.as_ref().unwrap_or(base),
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
            None => !client.starts_with("client-"),
        };
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
            ("resource", get("resource") == world.server),
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
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("code", &code)
            .append_pair("state", &get("state"))
            .append_pair("iss", issuer)
            .finish();
        let location = format!("{}?{query}", get("redirect_uri"));
        let response = Response::builder().status(302).header(LOCATION, location);
        response.body(Body::empty()).unwrap()
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
        if let Some((scheme, pair)) = authorization(headers) {
            let pair = String::from_utf8(STANDARD.decode(pair).unwrap()).unwrap();
            let (id, secret) = pair.split_once(':').unwrap();
            assert_eq!(scheme, "Basic");
            form.insert("basic".to_owned(), secret.to_owned());
            form.insert("client_id".to_owned(), id.to_owned());
        }
        self.token_requests.push(form.clone());
        if !self.token_failures.is_empty() {
            let (status, error) = self.token_failures.remove(0);
            if error.starts_with(['<', '{']) {
                let response = Response::builder().status(status);
                return response.body(Body::from(error)).unwrap();
            }
            return json_response(status, json!({"error": error}));
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
            Err(error) => return json_response(400, json!({"error": error})),
        };
        let (access, refresh) = (self.next("access"), self.next("refresh"));
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
        json_response(200, tokens)
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
                let grant = self.refresh.remove(&token).ok_or("invalid_grant")?;
                self.used_refresh.insert(token);
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
